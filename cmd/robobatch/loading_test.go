package main

import (
	"errors"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// TestParseMemory holds what is a size, and that others are told apart.
func TestParseMemory(t *testing.T) {
	const small, large, none = "use 64MiB or more", "write none for no limit", "is no size: write 256MiB, 1GiB or none"
	for text, want := range map[string]any{
		"": int64(0), "none": int64(-1), "64MiB": int64(64 << 20), "1.5GiB": int64(3 << 29), "1TiB": int64(1 << 40), "1TB": int64(1e12), "1t": int64(1 << 40), "2 gb": int64(2e9),
		"64MB": small, "0": small, "1": small, "8388608TiB": large, "99999999999999999999GiB": large, "1e999": large,
		"lots": none, "-1GiB": none, "nanGiB": none, "1PiB": none, "GiB": none,
	} {
		switch got, err := parseMemory(text); want := want.(type) {
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

// TestDialectFlags holds that dialects are told by the flags in which they differ.
func TestDialectFlags(t *testing.T) {
	const wide, ignored, blank = robots.WideTokens, robots.EmptyAllowIgnored, robots.BlankEndsSection
	for _, test := range []struct {
		d, other    robots.Dialect
		flags, back string
	}{
		{robots.Google, robots.RFC9309, "-dialect google", "-dialect rfc9309"},
		{robots.Google | wide, robots.Google, "-agent-chars extended", "-agent-chars standard"},
		{robots.Google, robots.Yandex | ignored | wide, "-dialect google -agent-chars standard", "-dialect yandex -agent-chars extended -yandex-empty-allow ignore"},
		{robots.Yandex | blank, robots.Yandex | ignored, "-yandex-empty-allow disallow -yandex-strict-blank", "-yandex-empty-allow ignore -yandex-strict-blank=false"},
	} {
		if got, back := dialectFlags(test.d, test.other), dialectFlags(test.other, test.d); got != test.flags || back != test.back {
			t.Errorf("%v against %v: %q and %q", test.d, test.other, got, back)
		}
	}
}

// TestCountFiles holds that a file counts once it was read to its end.
func TestCountFiles(t *testing.T) {
	broken := errors.New("broken")
	var all iter.Seq2[robots.Response, error] = func(yield func(robots.Response, error) bool) {
		for _, name := range []string{"a", "a", "b", "c", "c"} {
			if !yield(robots.Response{Name: name}, nil) {
				return
			}
		}
		yield(robots.Response{Name: "c"}, broken)
	}
	var files atomic.Int64
	var got []int64
	var last error
	for _, err := range countFiles(t.Context(), all, &files) {
		got, last = append(got, files.Load()), err
	}
	if want := []int64{0, 0, 1, 2, 2, 2}; !slices.Equal(got, want) || !errors.Is(last, broken) || files.Load() != 3 {
		t.Errorf("counted %d, want %d, and %d at the end; error %v", got, want, files.Load(), last)
	}
}

// TestFitWorkers holds that there are as many workers as were asked for, or fewer and a note if a limit of memory has no room.
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
		got, note := fitWorkers(test.asked, test.limit)
		noted := strings.HasPrefix(note, "-max-memory "+test.limit+" has room for ")
		if got != test.want || noted != (test.want < test.asked) {
			t.Errorf("-max-memory %q: %d of %d workers, noted %q", test.limit, got, test.asked, note)
		}
	}
	if got, note := fitWorkers(0, "64MiB"); runtime.GOMAXPROCS(0) > 1 && (got != 1 || note == "") || runtime.GOMAXPROCS(0) == 1 && got != 0 {
		t.Errorf("of %d processors %d workers, noted %q", runtime.GOMAXPROCS(0), got, note)
	}
}
