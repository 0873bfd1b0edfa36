package pipe

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/apache/arrow/go/v17/arrow/array"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output"
)

// Options configure a pipe. The zero value adds the default columns of [output.Verdicts] to rows with a column url.
type Options struct {
	URLColumn string // name of the column with URLs; "" means url

	// AgentColumn is the name of the column with the agent's name, for a store with [engine.LogAgentsByName]; "" if all
	// rows have the same agents. CheckAgent returns an error for an invalid name; nil accepts all names except the empty
	// one. It is called from one goroutine, and rarely more than once for a name in a stream. A row with an invalid name
	// has the reason bad_agent; with RefuseAgents, it is an error of the stream.
	AgentColumn  string
	CheckAgent   func(name string) error
	RefuseAgents bool

	// If rows are requests of a log, for a store with other [engine.LogAgents] or with times of rows, Log parses the
	// User-Agents in AgentColumn, and the addresses and times in these columns; "" if there is none.
	ClientColumn, TimeColumn string
	Log                      LogFields

	Columns      []string // of the columns of verdicts; nil means the default columns of output.Verdicts
	Long         bool     // several agents have a row each instead of columns; only with VerdictsOnly
	VerdictsOnly bool     // omit the input columns, for a caller that keeps them
	Prefix       string   // of the names of the columns of verdicts
	NoEnd        bool     // the output streams have no end mark, for a reader that would treat it as the next stream
	Workers      int      // evaluating goroutines, see [engine.Options]

	// Ended is called at the end of each stream, after its response is written, with the counts of that stream. With nil,
	// all streams are counted together.
	Ended func(engine.Stats)
}

// LogFields parses fields of a request in a log. A missing value is nil or [engine.NoTime]. The methods are called from
// one goroutine.
type LogFields interface {
	Agent(text []byte) []byte
	Client(text []byte) ([]byte, error)
	Time(text []byte) int64
}

// Run copies Arrow streams from r to w until r ends, and adds the verdicts of store. It flushes each record batch
// immediately. It closes neither r nor w, and reads ahead. The Stats count the rows written since the last call of
// Ended. The error is a [*StreamError] about the input, an [*engine.SinkError] with an error of w, an error of r, of
// [output.NewVerdicts] or of ctx, or [engine.Store.Err].
func Run(ctx context.Context, store *engine.Store, r io.Reader, w io.Writer, opt Options) (engine.Stats, error) {
	verdicts, err := output.NewVerdicts(store, opt.Columns, opt.Long)
	if err != nil {
		return engine.Stats{}, err
	}
	fields := verdicts.Fields()
	for i := range fields {
		fields[i].Name = opt.Prefix + fields[i].Name
	}
	workers := cmp.Or(max(0, opt.Workers), runtime.GOMAXPROCS(0))
	ahead := 2*workers + 4 // more than the batches in engine.Run; each item has at least one batch
	items, free := make(chan *item, ahead), make(chan *item, ahead)
	src := &source{
		frames: newFrameReader(r), columns: [numRoles]string{cmp.Or(opt.URLColumn, "url"), opt.AgentColumn, opt.ClientColumn, opt.TimeColumn}, fields: fields,
		items: items, free: free, single: opt.Ended != nil, alone: opt.VerdictsOnly,
		log: opt.Log, names: agentNames{check: opt.CheckAgent, refuse: opt.RefuseAgents},
	}
	dst := &sink{
		frameWriter: frameWriter{bufio.NewWriterSize(w, 64<<10)}, verdicts: verdicts, fields: fields,
		items: items, free: free, noEnd: opt.NoEnd, alone: opt.VerdictsOnly,
	}
	stats, err := engine.Run(ctx, store, src, dst, engine.Options{Workers: workers})
	for err == nil && src.ended {
		opt.Ended(stats)
		src.ended, src.batches, src.names.known = false, 0, nil
		stats, err = engine.Run(ctx, store, src, dst, engine.Options{Workers: workers})
	}
	if source, ok := errors.AsType[*engine.SourceError](err); ok {
		err = source.Err
	}
	return stats, err
}

// An item is a message that source passes to sink. At the same time, batches with its rows pass through engine.Run: at
// least one, which may be empty.
type item struct {
	message
	schema *schema
	record record // for a kindRecord
}

// A source is the [engine.Source] of the rows of all streams, or of one stream at a time.
type source struct {
	frames  *frameReader
	columns [numRoles]string // names; "" if there is none
	fields  []output.VerdictField
	items   chan<- *item
	free    <-chan *item
	single  bool // the rows end with each stream, until ended is reset
	alone   bool // only verdicts are written, so input columns may have the same names

	log   LogFields // nil if rows are not requests
	names agentNames

	schema  *schema // schema of the current stream; nil between streams
	readers [numRoles]textReader
	texts   [numRoles]texts // texts of the current record batch
	row     int             // next row of the record batch
	batches int64           // record batches read
	streams int
	ended   bool // single is set, and the stream has ended
	done    bool // the input has ended
	err     error
}

// Next fills b with rows of one record batch. For other messages, b is empty. It returns false at the end of the input,
// after an error, and, with single, at the end of a stream.
func (s *source) Next(b *engine.Batch) bool {
	b.Reset()
	if s.done || s.ended || s.err != nil {
		return false
	}
	var more bool
	err := recoverDamage(func() (err error) {
		more, err = s.next(b)
		return err
	})
	if err != nil {
		batch := s.batches + 1
		if s.row < s.texts[urlRole].rows {
			batch = s.batches
		} else if s.streams == 0 {
			batch = 0
		}
		s.err = &StreamError{Batch: batch, Err: err}
		return false
	}
	s.done = !more
	return more
}

// next fills b with rows of the current record batch, or reads the next message and passes it to the sink. more is
// false at the end of the input.
func (s *source) next(b *engine.Batch) (more bool, err error) {
	if s.row < s.texts[urlRole].rows {
		return true, s.fill(b)
	}
	if s.schema == nil {
		more, err := s.frames.hasStream()
		if err == nil && !more && s.streams == 0 {
			err = fmt.Errorf("%w: the input is empty: an Arrow stream begins with a schema: send it, even if there are no rows", errNoSchema)
		}
		if err == nil && more {
			err = s.frames.sniff()
		}
		if !more || err != nil {
			return false, err
		}
	}
	var it *item
	select {
	case it = <-s.free:
	default:
		it = new(item)
	}
	if err := s.frames.next(&it.message); err != nil {
		return false, err
	}
	if err := s.takeMessage(it, b); err != nil {
		return false, err
	}
	s.items <- it
	return true, nil
}

// takeMessage processes the next message of a stream: a schema begins a stream, a dictionary is kept for its columns,
// and the first rows of a record batch are added to b. It sets the schema of the item, and its record.
func (s *source) takeMessage(next *item, b *engine.Batch) (err error) {
	if s.schema == nil {
		added := s.fields
		if s.alone {
			added = nil
		}
		s.schema, err = readSchema(&next.message, &s.columns, added)
		next.schema = s.schema
		for r := range s.readers {
			s.readers[r].dictionary = dictionary{}
		}
		if err == nil {
			s.streams++
		}
		return err
	}
	next.schema = s.schema
	switch next.kind {
	case kindEnd:
		s.schema, s.ended = nil, s.single
	case kindDictionary:
		id := next.int64(dictionaryID)
		for r := range s.readers {
			s.readers[r].reset()
			if of := &s.schema.columns[r]; err == nil && of.dictionary && id == of.id { // columns may share a dictionary
				err = s.readers[r].addDictionary(&next.message, of)
			}
		}
		return err
	case kindRecord:
		if next.record, err = readRecord(next.table, next.body); err != nil {
			return err
		}
		var read [numRoles]texts
		for r := range s.readers {
			if s.columns[r] == "" {
				continue
			}
			c, u := &s.readers[r], &s.schema.columns[r]
			c.reset()
			if read[r], err = c.readColumn(&next.record, u, u.position, u.dictionary); err != nil {
				return err
			}
			if read[r].rows != next.record.rows {
				return damagedError("a column has %d rows, but the record batch has %d", read[r].rows, next.record.rows)
			}
			read[r].names = &c.dictionary
		}
		s.texts, s.row, s.batches = read, 0, s.batches+1
		return s.fill(b)
	case kindTensor, kindSparseTensor:
		return fmt.Errorf("%w: a tensor among the record batches: send only record batches", errUnsupported)
	default:
		return damagedError("a message of kind %d", next.kind)
	}
	return nil
}

// fill adds the next rows of the record batch to b, up to the limits of a chunk, with their agents or the fields of
// their requests.
func (s *source) fill(b *engine.Batch) error {
	from := s.row
	to, err := s.texts[urlRole].fill(b, from)
	switch {
	case err != nil:
	case s.log != nil:
		err = s.fillRequests(b, from, to)
	case s.columns[agentRole] != "":
		err = s.names.fill(b, &s.texts[agentRole], from, to)
	}
	if err == nil {
		s.row = to
	}
	return err
}

// Err returns the error that ended the rows.
func (s *source) Err() error { return s.err }

// Close does nothing.
func (s *source) Close() error { return nil }

// A sink is the [engine.Sink] that writes the streams.
type sink struct {
	frameWriter
	verdicts *output.Verdicts
	fields   []output.VerdictField
	items    <-chan *item
	free     chan<- *item
	noEnd    bool
	alone    bool // verdicts are written without the input columns

	item    *item            // current item; nil between items
	rows    int              // number of its rows received
	ids     map[string]int64 // IDs of the dictionaries of verdicts, by name
	builder builder
	tail    tail
}

// Write adds the verdicts on the rows of b. It writes and flushes the current message when it has all of its rows, and
// returns the item to the source.
func (s *sink) Write(b *engine.Batch) error {
	if s.item == nil {
		s.item, s.rows = <-s.items, 0
	}
	it := s.item
	if it.kind == kindRecord {
		if err := s.verdicts.Add(b); err != nil {
			return err
		}
		if s.rows += b.Len(); s.rows < it.record.rows {
			return nil
		}
	}
	if err := recoverDamage(func() error {
		switch it.kind {
		case kindSchema:
			// Assign IDs that the stream does not use to the dictionaries of the verdicts.
			s.ids = map[string]int64{}
			id := int64(0)
			for _, f := range s.fields {
				if _, ok := s.ids[f.Dictionary]; f.Dictionary != "" && !ok {
					for it.schema.ids[id] {
						id++
					}
					s.ids[f.Dictionary] = id
					id++
				}
			}
			b := &s.builder
			if s.alone {
				b.begin(nil)
				list := b.CreateVectorOfTables(b.appendFields(nil, s.fields, s.ids))
				b.StartObject(4)
				b.PrependUOffsetTSlot(schemaFields, list, 0)
				return s.writeHeader(b.finishMessage(it.version, kindSchema, b.EndObject(), 0, 0))
			}
			b.begin(it.meta)
			old := it.tables(schemaFields)
			fields := make([]flatbuffers.UOffsetT, 0, len(old)+len(s.fields))
			for _, f := range old {
				fields = append(fields, b.oldOffset(f.Pos))
			}
			list := b.CreateVectorOfTables(b.appendFields(fields, s.fields, s.ids))
			b.StartObject(4)
			b.PrependUOffsetTSlot(schemaFields, list, 0)
			b.PrependUOffsetTSlot(schemaMetadata, b.oldOffset(it.at(schemaMetadata)), 0)
			b.PrependUOffsetTSlot(schemaFeatures, b.oldOffset(it.at(schemaFeatures)), 0)
			return s.writeHeader(b.finishMessage(it.version, kindSchema, b.EndObject(), 0, b.oldOffset(it.pairs)))
		case kindDictionary:
			if s.alone {
				return nil
			}
		case kindRecord:
			return s.writeRecord(it)
		case kindEnd:
			if s.noEnd {
				return nil
			}
			return s.end()
		}
		return s.message(&it.message)
	}); err != nil {
		return err
	}
	s.item = nil
	it.schema = nil
	select {
	case s.free <- it:
	default:
	}
	return s.w.Flush()
}

// writeRecord writes the record batch of an item with the columns of its verdicts, after their dictionaries, and resets
// the verdicts.
func (s *sink) writeRecord(batch *item) error {
	columns := s.verdicts.Columns()
	written := map[string]bool{}
	for i, f := range s.fields {
		d, ok := columns[i].(*array.Dictionary)
		if !ok || written[f.Dictionary] {
			continue
		}
		written[f.Dictionary] = true
		b := &s.builder
		texts := d.Dictionary()
		s.tail.reset(false)
		s.tail.addArray(texts.Data())
		b.begin(nil)
		data := b.writeRecordTable(&record{rows: texts.Len()}, &s.tail, 0, 0, 0)
		b.StartObject(3)
		b.PrependInt64Slot(dictionaryID, s.ids[f.Dictionary], 0)
		b.PrependUOffsetTSlot(dictionaryData, data, 0)
		meta := b.finishMessage(batch.version, kindDictionary, b.EndObject(), s.tail.size, 0)
		if err := errors.Join(s.writeHeader(meta), s.tail.write(&s.frameWriter)); err != nil {
			return err
		}
	}
	s.tail.reset(batch.record.codec != codecNone && !s.alone)
	for _, column := range columns {
		s.tail.addArray(column.Data())
	}
	defer s.verdicts.Reset()
	if s.alone {
		s.builder.begin(nil)
		header := s.builder.writeRecordTable(&record{rows: columns[0].Len()}, &s.tail, 0, 0, 0)
		meta := s.builder.finishMessage(batch.version, kindRecord, header, s.tail.size, 0)
		return errors.Join(s.writeHeader(meta), s.tail.write(&s.frameWriter))
	}
	b := &s.builder
	b.begin(batch.meta)
	body := int64(padded(len(batch.body)))
	header := b.writeRecordTable(&batch.record, &s.tail, body, b.oldOffset(batch.at(recordCompression)), b.oldOffset(batch.at(recordVariadic)))
	meta := b.finishMessage(batch.version, kindRecord, header, body+s.tail.size, b.oldOffset(batch.pairs))
	return errors.Join(s.writeHeader(meta), s.writeBody(batch.body), s.tail.write(&s.frameWriter))
}

// Close does nothing.
func (s *sink) Close() error { return nil }

// Errors that a different choice of columns avoids. They are wrapped in a [*StreamError].
var (
	ErrNoColumn      = errors.New("no such column") // of URLs
	ErrNoAgentColumn = errors.New("no such column") // of agents
	ErrNoField       = errors.New("no such column") // of addresses or times
	ErrTaken         = errors.New("the name of a column is taken")
	ErrType          = errors.New("not a type of text")
	ErrTimeType      = errors.New("not a type of text")
)

// Other kinds of errors.
var (
	errNoSchema    = errors.New("there is no stream")
	errTruncated   = errors.New("the stream ends within a message")
	errDamaged     = errors.New("the stream is damaged")
	errUnsupported = errors.New("the stream has an unsupported feature")
)

// A StreamError is an error in the input stream. All record batches before it are written.
type StreamError struct {
	Batch int64 // 1-based number of the record batch; 0 means the schema of the first stream
	Err   error // the cause
}

// Error describes the position and the cause.
func (e *StreamError) Error() string {
	switch e.Batch {
	case 0:
		return fmt.Sprintf("schema: %v", e.Err)
	case 1:
		return fmt.Sprintf("record batch 1: %v", e.Err)
	case 2:
		return fmt.Sprintf("record batch 2: %v; the one before it is written", e.Err)
	}
	return fmt.Sprintf("record batch %d: %v; the %d before it are written", e.Batch, e.Err, e.Batch-1)
}

// Unwrap returns the cause.
func (e *StreamError) Unwrap() error { return e.Err }

// damagedError returns an errDamaged with details. format and values are those of [fmt.Sprintf].
func damagedError(format string, values ...any) error {
	return fmt.Errorf("%w (%s): check the messages of the program that sends it", errDamaged, fmt.Sprintf(format, values...))
}

// recoverDamage calls do and converts its panic to an error: the FlatBuffers library panics on damaged data. It does so
// for any panic.
func recoverDamage(do func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = damagedError("the parts of a header contradict each other")
		}
	}()
	return do()
}
