package engine

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/robobatch/robobatch/internal/captures"
	"github.com/robobatch/robobatch/internal/pack"
	"github.com/robobatch/robobatch/robots"
)

// FuzzPack puts any bytes into a pack as a text and as the rules that it refers to, with checksums that are right, so that
// all that guards the engine is its own checks: it neither panics nor hangs, and either fails or has rules that exist.
func FuzzPack(f *testing.F) {
	const rulesAt = 256 // where the first chunk begins
	for _, d := range []robots.Dialect{robots.Google, robots.Google2010, robots.Yandex} {
		for _, body := range packTexts {
			t, err := packText(captures.Key{}, []byte(body), d)
			if err != nil {
				f.Fatal(err)
			}
			for i := range t.rules {
				for k := range t.selections {
					t.selections[k].ref = pack.Ref{Offset: rulesAt, Size: uint32(len(t.rules[i]))}
				}
				f.Add(uint32(d), t.appendBinary(nil), t.rules[i])
			}
		}
	}
	f.Add(uint32(0), append(make([]byte, 16), formSource), []byte("x"))
	urls := []string{"https://a.com/", "https://a.com/a/b", "https://a.com/x1.css", "https://a.com/x%2Ay?sid=1", "https://a.com/q/7/z/12/", "https://a.com/private/x"}
	path := filepath.Join(f.TempDir(), "x.rbp")
	f.Fuzz(func(t *testing.T, dialect uint32, text, rules []byte) {
		writeRawPack(t, path, dialect, text, rules)
		s, err := OpenPack(path, StoreOptions{
			Dialect: robots.Dialect(dialect) &^ urlFlags, Agents: []string{"*", "a", "googlebot-news", "yandexbot"}, Canonical: len(text)%2 == 0,
		})
		if err != nil {
			t.Skip(err)
		}
		defer s.Close()
		b := newBatch(urls...)
		e := s.NewEvaluator()
		e.Evaluate(b)
		for i := range urls {
			if s.Err() == nil {
				describe(s, b, i) // panics if a rule does not exist
			}
		}
	})
}

// writeRawPack writes a pack of one site, whose text and rules are any bytes.
func writeRawPack(t *testing.T, path string, dialect uint32, text, rules []byte) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w := pack.NewWriter(file, "")
	defer w.Close()
	if _, err := w.AddChunk(rules); err != nil {
		t.Fatal(err)
	}
	if err := w.AddText(bytes.Clone(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.AddCapture(pack.Site, "https://a.com", pack.Capture{Status: 200}); err != nil {
		t.Fatal(err)
	}
	dialect &^= uint32(urlFlags)
	if err := w.Finish(func(*pack.Reader) (pack.Summary, error) { return pack.Summary{Dialect: dialect}, nil }); err != nil {
		t.Fatal(err)
	}
}
