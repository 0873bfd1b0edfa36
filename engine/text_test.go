package engine

import (
	"crypto/sha256"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// TestTextKey checks that a store of files and a pack return the same keys of texts, and none if a fetch decides.
func TestTextKey(t *testing.T) {
	const text = "User-agent: *\nDisallow: /a\n"
	all := []robots.Response{{Origin: "https://a.com", Status: 200, Body: []byte(text)}, {Origin: "https://b.com", Status: 404}}
	files, err := BuildStore(sequence(all), StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pack := openPack(t, makePack(t, files.Options().Dialect, all...), StoreOptions{Dialect: files.Options().Dialect})
	want := sha256.Sum256([]byte(text))
	for _, s := range []*Store{files, pack} {
		b := new(Batch)
		for _, url := range []string{"https://a.com/", "https://b.com/", "https://c.com/"} {
			b.AddURL([]byte(url), 1)
		}
		s.NewEvaluator().Evaluate(b)
		for i, id := range b.Rulings {
			key, ok := s.TextKey(id)
			if ok != (i == 0) || ok && string(key[:]) != string(want[:16]) {
				t.Errorf("%s: %x, %t", b.URL(i), key, ok)
			}
		}
	}
}
