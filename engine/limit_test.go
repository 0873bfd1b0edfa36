package engine

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// longRules are robots.txt files with five rules of 10 kB each, and URLs that they disallow, in random order.
func longRules(origins, urls int) (all []robots.Response, log []string) {
	for i := range origins {
		body := []byte("User-agent: *\n")
		for k := range 5 {
			body = fmt.Appendf(body, "Disallow: /%d/own%d%s\n", k, i, strings.Repeat("*", 10_000))
		}
		all = append(all, robots.Response{Origin: robots.Origin(fmt.Sprintf("https://h%d.example", i)), Status: 200, Body: body})
	}
	for i := range urls {
		n := i * 7919 % origins
		log = append(log, fmt.Sprintf("https://h%d.example/%d/own%d/%d", n, i%5, n, i))
	}
	return all, log
}

// TestLimitLongRules checks that with 32 workers and rules of 10 kB, the memory of a run always stays below the limit,
// and the rows equal those without a limit: with the cache, and with one that drops everything.
func TestLimitLongRules(t *testing.T) {
	const limit = 64 << 20
	origins, urls := 400, 20_000
	if testing.Short() {
		urls = 5_000
	}
	all, log := longRules(origins, urls)
	name := makePack(t, robots.Google, all...)
	want := ""
	for _, how := range []string{"unlimited", "cache", "no cache"} {
		opt := StoreOptions{Dialect: robots.Google}
		if how != "unlimited" {
			opt.MaxMemory = limit
		}
		open := openPack
		if how == "no cache" {
			open = openDropping
		}
		s := open(t, name, opt)
		src, dst := newSource(1000, log), &longSink{lookup: s.NewLookup()}
		dst.rows.Grow(64 * urls)
		dst.base = liveHeap()
		if _, err := Run(t.Context(), s, src, dst, Options{Workers: 32}); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: at most %d MiB in use, %d of %d rules were copied with their value", how, dst.most>>20, dst.whole, dst.rules)
		switch {
		case how == "unlimited":
			want = dst.rows.String()
		case dst.rows.String() != want:
			t.Errorf("%s: other rows", how)
		case dst.most > limit:
			t.Errorf("%s: %d MiB are in use, the limit is %d", how, dst.most>>20, limit>>20)
		}
		if strings.Count(want, "\n") != urls {
			t.Fatalf("%d rows", strings.Count(want, "\n"))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A longSink records the rule of each row, and sometimes the memory in use.
type longSink struct {
	lookup       *Lookup
	rows         strings.Builder
	base, most   int64
	rules, whole int
	writes       int
}

func (s *longSink) Write(b *Batch) error {
	s.lookup.Use(b)
	for _, r := range b.winners.rules {
		s.rules++
		if r.hasValue {
			s.whole++
		}
	}
	for i, v := range b.Verdicts {
		r := s.lookup.Rule(b.Rulings[i], 0, v.Rule)
		fmt.Fprintf(&s.rows, "%s %d %t %d %.12s\n", s.lookup.Origin(b.Sites[i]), b.Lines[i], r.Allow, r.Line, r.Value)
	}
	if s.writes++; s.writes%8 == 0 {
		s.most = max(s.most, liveHeap()-s.base)
	}
	return nil
}

func (s *longSink) Close() error { return nil }

// liveHeap returns the number of bytes of the heap in use.
func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestEnoughMemory checks that with the limit that EnoughMemory returns no rules are loaded again, that with half of
// the room for rules some are, and that it returns a limit in any case, even without room for rules.
func TestEnoughMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles rules 200,000 times")
	}
	const origins, urls, run = 1500, 60_000, 96 << 20 // memory of a run, except for rules
	var all []robots.Response
	for i := range origins {
		body := fmt.Sprintf("User-agent: *\nDisallow: /own%d%s\n", i, strings.Repeat("x*", 2500))
		all = append(all, robots.Response{Origin: robots.Origin(fmt.Sprintf("https://h%d.example", i)), Status: 200, Body: []byte(body)})
	}
	log := make([]string, urls)
	for i := range log {
		log[i] = fmt.Sprintf("https://h%d.example/own%d", i*7919%origins, i)
	}
	name := makePack(t, robots.Google, all...)
	enough := func(limit int64) int64 {
		s := openPack(t, name, StoreOptions{Dialect: robots.Google, MaxMemory: limit})
		e := s.NewEvaluator()
		for first := 0; first < urls; first += 1000 {
			b := &Batch{}
			for _, url := range log[first : first+1000] {
				appendRow(b, url, 1)
			}
			e.Evaluate(b)
		}
		n, failed := s.EnoughMemory(), s.Err()
		if err := errors.Join(failed, s.Close()); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, limit := range []int64{1, run + 8<<20} {
		named := enough(limit)
		if named <= run {
			t.Fatalf("EnoughMemory is %d after a run with a limit of %d", named, limit)
		}
		if again := enough(named); again != 0 {
			t.Errorf("with a limit of %d rules are dropped, although a run with %d said that it is enough; another run says %d", named, limit, again)
		}
		if half := int64(run) + (named-run)/2; enough(half) == 0 {
			t.Errorf("a run with a limit of %d says that %d are needed, but %d are enough", limit, named, half)
		}
	}
}

// TestLimitHuge checks that a limit beyond any memory uses none: the counters of the cache depend on the number of
// texts in the pack.
func TestLimitHuge(t *testing.T) {
	all, _ := longRules(3, 0)
	name := makePack(t, robots.Google, all...)
	base := liveHeap()
	s := openPack(t, name, StoreOptions{Dialect: robots.Google, MaxMemory: math.MaxInt64})
	if used := liveHeap() - base; used > 8<<20 {
		t.Errorf("%d MiB for a pack of three texts", used>>20)
	}
	runtime.KeepAlive(s)
}

// TestWinners checks that rules are copied up to the budget, and their values up to half of it.
func TestWinners(t *testing.T) {
	long, short := strings.Repeat("x", 1000), "/y"
	for _, test := range []struct {
		most  int64
		rules []string
		want  string // for each rule: w if copied with its value, l if without, - if not copied
	}{
		{0, []string{short}, "-"},
		{winnerOverhead - 1, []string{short}, "-"},
		{winnerOverhead, []string{short}, "l"},
		{2 * (winnerOverhead + 2), []string{short, short, short}, "wl-"},
		{3000, []string{long, long, short}, "wlw"},
		{1 << 20, []string{long, long, short}, "www"},
	} {
		h := winners{rules: map[winner]winningRule{}}
		for range 2 { // reset makes it like new
			h = h.reset()
			got := ""
			for i, text := range test.rules {
				h.addWinner(winner{rule: int32(i)}, robots.Rule{Line: 7, Value: text}, test.most)
				r, ok := h.rules[winner{rule: int32(i)}]
				switch {
				case !ok:
					got += "-"
				case r.hasValue && r.Value == text && r.Line == 7:
					got += "w"
				case r.Value == "" && r.Line == 7:
					got += "l"
				}
			}
			if got != test.want || h.size > test.most {
				t.Errorf("with a budget of %d bytes, %d were copied: %s, want %s", test.most, h.size, got, test.want)
			}
		}
	}
}
