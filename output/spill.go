package output

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// spillBlock is what a run is written and read by: small, as a merge holds one of each run.
var spillBlock = limits{rows: 4 << 10, bytes: 256 << 10}

// A spill is the temporary file of an arranger, which has its runs, one behind the other.
type spill struct {
	dir  string   // of the file; "" is the usual one
	file *os.File // nil before the first run; its name is gone already, where the system allows that
	runs []span64 // that are to be merged, the rows of the first being before those of the others
	end  int64

	encoder *zstd.Encoder
	decoder *zstd.Decoder
}

// A span64 is a piece of a file.
type span64 struct{ from, to int64 }

// create begins a run.
func (s *spill) create(l layout) (*runTarget, error) {
	if s.file == nil {
		if err := s.open(); err != nil {
			return nil, fmt.Errorf("create a temporary file: %w", err)
		}
	}
	if _, err := s.file.Seek(s.end, io.SeekStart); err != nil {
		return nil, err
	}
	t := &runTarget{spill: s, from: s.end, w: bufio.NewWriterSize(s.file, sinkBuffer)}
	t.rows = newColumns(l, 1, newDictionaries(l), spillBlock)
	t.rows.bind(l, every)
	return t, nil
}

func (s *spill) open() (err error) {
	if s.file, err = os.CreateTemp(s.dir, ".robobatch-sort-*.tmp"); err != nil {
		return err
	}
	os.Remove(s.file.Name()) //nolint:errcheck // close tries again, for systems that do not remove what is open
	if s.encoder, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1)); err != nil {
		return err
	}
	s.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	return err
}

// close gives the file back.
func (s *spill) close() {
	if s.file == nil {
		return
	}
	s.file.Close()           //nolint:errcheck // nobody needs it any more
	os.Remove(s.file.Name()) //nolint:errcheck // it is mostly gone
	s.file = nil
	s.encoder.Close() //nolint:errcheck // it writes nowhere
	s.decoder.Close()
}

// A runTarget writes a run. Each of its blocks has dictionaries of its own.
type runTarget struct {
	spill       *spill
	from        int64
	w           *bufio.Writer
	rows        *columns
	raw, packed []byte
}

func (t *runTarget) start(*columns, uint32) error { return nil }
func (t *runTarget) chunk() *columns              { return t.rows }
func (t *runTarget) abort()                       {}

// flush writes the rows as a block: its length, and itself, compressed.
func (t *runTarget) flush() error {
	t.raw = t.rows.encode(t.raw[:0])
	t.packed = t.spill.encoder.EncodeAll(t.raw, t.packed[:0])
	t.rows.reset()
	t.rows.names.reset()
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(t.packed)))
	t.w.Write(head)               //nolint:errcheck // sticky
	_, err := t.w.Write(t.packed) // the error of all
	t.spill.end += int64(len(head) + len(t.packed))
	return err
}

// finish ends the run, which is one of those to be merged then.
func (t *runTarget) finish() error {
	if t.rows.rows > 0 {
		if err := t.flush(); err != nil {
			return err
		}
	}
	t.spill.runs = append(t.spill.runs, span64{t.from, t.spill.end})
	return t.w.Flush()
}

// A runReader reads a run, a block at a time.
type runReader struct {
	spill       *spill
	r           *bufio.Reader
	number      int // of the run
	rows        *columns
	row         uint32 // the next
	raw, packed []byte
}

// read returns a reader of a run.
func (s *spill) read(l layout, run span64, number int) *runReader {
	r := &runReader{spill: s, number: number, r: bufio.NewReaderSize(io.NewSectionReader(s.file, run.from, run.to-run.from), 64<<10)}
	r.rows = newColumns(l, 1, newDictionaries(l), spillBlock)
	r.rows.bind(l, every)
	return r
}

// next reads the next block, and reports whether there is one.
func (r *runReader) next() (bool, error) {
	var head [4]byte
	if _, err := io.ReadFull(r.r, head[:]); errors.Is(err, io.EOF) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("read a temporary file: %w", err)
	}
	n := int(binary.LittleEndian.Uint32(head[:]))
	if cap(r.packed) < n {
		r.packed = make([]byte, n)
	}
	_, err := io.ReadFull(r.r, r.packed[:n])
	if err == nil {
		r.raw, err = r.spill.decoder.DecodeAll(r.packed[:n], r.raw[:0])
	}
	if err == nil {
		err = r.rows.decode(r.raw)
	}
	if err != nil {
		return false, fmt.Errorf("read a temporary file: %w", err)
	}
	r.row = 0
	return true, nil
}
