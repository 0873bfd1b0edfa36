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

// TestPack writes and reads packs, sorted in memory and with a file.
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
		lo, hi, err := p.Candidates(kindOf(name), []byte(name))
		if hi != lo+1 || err != nil {
			t.Fatalf("%d candidates for %s, error %v", hi-lo, name, err)
		}
		got, err := b.Read(p, kindOf(name), lo)
		if err != nil || string(got.Name) != name || !reflect.DeepEqual(got.Captures, want) {
			t.Fatalf("%s: %+v, %v, want %+v", name, got, err, want)
		}
	}
	if lo, hi, err := p.Candidates(Site, []byte("nobody")); lo != hi || err != nil {
		t.Errorf("a candidate for a name that is not there, or error %v", err)
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
		if got, err := p.Text([]byte("x"), i); err != nil || string(got) != "x"+want {
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

// TestOpenErrors tests the errors for invalid packs.
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
		ErrVersion:   {changed(8, Version+1), changed(8, Version-1)},
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

// TestMoved exchanges chunks, and records, of the same length: their content is valid, but not at that offset.
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
	first, size, err := p.tables[tableTexts].entry(0)
	if err != nil {
		t.Fatal(err)
	}
	exchange(first, first+8+size, 8+size)
	half := p.header.records[Site].Bytes / 2
	exchange(p.header.offset(int(Site)), p.header.offset(int(Site))+half, half)
	var b Buffer
	for i := range texts {
		if got, err := p.Text(nil, i); !errors.Is(err, ErrDamaged) {
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

// manyNames returns captures of that number of sites, each with its number as status.
func manyNames(n int) map[string][]Capture {
	all := map[string][]Capture{}
	for i := range n {
		all[fmt.Sprint("s", i)] = []Capture{{Status: i, Text: NoText}}
	}
	return all
}

// lookUp looks for each name of a pack. It returns how many were found, and how many lookups failed because a block of
// the index is damaged. Any other result fails the test.
func lookUp(t *testing.T, data []byte, captures map[string][]Capture) (found, damaged int) {
	t.Helper()
	p, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var b Buffer
	for name, want := range captures {
		lo, hi, err := p.Candidates(Site, []byte(name))
		if errors.Is(err, ErrDamaged) && strings.Contains(err.Error(), "of its index of origins, at byte ") {
			damaged++
			continue
		}
		if err != nil || hi != lo+1 {
			t.Fatalf("%s: %d candidates, error %v", name, hi-lo, err)
		}
		got, err := b.Read(p, Site, lo)
		if err != nil || string(got.Name) != name || got.Captures[0].Status != want[0].Status {
			t.Fatalf("%s: %+v, %v", name, got, err)
		}
		found++
	}
	return found, damaged
}

// TestDamagedBlock damages single blocks of the index, and exchanges two: lookups of their names return an error that
// names the block, and all others succeed.
func TestDamagedBlock(t *testing.T) {
	captures := manyNames(5*blockEntries + 7)
	data := write(t, 1<<30, nil, captures)
	h, err := parseHeader(data, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if found, damaged := lookUp(t, data, captures); found != len(captures) || damaged != 0 {
		t.Fatalf("%d found, %d damaged", found, damaged)
	}
	at := int(h.offset(partTables))
	for n := range 6 {
		entries := min(blockEntries, len(captures)-n*blockEntries)
		for _, off := range []int{0, 8, entries*tableEntry - 1} {
			changed := bytes.Clone(data)
			changed[at+n*blockSize+off] ^= 1
			// The last entry of the block before, and the first of the next, are not found without it.
			if found, damaged := lookUp(t, changed, captures); damaged < entries || damaged > entries+2 {
				t.Errorf("block %d: %d found, %d damaged, want %d", n, found, damaged, entries)
			}
		}
	}
	one, two := data[at:at+blockSize], data[at+blockSize:at+2*blockSize]
	moved := slices.Concat(data[:at], two, one, data[at+2*blockSize:])
	if _, damaged := lookUp(t, moved, captures); damaged < 2*blockEntries || damaged > 2*blockEntries+2 {
		t.Errorf("of two exchanged blocks, %d names are damaged", damaged)
	}
	directory := at + len(captures)*tableEntry
	for off := range 6 * tableEntry {
		changed := bytes.Clone(data)
		changed[directory+off] ^= 1
		if _, err := Open(bytes.NewReader(changed), int64(len(changed))); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "index of origins") {
			t.Errorf("byte %d of the directory: error %v", off, err)
		}
	}
}

// TestBlocksRead tests that opening a pack and finding a name reads at most two blocks.
func TestBlocksRead(t *testing.T) {
	data := write(t, 1<<30, nil, manyNames(100*blockEntries))
	file := &countedFile{Reader: bytes.NewReader(data)}
	p, err := Open(file, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Candidates(Site, []byte("s17")); err != nil {
		t.Fatal(err)
	}
	if most := headerSize + len("some notes") + 100*tableEntry + 2*blockSize; file.bytes > most {
		t.Errorf("%d bytes were read, want %d at most", file.bytes, most)
	}
}

// A countedFile counts the bytes that are read.
type countedFile struct {
	*bytes.Reader
	bytes int
}

func (f *countedFile) ReadAt(b []byte, off int64) (int, error) {
	f.bytes += len(b)
	return f.Reader.ReadAt(b, off)
}

// TestSearch compares lookups of unevenly distributed and equal keys, and of the first and last ones, with a scan.
func TestSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 300 {
		n := 1 + r.IntN(4*blockEntries)
		keys := make([]uint64, n)
		for i := range keys {
			switch r.IntN(4) {
			case 0:
				keys[i] = r.Uint64()
			case 1:
				keys[i] = r.Uint64N(10)
			case 2:
				keys[i] = ^r.Uint64N(3)
			case 3:
				keys[i] = keys[r.IntN(i+1)]
			}
		}
		slices.Sort(keys)
		entries := make([]byte, 0, n*tableEntry)
		for i, key := range keys {
			entries = binary.LittleEndian.AppendUint64(entries, key)
			entries = binary.LittleEndian.AppendUint64(entries, uint64(i))
		}
		x := &table{count: uint32(n), blocks: make([]tableBlock, blocksOf(uint64(n)))}
		for n := range x.blocks {
			b := new([blockSize]byte)
			copy(b[:], entries[n*blockSize:])
			x.blocks[n].first, _ = entryAt(entries, n*blockEntries)
			x.blocks[n].entries.Store(b)
		}
		for _, key := range append([]uint64{0, 5, 1 << 40, ^uint64(0), r.Uint64()}, keys...) {
			want, _ := slices.BinarySearch(keys, key)
			end := want
			for end < n && keys[end] == key {
				end++
			}
			if lo, hi, err := x.find(key); int(lo) != want || int(hi) != end || err != nil {
				t.Fatalf("key %d of %v: %d up to %d, %v, want %d up to %d", key, keys, lo, hi, err, want, end)
			}
		}
	}
}

// TestCutWhileMapped truncates a mapped pack: reading the missing part returns an error.
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
	if got, err := p.Text(nil, 0); string(got) != text || err != nil {
		t.Fatalf("%d bytes, error %v", len(got), err)
	}
	if err := os.Truncate(name, 0); err != nil {
		t.Skipf("a mapped file cannot be cut short here: %v", err)
	}
	if got, err := p.Text(nil, 0); !errors.Is(err, ErrTruncated) {
		t.Errorf("%d bytes, error %v", len(got), err)
	}
}

// TestWriterFails tests that errors of the file are returned.
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

// reseal corrects the checksums in the header, if the data that they cover exists.
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
		lo, hi := h.offset(partTables+i), h.offset(partTables+i+1)
		if i < numTables {
			entries, at := h.entries(i)*tableEntry, lo
			lo += entries
			for n := range blocksOf(h.entries(i)) {
				block, size := at+n*blockSize, min(blockSize, entries-n*blockSize)
				directory := data[lo+n*tableEntry:]
				copy(directory[:8], data[block:])
				le.PutUint64(directory[8:], checksum(data[block:block+size], block))
			}
		}
		le.PutUint64(data[sums+8*i:], xxh3.Hash(data[lo:hi]))
	}
	seal()
	return data
}

// FuzzOpen opens arbitrary bytes with a valid header checksum, and reads everything that they refer to.
func FuzzOpen(f *testing.F) {
	data := write(f, 1<<30, []string{"a", "bc"}, map[string][]Capture{"s": {{Text: 1}, {Text: NoText, Location: "/"}}, "s2": {{}}, "t": {{Error: "x"}}})
	f.Add(data)
	f.Add(write(f, 1<<30, []string{"a"}, manyNames(2*blockEntries)))
	f.Add(data[:headerSize])
	f.Fuzz(func(_ *testing.T, data []byte) {
		p, err := Open(bytes.NewReader(reseal(bytes.Clone(data))), int64(len(data)))
		if err != nil {
			return
		}
		var b Buffer
		for kind := range Kind(numKinds) {
			for number := range p.tables[kind].count {
				b.Read(p, kind, number)
			}
			for range b.All(p, kind) {
				continue
			}
			p.Candidates(kind, []byte("s"))
		}
		for i := range p.Texts() {
			p.Text(nil, i)
		}
	})
}

// FuzzDamage changes or truncates a pack without updating its checksums: everything that can be read must be unchanged.
func FuzzDamage(f *testing.F) {
	texts := []string{"User-agent: *\nDisallow: /\n", strings.Repeat("Disallow: /a\n", 200)}
	captures := manyNames(2 * blockEntries)
	captures["s1"] = []Capture{{Text: 1, Location: "/", MaxAge: 7}, {Text: 0, Error: "x"}}
	whole := write(f, 1<<30, texts, captures)
	for at := 0; at < len(whole); at += len(whole) / 50 {
		f.Add(at, []byte{1}, false)
		f.Add(at, whole[:20], at%3 == 0)
	}
	f.Fuzz(func(t *testing.T, at int, with []byte, cut bool) {
		data := bytes.Clone(whole)
		if at = max(0, at) % len(data); cut {
			data = data[:at]
		}
		copy(data[min(at, len(data)):], with)
		p, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		for i, text := range texts {
			if got, err := p.Text(nil, i); err == nil && string(got) != text {
				t.Errorf("text %d is %q", i, got)
			}
		}
		var b Buffer
		for name, want := range captures {
			lo, hi, err := p.Candidates(Site, []byte(name))
			if err != nil {
				continue
			}
			found := false
			for i := lo; i < hi; i++ {
				got, err := b.Read(p, Site, i)
				if found = found || err != nil || string(got.Name) == name; err == nil && string(got.Name) == name && !reflect.DeepEqual(got.Captures, want) {
					t.Errorf("%s is %+v, want %+v", name, got.Captures, want)
				}
			}
			if !found {
				t.Errorf("%s is not there", name)
			}
		}
	})
}

// FuzzRecord decodes arbitrary bytes as a record: it must end, and refer only to existing texts.
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
