package pack

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
)

// A sorter puts captures in the order of their names, those of one name in the order in which they came, in bounded
// memory: what does not fit is written to a temporary file in sorted runs, which are then merged.
type sorter struct {
	dir    string // of the temporary file; "" is the usual one
	limit  int    // bytes of a run
	memory []byte
	items  []item
	file   *os.File // removed already; nil before the first run is written
	runs   []int64  // where they end in file
}

// An item is a capture in the sorter's memory: the name at off, and then the encoding, up to end.
type item struct {
	off, end, name uint32
	kind           Kind
}

// runLimit is how much memory a run takes.
const runLimit = 32 << 20

// add takes in a capture.
func (s *sorter) add(kind Kind, name string, c *Capture) error {
	at := len(s.memory)
	s.memory = append(s.memory, name...)
	s.memory = appendCapture(s.memory, c)
	s.items = append(s.items, item{uint32(at), uint32(len(s.memory)), uint32(len(name)), kind})
	if len(s.memory)+16*len(s.items) >= s.limit {
		return s.spill()
	}
	return nil
}

func (s *sorter) sort() {
	slices.SortStableFunc(s.items, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), bytes.Compare(s.memory[a.off:a.off+a.name], s.memory[b.off:b.off+b.name]))
	})
}

// spill writes what is in memory as a run.
func (s *sorter) spill() (err error) {
	if s.file == nil {
		if s.file, err = os.CreateTemp(s.dir, ".robobatch-sort-*.tmp"); err != nil {
			return err
		}
		os.Remove(s.file.Name()) //nolint:errcheck // close tries again, for systems that do not remove what is open
	}
	s.sort()
	w := bufio.NewWriterSize(s.file, 1<<20)
	var head []byte
	for _, it := range s.items {
		head = append(head[:0], byte(it.kind))
		head = binary.AppendUvarint(head, uint64(it.name))
		head = binary.AppendUvarint(head, uint64(it.end-it.off-it.name))
		w.Write(head)                           //nolint:errcheck // sticky
		w.Write(s.memory[it.off:it.end:it.end]) //nolint:errcheck // sticky
	}
	if err := w.Flush(); err != nil {
		return err
	}
	end, err := s.file.Seek(0, io.SeekCurrent)
	s.runs = append(s.runs, end)
	s.memory, s.items = s.memory[:0], s.items[:0]
	return err
}

// each calls yield with all captures in order: kind, name and encoding, which are valid during the call.
func (s *sorter) each(yield func(kind Kind, name, capture []byte) error) error {
	if s.file == nil {
		s.sort()
		for _, it := range s.items {
			if err := yield(it.kind, s.memory[it.off:it.off+it.name], s.memory[it.off+it.name:it.end]); err != nil {
				return err
			}
		}
		return nil
	}
	if err := s.spill(); err != nil {
		return err
	}
	s.memory, s.items = nil, nil
	var m merge
	start := int64(0)
	for i, end := range s.runs {
		r := &runReader{r: bufio.NewReaderSize(io.NewSectionReader(s.file, start, end-start), 256<<10), number: i}
		start = end
		if ok, err := r.next(); err != nil {
			return err
		} else if ok {
			m = append(m, r)
		}
	}
	heap.Init(&m)
	for len(m) > 0 {
		r := m[0]
		if err := yield(r.kind, r.data[:r.name], r.data[r.name:]); err != nil {
			return err
		}
		if ok, err := r.next(); err != nil {
			return err
		} else if ok {
			heap.Fix(&m, 0)
		} else {
			heap.Pop(&m)
		}
	}
	return nil
}

// close gives the temporary file back.
func (s *sorter) close() {
	if s.file != nil {
		s.file.Close()           //nolint:errcheck // nobody needs it any more
		os.Remove(s.file.Name()) //nolint:errcheck // it is mostly gone
	}
}

// A runReader reads a run.
type runReader struct {
	r      *bufio.Reader
	number int // of the run
	kind   Kind
	data   []byte // name and encoding
	name   int    // bytes of the name
}

// next reads the next capture and reports whether there is one.
func (r *runReader) next() (bool, error) {
	kind, err := r.r.ReadByte()
	if err == io.EOF {
		return false, nil
	}
	name, errName := binary.ReadUvarint(r.r)
	rest, errRest := binary.ReadUvarint(r.r)
	if err := errors.Join(err, errName, errRest); err != nil {
		return false, err
	}
	r.kind, r.name = Kind(kind), int(name)
	r.data = slices.Grow(r.data[:0], int(name+rest))[:name+rest]
	_, err = io.ReadFull(r.r, r.data)
	return err == nil, err
}

// A merge is a heap of runs by what comes next in each; of equals the older run comes first.
type merge []*runReader

func (m merge) Len() int      { return len(m) }
func (m merge) Swap(i, j int) { m[i], m[j] = m[j], m[i] }
func (m *merge) Push(x any)   { *m = append(*m, x.(*runReader)) }

func (m merge) Less(i, j int) bool {
	a, b := m[i], m[j]
	return cmp.Or(cmp.Compare(a.kind, b.kind), bytes.Compare(a.data[:a.name], b.data[:b.name]), cmp.Compare(a.number, b.number)) < 0
}

func (m *merge) Pop() any {
	last := len(*m) - 1
	r := (*m)[last]
	*m = (*m)[:last]
	return r
}
