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
	files "github.com/robobatch/robobatch/internal/place"
	"github.com/robobatch/robobatch/robots"
)

// Fetches read a WARC file as a log: one row for each fetch by HTTP. A request and an adjacent response of the same URL
// are one fetch, in either order. Damaged records are refused.
type Fetches struct {
	records
	file    files.File
	fields  fetchFields
	row     weblog.Row
	number  int64 // records that were begun
	pending fetch // may become one with the next record
	ended   bool
	damaged bool // nothing after the last record is used
	part    segmentRows
	lost    struct{ number, start, unverified int64 } // the record of damage, and the result of Unverified
}

// Rows get the rows that Fetches read. The record is numbered from 1, and the offset is in the text of the
// file.
type Rows interface {
	// Row gets a fetch, which is valid until it returns.
	Row(row *weblog.Row, record, offset int64)
	// Refuse gets a record that is of no use.
	Refuse(why weblog.Result, record, offset int64)
	// Skip gets a record that is not of a fetch.
	Skip()
}

// A fetch holds the facts that the records of one fetch give.
type fetch struct {
	parts          fetchPart // 0 if there is no fetch
	record, offset int64     // the first
	url            []byte
	time           int64
	agent          []byte
	hasAgent       bool
	values         [][]byte // of fetchFields.keep
	present        []bool
}

// A fetchPart is the part of a fetch in one record.
type fetchPart uint8

const (
	fetchRequest  fetchPart = 1 << iota
	fetchResponse           // or a revisit record
	fetchWhole    = fetchRequest | fetchResponse
)

// fetchParts are the types of records that belong to fetches. A resource is a fetch of its own.
var fetchParts = map[string]fetchPart{
	"request": fetchRequest, "response": fetchResponse, "revisit": fetchResponse, "resource": fetchWhole,
}

// OpenFetches opens a WARC file. The error is that it cannot be opened, or a [weblog.ErrNoField].
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

// Reset makes f read another file. It keeps its memory.
func (f *Fetches) Reset(name string, file io.ReaderAt, size int64) error {
	f.number, f.pending.parts, f.ended, f.damaged = 0, 0, false, false
	f.part = segmentRows{at: -1}
	f.lost.number, f.lost.start, f.lost.unverified = 0, 0, 0
	return f.reset(name, file, size)
}

// CheckFields returns the error that OpenFetches would have about the fields.
func CheckFields(opt weblog.Options) error {
	_, err := newFetchFields(opt)
	return err
}

// NewFetches returns Fetches without a file: Reset gives them one. The error is a
// [weblog.ErrNoField].
func NewFetches(opt weblog.Options) (*Fetches, error) {
	fields, err := newFetchFields(opt)
	n := len(fields.keep)
	f := &Fetches{records: newRecords(), fields: fields}
	f.pending.values, f.pending.present = make([][]byte, n), make([]bool, n)
	return f, err
}

// Done reports whether all records were read.
func (f *Fetches) Done() bool { return f.ended }

// At returns the record that was read last, and where it begins in the text.
func (f *Fetches) At() (record, offset int64) { return max(1, f.number), f.start }

// BytesRead returns how far the file was read.
func (f *Fetches) BytesRead() int64 { return f.src.BytesRead() }

// Close closes the file.
func (f *Fetches) Close() error {
	f.release()
	return f.file.Close()
}

// Next reads the next record, which gives rows one row at most. At the end it gives the rest,
// and returns why it ended early: an error of the file, ErrWARC, or the fault of a record, which may
// be a [*unpack.SegmentError]; nil at the end of the file.
func (f *Fetches) Next(rows Rows) error {
	if !f.next() {
		return f.end(rows)
	}
	f.number++
	// Note the segment of a record that begins.
	if at, _ := f.src.Place(f.start); at != f.part.at && !f.part.forEver {
		f.part.at, f.part.number = at, f.number
	}
	f.part.forEver = f.part.forEver || f.src.Unchecked()
	err := f.readRecord(rows)
	if f.src.IOErr() != nil {
		return f.end(rows)
	}
	if err == nil {
		f.count(true)
		if f.damaged = f.isLossy(); f.damaged {
			return f.end(rows)
		}
		return nil
	}
	f.finish(rows)
	rows.Refuse(weblog.RefusedRecord, f.number, f.start)
	broken := f.src.Fault()
	f.lost.number, f.lost.start, f.lost.unverified = f.number, f.start, 0
	if f.part.number < f.number && (f.part.forEver || broken != nil && broken.Start == f.part.at) {
		f.lost.unverified = f.part.number
	}
	if f.damaged = !f.resume(err); f.damaged {
		return f.end(rows)
	}
	return nil
}

// end gives the rest, and returns why reading ended early, nil at the end of the file.
func (f *Fetches) end(rows Rows) error {
	f.ended = true
	f.finish(rows)
	switch {
	case f.src.IOErr() != nil:
		if f.src.IsPacked() && f.part.number < f.number {
			f.lost.unverified = f.part.number
		}
		return fmt.Errorf("read: %w%s", f.src.IOErr(), files.ReadRemedy(f.src.IOErr()))
	case f.damaged:
		f.number, f.start = f.lost.number, f.lost.start
		err := f.damage.At.Err
		if _, ok := errors.AsType[*unpack.SegmentError](err); ok { // which gives advice
			return err
		}
		if f.intact == 0 {
			return ErrWARC
		}
		return fmt.Errorf("%s: %w: "+unpack.Again, damageKind(err), err)
	}
	return nil
}

// A segmentRows says which records are of the segment being read.
type segmentRows struct {
	at      int64 // of the segment in the file
	number  int64 // the first record that it has, or begins in, or that is one fetch with such a record
	forEver bool  // a segment before it has no checksum, and number is of that
}

// Unverified returns the first record of the unverified rows: those of the segment where the file ends, whose checksum
// was not reached, and of all segments from the first without a checksum. It is 0 if there are none. Call it after an
// error of Next.
func (f *Fetches) Unverified() int64 { return f.lost.unverified }

// Flush gives the row of the last fetch, if it still waits for the next record.
func (f *Fetches) Flush(rows Rows) { f.finish(rows) }

// finish gives the row of the fetch that is pending, if there is one.
func (f *Fetches) finish(rows Rows) {
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

// readRecord reads the record where the text stands. Its error is that the record is damaged.
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
		if err := f.block.end(); err != nil {
			return err
		}
		rows.Refuse(weblog.RefusedRecord, f.number, f.start)
		return nil
	}
	if part == 0 || len(url) > 0 && !isHTTP(url) {
		rows.Skip()
		return f.block.end()
	}
	// The record counts only when all of it was read. The pending fetch is another one, or waits
	// for this record.
	joins := f.pending.parts&part == 0 && f.pending.parts != 0 && bytes.Equal(f.pending.url, url)
	seen := f.readHTTP(part)
	if err := f.block.end(); err != nil {
		return err
	}
	if !joins {
		f.finish(rows)
		if len(url) == 0 {
			rows.Refuse(weblog.RefusedURL, f.number, f.start)
			return nil
		}
		// Make the record the first of a fetch of a URL, with nothing more known.
		p := &f.pending
		p.parts, p.record, p.offset, p.time, p.hasAgent = 0, f.number, f.start, weblog.NoTime, false
		p.url = append(p.url[:0], url...)
		clear(p.present)
	}
	f.join(part, seen)
	if joins {
		if f.part.number == f.number {
			f.part.number = f.pending.record
		}
		f.finish(rows)
	}
	return nil
}

// readHTTP reads the header of the HTTP message in the block, if any of its fields is wanted, and
// reports whether it is one. A record without such a header still counts by its own header.
func (f *Fetches) readHTTP(part fetchPart) bool {
	if part&f.fields.blocks == 0 || part == fetchWhole {
		return false
	}
	return f.http.ReadHead(&f.block, part == fetchResponse) == nil
}

// join adds the fields of a record to the pending fetch. hasHTTP is the result of readHTTP.
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

// isHTTP reports whether a URL is of HTTP, or has no scheme at all. Other schemes are lookups of
// names, and notes of crawlers.
func isHTTP(url []byte) bool {
	scheme, _, ok := bytes.Cut(url, []byte{':'})
	return !ok || bytes.EqualFold(scheme, []byte("http")) || bytes.EqualFold(scheme, []byte("https"))
}

// A fetchField is a field of fetches that can be kept.
type fetchField struct {
	name  string    // of the record's header, or in HTTP; "" for first
	block fetchPart // the message of HTTP that has it; 0 is the record's header
	first int       // which word of the message's first line it is, from 1; lastWord is the last of three or more
}

const lastWord = -1

// fetchKnown are the fields whose names mean the same in every format.
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
	blocks fetchPart // whose messages have anything that is wanted
}

// newFetchFields returns the fields that the options ask for. The error is a weblog.ErrNoField or weblog.ErrNoClients.
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
			return f, fmt.Errorf("%w: %q; there are time, status, method, protocol, host, referer, user_agent, and those of the records' headers, such as WARC-IP-Address", weblog.ErrNoField, name)
		}
		f.keep = append(f.keep, field) // one that is missing is of no header
		f.blocks |= field.block
	}
	if opt.Clients {
		return f, fmt.Errorf("%w: a WARC file contains only the server's address", weblog.ErrNoClients)
	}
	if named := opt.AnyNamed(); named != "" {
		return f, fmt.Errorf("%w: %q; of a WARC file it is known where URL, host, User-Agent and time are", weblog.ErrNoField, named)
	}
	return f, nil
}

// value returns the field of the record that f has read, nil if it has none.
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
