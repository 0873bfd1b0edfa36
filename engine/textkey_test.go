package engine

import (
	"bytes"
	"os"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/robots"
)

// TestForeignText has an origin whose robots.txt, foreign.txt, was constructed to have the same XXH3 as that of another
// origin, own.txt: each keeps its own rules, from files and from a pack, in any order.
func TestForeignText(t *testing.T) {
	read := func(name string) []byte {
		b, err := os.ReadFile("testdata/samehash/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	own, foreign := read("own.txt"), read("foreign.txt")
	if xxh3.Hash128(own) != xxh3.Hash128(foreign) || bytes.Equal(own, foreign) {
		t.Fatal("the texts have different XXH3 hashes")
	}
	first := robots.Response{Origin: "https://foreign.example", Status: 200, Body: foreign}
	second := robots.Response{Origin: "https://own.example", Status: 200, Body: own}
	for _, all := range [][]robots.Response{{first, second}, {second, first}} {
		opt := StoreOptions{Dialect: robots.Google}
		built, err := BuildStore(sequence(all), opt)
		if err != nil {
			t.Fatal(err)
		}
		packed := openPack(t, makePack(t, robots.Google, all...), opt)
		if built.RulesHash() != packed.RulesHash() {
			t.Error("other hashes of the rules")
		}
		for _, s := range []*Store{built, packed} {
			b := &Batch{}
			for i, url := range []string{"https://foreign.example/", "https://own.example/", "https://own.example/private/"} {
				appendRow(b, url, int64(i+1))
			}
			s.NewEvaluator().Evaluate(b)
			for i, want := range []Access{Denied, Allowed, Denied} {
				if got := b.Verdicts[i].Access; got != want {
					t.Errorf("%s: %v, want %v", b.URL(i), got, want)
				}
			}
		}
	}
}
