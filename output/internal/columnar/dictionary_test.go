package columnar

import (
	"fmt"
	"testing"
)

func TestDictionary(t *testing.T) {
	d := newDictionary()
	for range 2 {
		for i := range 5000 {
			text := fmt.Appendf(nil, "text %d", i/2)
			if id := d.addWord(text, i%2); int(id) != i/2 || string(d.At(id)) != string(text) {
				t.Fatalf("%s is number %d, %q", text, id, d.At(id))
			}
		}
		if d.Len() != 2500 {
			t.Fatalf("%d texts", d.Len())
		}
		d.reset()
	}
}
