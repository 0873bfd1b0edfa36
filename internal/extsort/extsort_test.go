package extsort

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// A numbers is a [Cursor] and an [Output] of records, which are pairs: a key, and a number that counts the records in
// the order in which they were written.
type numbers struct {
	block []byte
	to    *Run
	got   *[]uint64
}

func (n *numbers) Load(block []byte) error { n.block = block; return nil }
func (n *numbers) Done() bool              { return len(n.block) == 0 }
func (n *numbers) record() uint64          { return binary.BigEndian.Uint64(n.block) }

// Compare compares by the upper half alone.
func (n *numbers) Compare(other *numbers) int { return int(n.record()>>32) - int(other.record()>>32) }

func (n *numbers) Take(c *numbers) error {
	if n.to != nil {
		n.block = append(n.block, c.block[:8]...)
	} else {
		*n.got = append(*n.got, c.record())
	}
	c.block = c.block[8:]
	if len(n.block) >= 64 {
		return n.Finish()
	}
	return nil
}

func (n *numbers) Finish() error {
	if n.to == nil || len(n.block) == 0 {
		return nil
	}
	err := n.to.Write(n.block)
	n.block = n.block[:0]
	return err
}

// TestMerge sorts pairs in runs of different lengths, merges few or all at once, and compares with
// a stable sort.
func TestMerge(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, runs := range []int{0, 1, 2, 3, 17, 100} {
		for _, fan := range []int{2, 3, MaxFan} {
			dir := t.TempDir()
			s := NewSpill(dir)
			var all []uint64
			for range runs {
				run, err := s.Begin()
				if err != nil {
					t.Fatal(err)
				}
				var some []uint64
				for range r.IntN(40) {
					some = append(some, uint64(r.IntN(20))<<32|uint64(len(all)+len(some)))
				}
				all = append(all, some...)
				slices.Sort(some)
				for block := range slices.Chunk(some, 1+r.IntN(9)) {
					var text []byte
					for _, v := range block {
						text = binary.BigEndian.AppendUint64(text, v)
					}
					if err := run.Write(text); err != nil {
						t.Fatal(err)
					}
				}
				if r.IntN(5) == 0 {
					if err := run.Write(nil); err != nil { // a block without records
						t.Fatal(err)
					}
				}
				run.End()
			}
			if s.Runs() != runs {
				t.Errorf("%d runs of %d", s.Runs(), runs)
			}
			var got []uint64
			begin := func(run *Run) Output[*numbers] { return &numbers{to: run} }
			if err := Merge(s, fan, func() *numbers { return &numbers{} }, begin, &numbers{got: &got}); err != nil {
				t.Fatal(err)
			}
			if slices.Sort(all); !slices.Equal(got, all) {
				t.Errorf("%d runs, %d at once: %x, want %x", runs, fan, got, all)
			}
			s.Close()
			s.Close()
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left %v, %v", left, err)
			}
		}
	}
}

// TestNoDirectory checks that the first run creates the file, not NewSpill.
func TestNoDirectory(t *testing.T) {
	s := NewSpill(t.TempDir() + "/none")
	defer s.Close()
	if _, err := s.Begin(); err == nil {
		t.Error("no error")
	}
}

// FuzzDamage checks that changed bytes or a truncated temporary file cause an error.
func FuzzDamage(f *testing.F) {
	for at := range 12 {
		f.Add(bytes.Repeat([]byte("abcdefgh"), 40), at, byte(4))
	}
	f.Add(bytes.Repeat([]byte("abcdefgh"), 1), 3, byte(0))
	f.Fuzz(func(t *testing.T, records []byte, at int, bits byte) {
		s := NewSpill(t.TempDir())
		defer s.Close()
		records = records[:len(records)/8*8]
		for block := range slices.Chunk(records, 64) { // one run each: Merge compares them
			run, err := s.Begin()
			if err != nil {
				t.Fatal(err)
			}
			if err := run.Write(block); err != nil {
				t.Fatal(err)
			}
			run.End()
		}
		if at = max(at, 0); s.end > 0 {
			at %= int(s.end)
			one := make([]byte, 1)
			if _, err := s.file.ReadAt(one, int64(at)); err != nil {
				t.Fatal(err)
			}
			if one[0] ^= bits; bits == 0 {
				one = make([]byte, s.end-int64(at)) // a file that was truncated and extended again
			}
			if _, err := s.file.WriteAt(one, int64(at)); err != nil {
				t.Fatal(err)
			}
		}
		var got []uint64
		err := Merge(s, MaxFan, func() *numbers { return &numbers{} }, func(run *Run) Output[*numbers] { return &numbers{to: run} }, &numbers{got: &got})
		if s.end > 0 && bits != 0 && !errors.Is(err, errDamaged) {
			t.Errorf("byte %d: %v", at, err)
		}
		if err == nil && len(got) != len(records)/8 {
			t.Errorf("%d records, want %d", len(got), len(records)/8)
		}
	})
}
