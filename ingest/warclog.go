package ingest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
	"github.com/robobatch/robobatch/robots"
)

// ErrWARC is the fault of a file that should be WARC, of which no record could be read. It comes inside a [*LineError], whose
// line is the number of a record.
var ErrWARC = errors.New("no WARC record could be read of it: is it another format?")

// A warcLog reads the fetches of HTTP in a WARC file as rows. A request and a response that follow each other and are of
// one URL are one fetch, whichever comes first. Damaged records are refused.
type warcLog struct {
	warcReader
	file    io.Closer
	fields  warcFields
	records int64 // that were begun
	pending fetch // may become one with the next record
	ended   bool
}

// A fetch is what the records of one fetch say.
type fetch struct {
	parts    fetchPart // 0 if there is no fetch
	at       where
	url      []byte
	time     int64
	agent    []byte
	hasAgent bool
	values   [][]byte // of warcFields.keep
	present  []bool
}

// A fetchPart is what a record has of a fetch.
type fetchPart uint8

const (
	fetchRequest  fetchPart = 1 << iota
	fetchResponse           // or a revisit record
	fetchWhole    = fetchRequest | fetchResponse
)

// fetchParts are the types of records that are of fetches. A resource is all that there is of its own.
var fetchParts = map[string]fetchPart{
	"request": fetchRequest, "response": fetchResponse, "revisit": fetchResponse, "resource": fetchWhole,
}

// openWARC opens a WARC file.
func openWARC(name string, opt weblog.Options) (*warcLog, error) {
	fields, err := newWARCFields(opt)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fileError(name, err, "check the name and the permissions")
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	w := newWARCLog(fields)
	w.file = f
	if err := w.begin(name, f, info.Size()); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// newWARCLog returns a warcLog without a file.
func newWARCLog(fields warcFields) *warcLog {
	n := len(fields.keep)
	w := &warcLog{warcReader: warcReader{pass: &pass{}}, fields: fields}
	w.pending.values, w.pending.present = make([][]byte, n), make([]bool, n)
	return w
}

// begin makes w read a file of that name and size.
func (w *warcLog) begin(name string, file io.ReaderAt, size int64) error {
	w.name, w.intact, w.shared = name, 0, false
	w.records, w.pending.parts, w.ended = 0, 0, false
	return w.src.reset(name, file, size)
}

// isWARC reports whether a file is WARC: by its first bytes, and if they are packed only where the name says so, since
// nobody else wants them unpacked already. What cannot be unpacked is what the name says.
func isWARC(name string, f io.ReaderAt, size int64) bool {
	var head [magicLen]byte
	n, err := f.ReadAt(head[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	if bytes.HasPrefix(bytes.TrimLeft(head[:n], "\r\n"), warcMagic) {
		return true
	}
	if packed, err := detect(head[:n]); err != nil || packed == formatText || !strings.Contains(name, ".warc") {
		return false
	}
	var src source
	defer src.release()
	if src.reset(name, f, size) != nil {
		return false
	}
	text, _ := src.text.Peek(len(warcMagic))
	return len(text) == 0 || bytes.HasPrefix(bytes.TrimLeft(text, "\r\n"), warcMagic[:min(len(text), len(warcMagic))])
}

func (w *warcLog) done() bool  { return w.ended }
func (w *warcLog) at() where   { return where{max(1, w.records), w.start} }
func (w *warcLog) read() int64 { return w.src.off }

func (w *warcLog) close() error {
	w.release()
	return w.file.Close()
}

// fill adds at most so many rows, of about so many bytes, to b. It returns why it stopped before the end.
func (w *warcLog) fill(r *rowReader, b *engine.Batch, rows, size int) error {
	for b.Len() < rows && len(b.Data) < size && !w.ended { // a turn adds one row at most
		if !w.next() {
			return w.end(r, b)
		}
		w.records++
		err := w.takeRecord(r, b)
		if w.src.ioErr != nil {
			return w.end(r, b)
		}
		if err == nil {
			w.intact++
			w.shared = w.shared || w.location().text > 0
			continue
		}
		w.settle(r, b)
		r.refuse(b, weblog.RefusedRecord, nil, where{w.records, w.start})
		if !w.resync() {
			return w.end(r, b)
		}
	}
	return nil
}

// end adds what is left, and returns why it is the end, if it is not that of the file.
func (w *warcLog) end(r *rowReader, b *engine.Batch) error {
	w.ended = true
	w.settle(r, b)
	switch {
	case w.src.ioErr != nil:
		return fmt.Errorf("read: %w: check the disk and copy the file again", w.src.ioErr)
	case w.src.budget < 0:
		return ErrTooDamaged
	case w.intact == 0 && w.records > 0:
		return ErrWARC
	}
	return nil
}

// settle adds the row of the fetch that is pending, if there is one.
func (w *warcLog) settle(r *rowReader, b *engine.Batch) {
	p := &w.pending
	if p.parts == 0 {
		return
	}
	r.row = weblog.Row{Target: p.url, Time: p.time, Fields: r.row.Fields[:0]}
	if p.hasAgent {
		r.row.Agent = p.agent
	}
	for i, value := range p.values {
		if !p.present[i] {
			value = nil
		}
		r.row.Fields = append(r.row.Fields, value)
	}
	r.take(weblog.IsRow, p.url, p.at, b) //nolint:errcheck // it has none for a row
	p.parts = 0
}

// takeRecord reads the record at which the text stands. Its error is that the record is damaged.
func (w *warcLog) takeRecord(r *rowReader, b *engine.Batch) error {
	kind, length, err := w.readFields()
	if err != nil {
		return err
	}
	if err := w.block.reset(&w.src, warcRecord{length: length}, w.start); err != nil {
		return err
	}
	at := where{w.records, w.start}
	part := fetchParts[strings.ToLower(string(kind))]
	url := trimURI(w.head.get("WARC-Target-URI"))
	if part == 0 || len(url) > 0 && !isHTTP(url) {
		r.headers++
		return w.block.end()
	}
	// The record counts only once it is known to be whole. What was pending is of another fetch, or waits for this.
	joins := w.pending.parts&part == 0 && w.pending.parts != 0 && bytes.Equal(w.pending.url, url)
	seen := w.see(part)
	if err := w.block.end(); err != nil {
		return err
	}
	if !joins {
		w.settle(r, b)
		if len(url) == 0 {
			r.refuse(b, weblog.RefusedURL, nil, at)
			return nil
		}
		w.pending.begin(at, url)
	}
	w.join(part, seen)
	if joins {
		w.settle(r, b)
	}
	return nil
}

// begin makes it the fetch of a URL, of which nothing more is known.
func (f *fetch) begin(at where, url []byte) {
	f.parts, f.at, f.time, f.hasAgent = 0, at, weblog.NoTime, false
	f.url = append(f.url[:0], url...)
	clear(f.present)
}

// see reads the start of the block, if anything in it is wanted, and reports whether it is the header of a message of HTTP.
// A block that is none takes nothing from the record's own header, so that it is no fault.
func (w *warcLog) see(part fetchPart) bool {
	if part&w.fields.blocks == 0 || part == fetchWhole {
		return false
	}
	w.http.start(&w.block)
	if part == fetchResponse {
		_, err := w.http.readHead()
		return err == nil
	}
	return w.http.head.read(w.http.buf, nil) == nil
}

// join adds what a record says to the fetch that is pending. hasHTTP is what see said.
func (w *warcLog) join(part fetchPart, hasHTTP bool) {
	p := &w.pending
	p.parts |= part
	if p.time == weblog.NoTime {
		p.time = w.date()
	}
	if hasHTTP && part == fetchRequest {
		if agent := w.http.head.get("User-Agent"); agent != nil {
			p.agent, p.hasAgent = append(p.agent[:0], agent...), true
		}
	}
	for i, field := range w.fields.keep {
		if value := field.value(w, part, hasHTTP); value != nil && (!p.present[i] || part == fetchResponse && field != warcKnown[weblog.NameTime]) {
			p.values[i], p.present[i] = append(p.values[i][:0], value...), true
		}
	}
}

// date returns the time of the record.
func (w *warcLog) date() int64 {
	date, err := parseDate(string(w.head.get("WARC-Date")))
	if err != nil {
		return weblog.NoTime
	}
	return robots.Microseconds(date)
}

// isHTTP reports whether a URL is of HTTP, or has no scheme and so is none: others are lookups of names, and notes of
// crawlers.
func isHTTP(url []byte) bool {
	scheme, _, ok := bytes.Cut(url, []byte{':'})
	return !ok || bytes.EqualFold(scheme, []byte("http")) || bytes.EqualFold(scheme, []byte("https"))
}

// A warcField is a field of fetches that can be kept.
type warcField struct {
	name  string    // of the record's header, or in HTTP; "" for first
	block fetchPart // the message of HTTP that has it; 0 is the record's header
	first int       // which word of the message's first line it is, from 1; lastWord is the last of three or more
}

const lastWord = -1

// warcKnown are the fields whose names mean the same in every format.
var warcKnown = map[string]warcField{
	weblog.NameTime:     {name: "WARC-Date"},
	weblog.NameStatus:   {block: fetchResponse, first: 2},
	weblog.NameMethod:   {block: fetchRequest, first: 1},
	weblog.NameProtocol: {block: fetchRequest, first: lastWord},
	weblog.NameHost:     {block: fetchRequest, name: "Host"},
	weblog.NameReferer:  {block: fetchRequest, name: "Referer"},
	weblog.NameAgent:    {block: fetchRequest, name: "User-Agent"},
}

// warcFields are what is wanted of a WARC file.
type warcFields struct {
	keep   []warcField
	blocks fetchPart // whose messages have anything that is wanted
}

// newWARCFields returns what the options ask for. The error is a weblog.ErrNoField.
func newWARCFields(opt weblog.Options) (f warcFields, err error) {
	if opt.Agents {
		f.blocks = fetchRequest
	}
	for _, name := range opt.Keep {
		field, ok := warcKnown[name]
		if !ok && len(name) > len("WARC-") && strings.EqualFold(name[:len("WARC-")], "WARC-") {
			field, ok = warcField{name: name}, true
		}
		if !ok {
			return f, fmt.Errorf("%w: %q; there are time, status, method, protocol, host, referer, user_agent, and those of the records' headers, such as WARC-IP-Address", weblog.ErrNoField, name)
		}
		f.keep = append(f.keep, field)
		f.blocks |= field.block
	}
	if named := cmp.Or(opt.URL, opt.Host, opt.Agent, opt.Time); named != "" {
		return f, fmt.Errorf("%w: %q; of a WARC file it is known where URL, host, User-Agent and time are", weblog.ErrNoField, named)
	}
	return f, nil
}

// value returns the field of the record that w has read, nil if it has none.
func (f *warcField) value(w *warcLog, part fetchPart, hasHTTP bool) []byte {
	switch {
	case f.block == 0:
		return w.head.get(f.name)
	case f.block != part || !hasHTTP:
		return nil
	case f.first == 0:
		return w.http.head.get(f.name)
	}
	words := bytes.Fields(w.http.head.first)
	switch {
	case len(words) < 2:
		return nil
	case f.first != lastWord:
		return words[f.first-1]
	case len(words) < 3:
		return nil
	}
	return words[len(words)-1]
}
