package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
	files "github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/robots"
)

// Fetches reads a WARC file as a log: one row for each HTTP fetch. A request and an adjacent response with the same URL
// are one fetch, in either order. Corrupt records are rejected.
type Fetches struct {
	records
	file    files.File
	fields  fetchFields
	row     weblog.Row
	number  int64 // records begun
	pending fetch // may be joined with the next record
	ended   bool
	damaged bool // reading stopped at corrupt data
	part    segmentRows
	lost    struct{ number, start, unverified int64 } // the last corrupt record, and the result of Unverified
}

// Rows receives the rows that Fetches reads. Records are numbered from 1, and offsets are positions in the unpacked
// text.
type Rows interface {
	// Row receives a fetch, which is valid until Row returns.
	Row(row *weblog.Row, record, offset int64)
	// Refuse receives a rejected record.
	Refuse(why weblog.Result, record, offset int64)
	// Skip receives a record that does not belong to a fetch.
	Skip()
}

// A fetch holds the data from the records of one fetch.
type fetch struct {
	parts          fetchPart // 0 without a fetch
	record, offset int64     // position of the first record
	url            []byte
	time           int64
	agent          []byte
	hasAgent       bool
	values         [][]byte // values of fetchFields.keep
	present        []bool
}

// A fetchPart is one record's part of a fetch.
type fetchPart uint8

const (
	fetchRequest  fetchPart = 1 << iota
	fetchResponse           // or a revisit record
	fetchWhole    = fetchRequest | fetchResponse
)

// fetchParts are the types of records that belong to fetches. A resource record is a fetch by itself.
var fetchParts = map[string]fetchPart{
	"request": fetchRequest, "response": fetchResponse, "revisit": fetchResponse, "resource": fetchWhole,
}

// OpenFetches opens a WARC file. It returns an error if the file cannot be opened or has an unsupported packing, or one
// of [CheckFields].
func OpenFetches(name string, opt weblog.Options) (*Fetches, error) {
	f, err := NewFetches(opt)
	if err != nil {
		return nil, err
	}
	if f.file, err = files.Of(name).Open(name); err != nil {
		return nil, fault.OfFile(name, err, "check the name and the permissions")
	}
	info, err := f.file.Info()
	if err == nil {
		err = f.Reset(name, f.file, info.Size)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Reset makes f read another file with the same memory. It does not close a file of OpenFetches.
func (f *Fetches) Reset(name string, file io.ReaderAt, size int64) error {
	f.number, f.pending.parts, f.ended, f.damaged = 0, 0, false, false
	f.part = segmentRows{at: -1}
	f.lost.number, f.lost.start, f.lost.unverified = 0, 0, 0
	return f.reset(name, file, size)
}

// CheckFields returns the error that OpenFetches would return about the fields.
func CheckFields(opt weblog.Options) error {
	_, err := newFetchFields(opt)
	return err
}

// NewFetches returns Fetches without a file; call Reset next. The error is one of [CheckFields].
func NewFetches(opt weblog.Options) (*Fetches, error) {
	fields, err := newFetchFields(opt)
	n := len(fields.keep)
	f := &Fetches{records: newRecords(), fields: fields}
	f.pending.values, f.pending.present = make([][]byte, n), make([]bool, n)
	return f, err
}

// Done reports whether all records were read.
func (f *Fetches) Done() bool { return f.ended }

// At returns the number of the last record read, and its position in the text.
func (f *Fetches) At() (record, offset int64) { return max(1, f.number), f.start }

// BytesRead returns the number of bytes of the file that were read.
func (f *Fetches) BytesRead() int64 { return f.src.BytesRead() }

// Close closes the file.
func (f *Fetches) Close() error {
	f.release()
	return f.file.Close()
}

// Next reads the next record, and passes at most one row to rows. At the end it passes the rest, and returns nil, or
// why the file ended early: an error of the file, ErrWARC, or the fault of a record, which may be a
// [*unpack.SegmentError].
func (f *Fetches) Next(rows Rows) error {
	if !f.nextRecord() {
		return f.endFile(rows)
	}
	f.number++
	if at, _ := f.src.Place(f.start); at != f.part.at && !f.part.forEver {
		f.part.at, f.part.number = at, f.number
	}
	f.part.forEver = f.part.forEver || f.src.Unchecked()
	err := f.readRecord(rows)
	if f.src.IOErr() != nil {
		return f.endFile(rows)
	}
	if err == nil {
		f.countRecord(true)
		if f.damaged = f.isLossy(); f.damaged {
			return f.endFile(rows)
		}
		return nil
	}
	f.passPending(rows)
	rows.Refuse(weblog.RefusedRecord, f.number, f.start)
	broken := f.src.Fault()
	f.lost.number, f.lost.start, f.lost.unverified = f.number, f.start, 0
	if f.part.number < f.number && (f.part.forEver || broken != nil && broken.Start == f.part.at) {
		f.lost.unverified = f.part.number
	}
	if f.damaged = !f.resume(err); f.damaged {
		return f.endFile(rows)
	}
	return nil
}

// endFile passes the rest to rows, and returns why reading ended early; nil at the end of the file.
func (f *Fetches) endFile(rows Rows) error {
	f.ended = true
	f.passPending(rows)
	switch {
	case f.src.IOErr() != nil:
		if f.src.IsPacked() && f.part.number < f.number {
			f.lost.unverified = f.part.number
		}
		return fmt.Errorf("read: %w%s", f.src.IOErr(), files.ReadRemedy(f.src.IOErr()))
	case f.damaged:
		f.number, f.start = f.lost.number, f.lost.start
		err := f.damage.At.Err
		if _, ok := errors.AsType[*unpack.SegmentError](err); ok { // its message has advice
			return err
		}
		if f.intact == 0 {
			return ErrWARC
		}
		return fmt.Errorf("%s: %w: "+unpack.Again, damageKind(err), err)
	}
	return nil
}

// A segmentRows says which records belong to the current segment.
type segmentRows struct {
	at      int64 // position of the segment in the file
	number  int64 // first record in the segment, even in part, or joined with such a record
	forEver bool  // an earlier segment has no checksum, and number belongs to it
}

// Unverified returns the first record of the unverified rows; 0 if all are verified. Unverified are the last segment,
// because its checksum was not reached, and all segments from the first one without a checksum. Call it after an error
// of Next.
func (f *Fetches) Unverified() int64 { return f.lost.unverified }

// Flush passes the row of the last fetch, if it still waits for the next record.
func (f *Fetches) Flush(rows Rows) { f.passPending(rows) }

// passPending passes the row of the pending fetch to rows, if there is one.
func (f *Fetches) passPending(rows Rows) {
	p := &f.pending
	if p.parts == 0 {
		return
	}
	f.row = weblog.Row{Target: p.url, Time: p.time, Fields: f.row.Fields[:0]}
	if p.hasAgent {
		f.row.Agent, f.row.HasAgent = p.agent, true
	}
	for i, value := range p.values {
		if !p.present[i] {
			value = nil
		}
		f.row.Fields = append(f.row.Fields, value)
	}
	rows.Row(&f.row, p.record, p.offset)
	p.parts = 0
}

// readRecord reads the record at the current position. It joins the record with the pending fetch, begins a new one, or
// counts the record. It returns an error if the record is corrupt; then the pending fetch is unchanged.
func (f *Fetches) readRecord(rows Rows) error {
	kind, length, err := f.readFields()
	if err != nil {
		return err
	}
	if err := f.block.reset(f.src, warcRecord{length: length}, f.start); err != nil {
		return err
	}
	part := fetchParts[strings.ToLower(string(kind))]
	url := trimURI(f.head.Get("WARC-Target-URI"))
	if len(kind) == 0 {
		if err := f.block.finish(); err != nil {
			return err
		}
		rows.Refuse(weblog.RefusedRecord, f.number, f.start)
		return nil
	}
	if part == 0 || len(url) > 0 && !isHTTP(url) {
		rows.Skip()
		return f.block.finish()
	}
	// The record counts only after it was read completely.
	joins := f.pending.parts&part == 0 && f.pending.parts != 0 && bytes.Equal(f.pending.url, url)
	hasHTTP := part&f.fields.blocks != 0 && part != fetchWhole && f.http.ReadHead(&f.block, part == fetchResponse) == nil
	if err := f.block.finish(); err != nil {
		return err
	}
	if !joins {
		f.passPending(rows)
		if len(url) == 0 {
			rows.Refuse(weblog.RefusedURL, f.number, f.start)
			return nil
		}
		p := &f.pending
		p.parts, p.record, p.offset, p.time, p.hasAgent = 0, f.number, f.start, weblog.NoTime, false
		p.url = append(p.url[:0], url...)
		clear(p.present)
	}
	f.join(part, hasHTTP)
	if joins {
		if f.part.number == f.number {
			f.part.number = f.pending.record
		}
		f.passPending(rows)
	}
	return nil
}

// join adds the fields of a record to the pending fetch. part is the record's part, and hasHTTP says whether f.http has
// its HTTP header. Fields of a response replace those of a request, except the time.
func (f *Fetches) join(part fetchPart, hasHTTP bool) {
	p := &f.pending
	p.parts |= part
	if p.time == weblog.NoTime {
		p.time = f.date()
	}
	if hasHTTP && part == fetchRequest {
		if agent := f.http.Head.Get("User-Agent"); agent != nil {
			p.agent, p.hasAgent = append(p.agent[:0], agent...), true
		}
	}
	for i, field := range f.fields.keep {
		if value := field.value(f, part, hasHTTP); value != nil && (!p.present[i] || part == fetchResponse && field != fetchKnown[weblog.NameTime]) {
			p.values[i], p.present[i] = append(p.values[i][:0], value...), true
		}
	}
}

// date returns the time of the record.
func (f *Fetches) date() int64 {
	date, err := parseDate(string(f.head.Get("WARC-Date")))
	if err != nil {
		return weblog.NoTime
	}
	return robots.Microseconds(date)
}

// isHTTP reports whether a URL uses HTTP or has no scheme. Other schemes are DNS lookups and notes of crawlers.
func isHTTP(url []byte) bool {
	scheme, _, ok := bytes.Cut(url, []byte{':'})
	return !ok || bytes.EqualFold(scheme, []byte("http")) || bytes.EqualFold(scheme, []byte("https"))
}

// A fetchField is a field of fetches that can be kept.
type fetchField struct {
	name  string    // name in the record's header or in HTTP; "" if first is used
	block fetchPart // the HTTP message with the field; 0 is the record's header
	first int       // index of the word in the message's first line, from 1; lastWord is the last of three or more
}

const lastWord = -1

// fetchKnown are the fields with names that mean the same in every format.
var fetchKnown = map[string]fetchField{
	weblog.NameTime:     {name: "WARC-Date"},
	weblog.NameStatus:   {block: fetchResponse, first: 2},
	weblog.NameMethod:   {block: fetchRequest, first: 1},
	weblog.NameProtocol: {block: fetchRequest, first: lastWord},
	weblog.NameHost:     {block: fetchRequest, name: "Host"},
	weblog.NameReferer:  {block: fetchRequest, name: "Referer"},
	weblog.NameAgent:    {block: fetchRequest, name: "User-Agent"},
}

// fetchFields are the wanted fields of a WARC file.
type fetchFields struct {
	keep   []fetchField
	blocks fetchPart // messages with wanted fields
}

// newFetchFields returns the fields that the options request. The error is a weblog.ErrNoField or weblog.ErrNoClients.
func newFetchFields(opt weblog.Options) (f fetchFields, err error) {
	if opt.Agents {
		f.blocks = fetchRequest
	}
	for _, name := range opt.Keep {
		field, ok := fetchKnown[name]
		if !ok && len(name) > len("WARC-") && strings.EqualFold(name[:len("WARC-")], "WARC-") {
			field, ok = fetchField{name: name}, true
		}
		if !ok && !opt.MayLack(name) {
			return f, fmt.Errorf("%w: %q; want time, status, method, protocol, host, referer, user_agent, or a field of the records' headers, such as WARC-IP-Address", weblog.ErrNoField, name)
		}
		f.keep = append(f.keep, field) // the zero field has no value
		f.blocks |= field.block
	}
	if opt.Clients {
		return f, fmt.Errorf("%w: a WARC file contains only the server's address", weblog.ErrNoClients)
	}
	if named := opt.AnyNamed(); named != "" {
		return f, fmt.Errorf("%w: %q; the fields of a WARC file are fixed", weblog.ErrNoField, named)
	}
	return f, nil
}

// value returns a field of the current record, which is that part of a fetch; nil if the record does not have it.
// hasHTTP says whether f.http has its HTTP header. It is valid until the next record.
func (k *fetchField) value(f *Fetches, part fetchPart, hasHTTP bool) []byte {
	switch {
	case k.block == 0:
		return f.head.Get(k.name)
	case k.block != part || !hasHTTP:
		return nil
	case k.first == 0:
		return f.http.Head.Get(k.name)
	}
	words := bytes.Fields(f.http.Head.First())
	switch {
	case len(words) < 2 || k.first == lastWord && len(words) < 3:
		return nil
	case k.first == lastWord:
		return words[len(words)-1]
	}
	return words[k.first-1]
}
