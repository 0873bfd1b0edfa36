package pack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/internal/wire"
)

// A memoryFile is a File in memory.
type memoryFile struct{ data []byte }

func (f *memoryFile) Write(b []byte) (int, error) {
	f.data = append(f.data, b...)
	return len(b), nil
}

func (f *memoryFile) WriteAt(b []byte, off int64) (int, error) { return copy(f.data[off:], b), nil }

func (f *memoryFile) ReadAt(b []byte, off int64) (int, error) {
	return bytes.NewReader(f.data).ReadAt(b, off)
}

func noSummary(*Reader) (Summary, error) { return Summary{}, nil }

// write makes a pack of texts and captures.
func write(tb testing.TB, limit int, texts []string, captures map[string][]Capture) []byte {
	tb.Helper()
	f := &memoryFile{}
	w := NewWriter(f, tb.TempDir())
	w.sorter.limit = limit
	defer w.Close()
	for _, text := range texts {
		if err := w.AddText([]byte(text)); err != nil {
			tb.Fatal(err)
		}
	}
	for round := range 100 { // those of one name apart from each other
		for name, all := range captures {
			if round < len(all) {
				if err := w.AddCapture(kindOf(name), name, all[round]); err != nil {
					tb.Fatal(err)
				}
			}
		}
	}
	if err := w.SetNotes([]byte("some notes")); err != nil {
		tb.Fatal(err)
	}
	if err := w.Finish(noSummary); err != nil {
		tb.Fatal(err)
	}
	return f.data
}

func kindOf(name string) Kind {
	if strings.HasPrefix(name, "t") {
		return Target
	}
	return Site
}

// TestPack writes and reads packs, sorted in memory and by way of a file.
func TestPack(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	texts := []string{"", "one", strings.Repeat("long", 1000)}
	captures := map[string][]Capture{}
	for i := range 3000 {
		name := fmt.Sprintf("%c%d", "st"[r.IntN(2)], i*7919%3001)
		for range 1 + r.IntN(3) {
			c := Capture{Status: r.IntN(600), Text: r.IntN(4) - 1, Size: int64(r.IntN(3)), File: r.IntN(2) == 0}
			if r.IntN(2) == 0 {
				c.At = time.Unix(r.Int64N(1e10)-1e9, r.Int64N(1e9)).UTC()
			}
			if r.IntN(3) == 0 {
				c.Location, c.Error = strings.Repeat("/x", r.IntN(300)), "failed"[:r.IntN(6)]
			}
			captures[name] = append(captures[name], c)
		}
	}
	data := write(t, 1<<30, texts, captures)
	if !bytes.Equal(data, write(t, 4<<10, texts, captures)) {
		t.Fatal("sorted by way of a file, the pack differs")
	}
	p, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var b Buffer
	for name, want := range captures {
		lo, hi := p.Candidates(kindOf(name), []byte(name))
		if hi != lo+1 {
			t.Fatalf("%d candidates for %s", hi-lo, name)
		}
		got, err := b.Read(p, kindOf(name), lo)
		if err != nil || string(got.Name) != name || !reflect.DeepEqual(got.Captures, want) {
			t.Fatalf("%s: %+v, %v, want %+v", name, got, err, want)
		}
	}
	if lo, hi := p.Candidates(Site, []byte("nobody")); lo != hi {
		t.Error("a candidate for a name that is not there")
	}
	var names []string
	for record, err := range b.All(p, Site) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, string(record.Name))
	}
	if !slices.IsSorted(names) || len(names) != p.Sites() {
		t.Errorf("%d sites in order, want %d", len(names), p.Sites())
	}
	for i, want := range texts {
		if got, err := p.Chunk([]byte("x"), p.Text(i)); err != nil || string(got) != "x"+want {
			t.Errorf("text %d: %d bytes, %v", i, len(got), err)
		}
	}
	if string(p.Notes()) != "some notes" {
		t.Errorf("notes %q", p.Notes())
	}
	if err := NewWriter(&memoryFile{}, "").SetNotes(make([]byte, maxNotes+1)); err == nil {
		t.Error("notes of any length")
	}
	if p.Texts() != 3 || p.Size() != int64(len(data)) || p.IndexSize() == 0 || p.Close() != nil {
		t.Errorf("%d texts, %d bytes", p.Texts(), p.Size())
	}
}

// TestOpenErrors checks what is refused, and as what.
func TestOpenErrors(t *testing.T) {
	data := write(t, 1<<30, []string{"text"}, map[string][]Capture{"s": {{Text: 0}}})
	open := func(data []byte) error {
		_, err := Open(bytes.NewReader(data), int64(len(data)))
		return err
	}
	if err := open(data); err != nil {
		t.Fatal(err)
	}
	changed := func(at int, b byte) []byte {
		d := bytes.Clone(data)
		d[at] = b
		return d
	}
	for want, bad := range map[error][][]byte{
		ErrNotPack:   {nil, []byte("x"), changed(0, 0), bytes.Repeat([]byte("PK"), 500)},
		ErrVersion:   {changed(8, Version+1)},
		ErrTruncated: {data[:1], data[:headerSize-1], data[:headerSize], data[:len(data)-1]},
		ErrDamaged:   {changed(12, 1), changed(headerSize-1, data[headerSize-1]+1), append(bytes.Clone(data), 0), changed(len(data)-1, 1), reseal(changed(60, 255))},
	} {
		for i, d := range bad {
			if err := open(d); !errors.Is(err, want) {
				t.Errorf("%v, %d: error %v", want, i, err)
			}
		}
	}
}

// TestMoved exchanges chunks, and records, that have the same length: each is as it was written,
// but not where.
func TestMoved(t *testing.T) {
	texts := []string{"text1", "text2"}
	data := write(t, 1<<30, texts, map[string][]Capture{"s1": {{Text: 0}}, "s2": {{Text: 1}}})
	p, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	exchange := func(a, b, n uint64) {
		moved := bytes.Clone(data[a : a+n])
		copy(data[a:a+n], data[b:b+n])
		copy(data[b:b+n], moved)
	}
	exchange(p.Text(0).Offset, p.Text(1).Offset, 8+uint64(len(texts[0])))
	half := p.header.records[Site].Bytes / 2
	exchange(p.header.place(int(Site)), p.header.place(int(Site))+half, half)
	var b Buffer
	for i := range texts {
		if got, err := p.Chunk(nil, p.Text(i)); !errors.Is(err, ErrDamaged) {
			t.Errorf("text %d: %q, error %v", i, got, err)
		}
		if got, err := b.Read(p, Site, uint32(i)); !errors.Is(err, ErrDamaged) {
			t.Errorf("site %d: %v, error %v", i, got, err)
		}
	}
	for _, err := range b.All(p, Site) {
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("all sites: error %v", err)
		}
	}
}

// TestCutWhileMapped cuts a mapped pack short: what is not there any more cannot be read.
func TestCutWhileMapped(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.rbp")
	text := strings.Repeat("x", 100_000)
	if err := os.WriteFile(name, write(t, 1<<30, []string{text}, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := OpenFile(name, true)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if got, err := p.Chunk(nil, p.Text(0)); string(got) != text || err != nil {
		t.Fatalf("%d bytes, error %v", len(got), err)
	}
	if err := os.Truncate(name, 0); err != nil {
		t.Skipf("a mapped file cannot be cut short here: %v", err)
	}
	if got, err := p.Chunk(nil, p.Text(0)); !errors.Is(err, ErrTruncated) {
		t.Errorf("%d bytes, error %v", len(got), err)
	}
}

// TestWriterFails checks that the errors of the file come out.
func TestWriterFails(t *testing.T) {
	w := NewWriter(brokenFile{}, t.TempDir())
	defer w.Close()
	if err := w.AddText(make([]byte, 2<<20)); err != nil && !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
	if err := w.Finish(noSummary); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("error %v", err)
	}
}

// A brokenFile cannot be written.
type brokenFile struct{}

func (brokenFile) Write([]byte) (int, error)          { return 0, io.ErrShortWrite }
func (brokenFile) WriteAt([]byte, int64) (int, error) { return 0, io.ErrShortWrite }
func (brokenFile) ReadAt([]byte, int64) (int, error)  { return 0, io.EOF }

// reseal makes the header's checksums right again, where what they are of is there.
func reseal(data []byte) []byte {
	if len(data) < headerSize {
		return data
	}
	le := binary.LittleEndian
	seal := func() { le.PutUint64(data[headerSize-8:], xxh3.Hash(data[:headerSize-8])) }
	seal()
	h, err := parseHeader(data, int64(len(data)))
	if err != nil {
		return data
	}
	const sums = 104 // where they are in the header
	for i := range h.sums {
		lo, hi := h.place(placeIndex+i), h.place(placeIndex+i+1)
		le.PutUint64(data[sums+8*i:], xxh3.Hash(data[lo:hi]))
	}
	seal()
	return data
}

// FuzzOpen opens any bytes, with checksums of the header that are right, and reads all that they
// lead to.
func FuzzOpen(f *testing.F) {
	data := write(f, 1<<30, []string{"a", "bc"}, map[string][]Capture{"s": {{Text: 1}, {Text: NoText, Location: "/"}}, "s2": {{}}, "t": {{Error: "x"}}})
	f.Add(data)
	f.Add(data[:headerSize])
	f.Fuzz(func(_ *testing.T, data []byte) {
		p, err := Open(bytes.NewReader(reseal(bytes.Clone(data))), int64(len(data)))
		if err != nil {
			return
		}
		var b Buffer
		for kind := range Kind(numKinds) {
			for number := range p.index[kind].len() {
				b.Read(p, kind, uint32(number))
			}
			for range b.All(p, kind) {
				continue
			}
			p.Candidates(kind, []byte("s"))
		}
		for i := range p.Texts() {
			p.Chunk(nil, p.Text(i))
		}
	})
}

// FuzzRecord reads any bytes as a record: it ends, and what is read has texts that exist.
func FuzzRecord(f *testing.F) {
	f.Add(appendCapture([]byte("\x01s\x01"), &Capture{At: time.Unix(1, 2), Status: 200, Text: 1, Size: 3, Location: "/", Error: "x"}))
	f.Fuzz(func(t *testing.T, data []byte) {
		var r Record
		c := wire.NewCursor(data)
		if !readRecord(&c, &r, 2) {
			return
		}
		for _, capture := range r.Captures {
			if capture.Text < NoText || capture.Text > 1 {
				t.Errorf("text %d", capture.Text)
			}
		}
	})
}
