package output

import (
	"fmt"
	"testing"
)

func FuzzAppendValid(f *testing.F) {
	for _, s := range []string{"", "a", "é", "\xff", "a\xc3", "\xe2\x82", "\xef\xbf\xbd\xef", "\xf0\x9f\x98\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, escaped := appendValid(nil, []byte(s))
		if string(got) != escape(s) || len(got) != len(s)+2*escaped {
			t.Errorf("%q became %q, %d escaped; want %q", s, got, escaped, escape(s))
		}
	})
}

func TestDictionary(t *testing.T) {
	d := newDictionary()
	for range 2 {
		for i := range 5000 {
			text := fmt.Appendf(nil, "text %d", i/2)
			if id := d.add(text, i%2); int(id) != i/2 || string(d.At(id)) != string(text) {
				t.Fatalf("%s is number %d, %q", text, id, d.At(id))
			}
		}
		if d.Len() != 2500 {
			t.Fatalf("%d texts", d.Len())
		}
		d.reset()
	}
}
