package memory

import (
	"runtime"
	"strings"
	"testing"
)

// TestParse holds what is a size, and that others are told apart.
func TestParse(t *testing.T) {
	const small, large, none = "use 64MiB or more", "write none for no limit", "is no size: write 256MiB, 1GiB or none"
	for text, want := range map[string]any{
		"": int64(0), "none": int64(-1), "64MiB": int64(64 << 20), "1.5GiB": int64(3 << 29), "1TiB": int64(1 << 40), "1TB": int64(1e12), "1t": int64(1 << 40), "2 gb": int64(2e9),
		"64MB": small, "0": small, "1": small, "8388608TiB": large, "99999999999999999999GiB": large, "1e999": large,
		"lots": none, "-1GiB": none, "nanGiB": none, "1PiB": none, "GiB": none,
	} {
		switch got, err := Parse(text); want := want.(type) {
		case int64:
			if err != nil || got != want {
				t.Errorf("%q is %d, want %d; error %v", text, got, want, err)
			}
		case string:
			if err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%q is %d, error %v, want %s", text, got, err, want)
			}
		}
	}
}

// TestFitWorkers holds that there are as many workers as were asked for, or fewer and a note if a
// limit of memory has no room.
func TestFitWorkers(t *testing.T) {
	for _, test := range []struct {
		limit       string
		asked, want int
	}{
		{"", 32, 32},
		{"", 0, 0},
		{"none", 32, 32},
		{"64MiB", 1, 1},
		{"64MiB", 32, 1},
		{"87MiB", 2, 1},
		{"88MiB", 2, 2},
		{"256MiB", 9, 9},
		{"256MiB", 10, 9},
		{"100000GiB", 1024, 1024},
		{"100000GiB", 0, 0},
		{"lots", 32, 32}, // told elsewhere
	} {
		got, note := FitWorkers(test.asked, test.limit)
		noted := strings.HasPrefix(note, "-max-memory "+test.limit+" has room for ")
		if got != test.want || noted != (test.want < test.asked) {
			t.Errorf("-max-memory %q: %d of %d workers, noted %q", test.limit, got, test.asked, note)
		}
	}
	if got, note := FitWorkers(0, "64MiB"); runtime.GOMAXPROCS(0) > 1 && (got != 1 || note == "") || runtime.GOMAXPROCS(0) == 1 && got != 0 {
		t.Errorf("of %d processors %d workers, noted %q", runtime.GOMAXPROCS(0), got, note)
	}
}
