package memory

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/sitemap"
)

// TestParse checks which texts are valid sizes, and the errors about other texts.
func TestParse(t *testing.T) {
	const small, large, none = "use 64MiB or more", "use none for no limit", "is not a size: write 256MiB, 1GiB or none"
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

// TestDivide checks that the number of workers is the requested one, or a lower one with a note if the memory limit
// is too small for it, and that the parts never exceed the limit.
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
		r := Run{Plan: Plan{Stream: test.out == nil}, Limit: limit, Typed: test.limit, Workers: test.asked, Agents: test.agents, Out: test.out}
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

// TestDivideTooSmall checks that a limit that is too small for a run is an error, and that the limit named in the
// error is large enough.
func TestDivideTooSmall(t *testing.T) {
	for name, r := range map[string]Run{
		"index":  {Index: 30 << 20, Agents: 1, Out: &output.Options{}},
		"lists":  {Lists: 30 << 20, Agents: 1, Out: &output.Options{}},
		"wide":   {Agents: 45, Out: &output.Options{Layout: output.Wide}},
		"arrow":  {Index: 30 << 20, Agents: 1, Out: &output.Options{Format: output.ArrowFile}},
		"sorted": {Index: 100 << 20, Agents: 1, Out: &output.Options{Sort: output.SortOrigin}},
		"urls":   {Sitemaps: 30 << 20, Agents: 1, Out: &output.Options{}},
		"kept":   {Agents: 1, Out: &output.Options{Kept: make([]output.KeptColumn, 20)}},
	} {
		r.Limit = 64 << 20
		_, err := r.Divide()
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if r.Index > 0 != strings.Contains(err.Error(), " of it for the index of the pack") || r.Lists > 0 != strings.Contains(err.Error(), ", 30MiB of it for lists of addresses") ||
			r.Sitemaps > 0 != strings.Contains(err.Error(), ", 30MiB of it for the URLs of sitemaps") {
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

// TestLists checks that address lists reduce the memory for rules by their size, and by what each batch needs in
// addition.
func TestLists(t *testing.T) {
	r := Run{Limit: 512 << 20, Agents: 1, Workers: 1, Out: &output.Options{}}
	without, err := r.Divide()
	if err != nil {
		t.Fatal(err)
	}
	r.Lists = 100 << 20
	with, err := r.Divide()
	if more := with.Reserved - without.Reserved; err != nil || more < r.Lists+networks || more > r.Lists+networks+2*mib {
		t.Errorf("lists of 100 MiB reserve %d bytes more, error %v", more, err)
	}
	if with.Rules != without.Rules {
		t.Errorf("the limit of the store is %d, not %d", with.Rules, without.Rules)
	}
}

// TestSitemapRoom checks that sitemap URLs may use all memory that a limit leaves, exactly to the byte, and that ten
// million URLs fit a limit of 512 MiB.
func TestSitemapRoom(t *testing.T) {
	for _, plan := range Plans {
		r := Run{Plan: plan, Limit: 1 << 30, Typed: "1GiB", Agents: 1, Out: &output.Options{}}
		room := r.SitemapRoom()
		for more, fits := range map[int64]bool{0: true, 1: false} {
			r.Sitemaps = room + more
			if _, err := r.Divide(); (err == nil) != fits {
				t.Errorf("%s: %d bytes: %v", plan.Run, r.Sitemaps, err)
			}
		}
	}
	r := Run{Plan: PlanOf("robobatch"), Limit: 512 << 20, Agents: 1, Out: &output.Options{}}
	if room := r.SitemapRoom(); room < sitemap.MostURLs*sitemap.BytesPerURL {
		t.Errorf("there are %d bytes", room)
	}
}

// TestPlanTooSmall checks, for each plan, that the error about a limit that is too small names the typed size, and
// the smallest multiple of 16 MiB that is enough.
func TestPlanTooSmall(t *testing.T) {
	for _, plan := range Plans {
		r := Run{Plan: plan, Limit: 60 << 20, Typed: "60MiB", Index: 50 << 20, Agents: 1, Out: &output.Options{}}
		_, err := r.Divide()
		if err == nil || !strings.HasPrefix(err.Error(), "60MiB is less than this run needs, 50MiB of it for the index of the pack: use ") {
			t.Fatalf("%s: error %v", plan.Run, err)
		}
		_, rest, _ := strings.Cut(err.Error(), ": use ")
		text, _, _ := strings.Cut(rest, " or more")
		whole, err := Parse(text)
		if err != nil || whole%step != 0 {
			t.Fatalf("%s: %q is asked for, %v", plan.Run, text, err)
		}
		for limit, enough := range map[int64]bool{whole: true, whole - step: false} {
			r.Limit = limit
			if _, err := r.Divide(); (err == nil) != enough {
				t.Errorf("%s: %d bytes: %v", plan.Run, limit, err)
			}
		}
	}
}

// TestPlans checks, for each plan, that its parts do not exceed the limit, and that Go's runtime gets the limit.
func TestPlans(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	const limit = 512 << 20
	for _, plan := range Plans {
		r := Run{Plan: plan, Limit: limit, Agents: 1, Workers: 8}
		p, err := r.Divide()
		if err != nil {
			t.Fatal(err)
		}
		rules := p.Rules
		if plan.Old {
			rules += p.Rules - p.Reserved
		}
		if sum := p.Page + p.Counts + rules; sum > limit || sum < limit-1 || p.Reserved < p.Changes {
			t.Errorf("%s: the parts are %d of %d bytes: %+v", plan.Run, sum, int64(limit), p)
		}
		if (p.Page > 0) != (plan.Page > 0) || (p.Counts > 0) != (plan.Counts > 0) || (p.Changes > 0) != plan.Changes {
			t.Errorf("%s: %+v", plan.Run, p)
		}
		if r.SetLimit(p.Rules); debug.SetMemoryLimit(-1) != limit-Program {
			t.Errorf("%s: the runtime has %d bytes", plan.Run, debug.SetMemoryLimit(-1))
		}
	}
}
