package packed

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/internal/pack"
	"github.com/robobatch/robobatch/robots"
)

// FuzzMarks writes any bytes to a pack as the chunks odd and tokens: reading neither panics nor hangs, and fails or
// returns oddities of existing texts.
func FuzzMarks(f *testing.F) {
	f.Add([]byte{0, byte(robots.OddHTML), 1, byte(robots.OddText)}, []byte("\x01\x02\x01a\x02bc"))
	f.Add([]byte{1, byte(robots.OddHTML), 0, 99}, []byte("\x01\xff\xff\xff\xff\x0f"))
	f.Add([]byte{0x80}, []byte{1})
	f.Add([]byte{}, []byte{})
	path := filepath.Join(f.TempDir(), "x.rbp")
	f.Fuzz(func(t *testing.T, odd, tokens []byte) {
		writeMarkedPack(t, path, odd, tokens)
		s, err := Open(path, Options{Options: options(robots.Google, false, "*")})
		if err != nil {
			return
		}
		defer s.Close()
		for id, o := range s.Odd() {
			if o.IsOdd() && (rules.RulingID(id) < rules.TextID(0) || rules.RulingID(id) >= rules.TextID(2)) || int(o) >= robots.NumOddities {
				t.Errorf("oddity %d of %d", o, id)
			}
		}
		all, complete := s.Tokens()
		if s.Err() != nil && (len(all) > 0 || complete) {
			t.Errorf("%q, all of them: %t, after %v", all, complete, s.Err())
		}
	})
}

// writeMarkedPack writes a pack of two texts with these chunks.
func writeMarkedPack(t *testing.T, path string, marks ...[]byte) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w := pack.NewWriter(file, "")
	defer w.Close()
	var refs [2]pack.Ref
	for i, chunk := range marks {
		if refs[i], err = w.AddChunk(chunk); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := w.AddText(append(make([]byte, 16), formSource)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.AddCapture(pack.Site, "https://a.com", pack.Capture{Status: 200}); err != nil {
		t.Fatal(err)
	}
	summary := pack.Summary{Dialect: uint32(robots.Google), Odd: refs[0], Tokens: refs[1]}
	if err := w.Finish(func(*pack.Reader) (pack.Summary, error) { return summary, nil }); err != nil {
		t.Fatal(err)
	}
}
