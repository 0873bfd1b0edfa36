package summary

import (
	"errors"
	"testing"
)

// TestSeal checks that sealed JSON can be read back unchanged, and that an altered, missing or additional byte is an
// error.
func TestSeal(t *testing.T) {
	type form struct {
		Name string `json:"name"`
		Size int    `json:"size"`
	}
	want := form{"a\nb", 7}
	text, err := Text(want)
	if err != nil {
		t.Fatal(err)
	}
	var got form
	if err := Read(text, &got); err != nil || got != want {
		t.Fatalf("%+v, %v", got, err)
	}
	for i := range text {
		for bit := range 8 {
			text[i] ^= 1 << bit
			if err := Read(text, &got); !errors.Is(err, ErrSeal) {
				t.Errorf("byte %d, bit %d: %v", i, bit, err)
			}
			text[i] ^= 1 << bit
		}
		if err := Read(text[:i], &got); !errors.Is(err, ErrSeal) {
			t.Errorf("cut at %d: %v", i, err)
		}
	}
	if err := Read(append(text, '\n'), &got); !errors.Is(err, ErrSeal) {
		t.Error(err)
	}
	if err := Read([]byte(`{"name": "a", "size": 1}`), &got); !errors.Is(err, ErrSeal) {
		t.Error(err)
	}
}
