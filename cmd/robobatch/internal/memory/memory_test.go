package memory

import (
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output"
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

// TestDivide holds that there are as many workers as were asked for, or fewer and a note if a limit
// of memory has no room, and that the parts never pass the limit.
func TestDivide(t *testing.T) {
	long := &output.Options{Workers: 1}
	for _, test := range []struct {
		limit       string
		out         *output.Options
		agents      int
		asked, want int
	}{
		{"", long, 1, 32, 32},
		{"", long, 1, 0, 0},
		{"none", long, 1, 32, 32},
		{"64MiB", long, 1, 1, 1},
		{"64MiB", long, 1, 32, 1},
		{"256MiB", long, 1, 4, 4},
		{"256MiB", long, 1, 32, 14},
		{"256MiB", &output.Options{Layout: output.Wide}, 45, 32, 6},
		{"64MiB", &output.Options{Sort: output.SortOrigin}, 1, 1, 1},
		{"100000GiB", long, 1, 1024, 1024},
		{"100000GiB", nil, 1, 1024, 1024},
	} {
		limit, err := Parse(test.limit)
		if err != nil {
			t.Fatal(err)
		}
		r := Run{Limit: limit, Workers: test.asked, Agents: test.agents, Out: test.out}
		got, err := r.Divide()
		noted := strings.HasPrefix(got.Note, "-max-memory "+test.limit+" has room for ")
		if err != nil || got.Workers != test.want || noted != (test.want < test.asked) {
			t.Errorf("-max-memory %q: %d of %d workers, want %d, noted %q, error %v", test.limit, got.Workers, test.asked, test.want, got.Note, err)
		}
		if limit > 0 && Program+got.Reserved+engine.MinRules > limit {
			t.Errorf("-max-memory %q: %d bytes are reserved", test.limit, got.Reserved)
		}
	}
}

// TestDivideTooSmall holds that a run for which a limit has no room is refused, and that it is not
// with the limit that the error names.
func TestDivideTooSmall(t *testing.T) {
	for name, r := range map[string]Run{
		"index":  {Index: 30 << 20, Agents: 1, Out: &output.Options{}},
		"wide":   {Agents: 45, Out: &output.Options{Layout: output.Wide}},
		"arrow":  {Index: 30 << 20, Agents: 1, Out: &output.Options{Format: output.ArrowFile}},
		"bloom":  {Agents: 1, Out: &output.Options{Bloom: []string{"url"}, Level: 22}},
		"sorted": {Index: 100 << 20, Agents: 1, Out: &output.Options{Sort: output.SortOrigin}},
		"kept":   {Agents: 1, Out: &output.Options{Kept: make([]output.KeptColumn, 20)}},
	} {
		r.Limit = 64 << 20
		_, err := r.Divide()
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if r.Index > 0 != strings.Contains(err.Error(), " of it for the index of the pack") {
			t.Errorf("%s: error %v", name, err)
		}
		_, rest, _ := strings.Cut(err.Error(), ": use ")
		text, _, _ := strings.Cut(rest, " or more")
		if r.Limit, err = Parse(text); err != nil || r.Limit <= 64<<20 || r.Limit >= 256<<20 {
			t.Fatalf("%s: %q is asked for, %v", name, text, err)
		}
		if _, err := r.Divide(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		r.Limit -= step
		if _, err := r.Divide(); err == nil {
			t.Errorf("%s: less is enough", name)
		}
	}
}

// TestShareTooSmall holds that the error of a share that is too small names what was typed, and the least
// multiple of 16 MiB whose share is enough.
func TestShareTooSmall(t *testing.T) {
	all := Share{Typed: "100MB"}
	for name, share := range map[string]Share{"all": all, "3/4": all.Less(1, 4), "half": all.Less(1, 2), "3/8": all.Less(1, 4).Less(1, 2)} {
		r := Run{Limit: 40 << 20, Share: share, Index: 50 << 20, Agents: 1, Out: &output.Options{}}
		_, err := r.Divide()
		if err == nil || !strings.HasPrefix(err.Error(), "100MB is less than this run needs, 50MiB of it for the index of the pack: use ") {
			t.Fatalf("%s: error %v", name, err)
		}
		_, rest, _ := strings.Cut(err.Error(), ": use ")
		text, _, _ := strings.Cut(rest, " or more")
		whole, err := Parse(text)
		if err != nil || whole%step != 0 {
			t.Fatalf("%s: %q is asked for, %v", name, text, err)
		}
		for limit, enough := range map[int64]bool{whole: true, whole - step: false} {
			r.Limit = limit * (sixteenths - share.Taken) / sixteenths
			if _, err := r.Divide(); (err == nil) != enough {
				t.Errorf("%s: %d bytes: %v", name, limit, err)
			}
		}
	}
}
