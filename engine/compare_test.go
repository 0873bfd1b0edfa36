package engine

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// A comparingSink compares the rows of a run with two stores with the verdict of each store on the URL.
type comparingSink struct {
	t            *testing.T
	old, now     *Store // with all rules in memory
	byOld, byNow *Lookup
	rows         int
	changes      [NumChanges]int
}

func (s *comparingSink) Write(b *Batch) error {
	s.byOld.Use(b.Old)
	s.byNow.Use(b)
	agents := s.now.Options().Agents
	for i := range b.Len() {
		s.rows++
		for a, agent := range agents {
			k := i*len(agents) + a
			was := s.check(s.old, s.byOld, b.Old, i, a)
			is := s.check(s.now, s.byNow, b, i, a)
			want := Same
			switch {
			case is.Access == Denied && was.Access != Denied:
				want = Closed
			case is.Access != Denied && was.Access == Denied:
				want = Opened
			case is.Access != was.Access:
				want = OtherRule
			case is.Rule.String() == was.Rule.String():
			case s.has(s.byOld, b.Old.Rulings[i], a, is.Rule) && s.has(s.byNow, b.Rulings[i], a, was.Rule): // a tie
			default:
				want = OtherRule
			}
			s.changes[want]++
			if b.Changes[k] != want {
				s.t.Fatalf("%s for %s is %v, want %v: %+v, %+v", b.URL(i), agent, b.Changes[k], want, was, is)
			}
		}
	}
	return nil
}

// check compares a verdict with a store's verdict on the URL, which it returns.
func (s *comparingSink) check(store *Store, lookup *Lookup, b *Batch, row, agent int) Answer {
	names := store.Options().Agents
	want, err := store.Verdict(string(b.URL(row)), names[agent])
	if err != nil {
		s.t.Fatal(err)
	}
	v := b.Verdicts[row*len(names)+agent]
	got := Answer{Access: v.Access, Reason: v.Reason}
	if v.Rule != NoRule {
		got.Rule = lookup.Rule(b.Rulings[row], agent, v.Rule)
	}
	if !sameAnswers(&got, &want) {
		s.t.Fatalf("%s for %s is %+v, want %+v", b.URL(row), names[agent], got, want)
	}
	return want
}

// has reports whether a store has a rule with this text for an agent.
func (s *comparingSink) has(l *Lookup, id RulingID, agent int, r robots.Rule) bool {
	all, _ := l.Rules(id, agent)
	return slices.ContainsFunc(all, func(o robots.Rule) bool { return o.String() == r.String() })
}

func (s *comparingSink) Close() error { return nil }

// A changeSink collects changes.
type changeSink struct{ all []Change }

func (s *changeSink) Write(b *Batch) error {
	s.all = append(s.all, b.Changes...)
	return nil
}

func (s *changeSink) Close() error { return nil }

// TestCompareOrder checks that rules in another order are not a change, although another of two rules with the same
// length decides.
func TestCompareOrder(t *testing.T) {
	const origin = "https://a.com"
	for now, want := range map[string]Change{
		"Disallow: /*bc\nDisallow: /a*c\n":               Same,
		"Disallow: /*bc\n":                               OtherRule,
		"Allow: /*bc\nDisallow: /a*c\n":                  Opened,
		"Disallow: /*b\nDisallow: /a*c\nDisallow: /a*\n": Same,
	} {
		was := buildStore(t, StoreOptions{}, origin, "User-agent: *\nDisallow: /a*c\nDisallow: /*bc\n")
		is := buildStore(t, StoreOptions{}, origin, "User-agent: *\n"+now)
		sink := new(changeSink)
		if _, err := Run(t.Context(), is, newSource(9, []string{origin + "/abc", origin + "/abc"}), sink, Options{Old: was}); err != nil {
			t.Fatal(err)
		}
		if got := sink.all; !slices.Equal(got, []Change{want, want}) {
			t.Errorf("%q: %v, want %v", now, got, want)
		}
	}
}

// A run with two stores has the verdicts of each store, from files and from packs, whatever stays in memory, and the
// changes are their differences.
func TestCompareRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 17))
	var urls []string
	for _, origin := range []string{"https://a.com", "https://a.com:8080", "https://a.com-b.com", "http://a.com", "https://b.com", "https://c.com"} {
		for _, path := range []string{"/", "/private/x", "/a/b", "/x1.css", "/x%2A?sid=1&b", "/robots.txt", "/xay", "/q/7/z"} {
			urls = append(urls, origin+path)
		}
	}
	urls = append(urls, "nonsense", "https://a.com:x/")
	var changes [NumChanges]int
	for n := range 15 {
		opt := StoreOptions{Dialect: robots.Google, Agents: []string{"*", "a", "Googlebot-News"}, Missing: Missing(n % 3)}
		all := randomResponses(rng)
		next := slices.Clone(all)
		next = append(next[rng.IntN(len(next)+1):], randomResponses(rng)...)
		old, now := storeOf(t, opt, all...), tryStore(opt, next...)
		if now == nil {
			continue // two captures without a time
		}
		rng.Shuffle(len(urls), func(i, j int) { urls[i], urls[j] = urls[j], urls[i] })
		ways := map[string]*Store{"files": now}
		maps.Copy(ways, waysToOpen(t, makePack(t, opt.Dialect, next...), opt))
		before := waysToOpen(t, makePack(t, opt.Dialect, all...), opt)
		before["files"] = old
		for _, way := range slices.Sorted(maps.Keys(ways)) {
			for _, workers := range []int{1, 3} {
				sink := &comparingSink{t: t, old: old, now: now, byOld: before[way].NewLookup(), byNow: ways[way].NewLookup()}
				src := newSource(7, slices.Repeat(urls, 3))
				if _, err := Run(context.Background(), ways[way], src, sink, Options{Workers: workers, Old: before[way]}); err != nil {
					t.Fatal(fmt.Errorf("%s: %w", way, err))
				}
				if sink.rows != 3*len(urls) {
					t.Fatalf("%d rows of %d", sink.rows, 3*len(urls))
				}
				for c, n := range sink.changes {
					changes[c] += n
				}
			}
		}
	}
	for c, n := range changes {
		if n == 0 {
			t.Errorf("nothing is %v", Change(c))
		}
	}
}

// tryStore returns a store of responses, or nil if they contradict each other.
func tryStore(opt StoreOptions, all ...robots.Response) *Store {
	s, err := BuildStore(sequence(all), opt)
	if err != nil {
		return nil
	}
	return s
}

// With the crawlers of the log, each row is compared for its own crawler.
func TestCompareLogAgents(t *testing.T) {
	opt := StoreOptions{LogAgents: LogAgentsSkip}
	old := buildStore(t, opt, "https://a.com", "User-agent: Googlebot\nDisallow: /x\n\nUser-agent: *\nDisallow: /y\n")
	now := buildStore(t, opt, "https://a.com", "User-agent: *\nDisallow: /y\n")
	b := logBatch([]logRow{
		{"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "https://a.com/x"},
		{"curl/8", "https://a.com/x"},
		{"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "https://a.com/y"},
		{"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.1; +https://openai.com/gptbot)", "https://a.com/y"},
	})
	opts := Options{Old: old, twins: newTwins(old, now)}
	opts.newWorker(now, 1, 1).Evaluate(b)
	if want := []Change{Opened, Closed, Same}; !slices.Equal(b.Changes, want) {
		t.Errorf("%v, want %v", b.Changes, want)
	}
}

// Deciding with two stores does not allocate per row.
func TestCompareAllocs(t *testing.T) {
	opt := StoreOptions{Agents: []string{"*", "b"}}
	old := buildStore(t, opt, "https://a.com", "User-agent: *\nDisallow: /1\n", "https://b.com", "")
	now := buildStore(t, opt, "https://a.com", "User-agent: *\nDisallow: /*1\n", "https://b.com", "")
	opts := Options{Old: old, twins: newTwins(old, now)}
	w, b := opts.newWorker(now, 1, 1), &Batch{}
	n := testing.AllocsPerRun(100, func() {
		b.Reset()
		for _, url := range []string{"https://a.com/1", "https://b.com/1", "https://a.com/x1", "https://a.com/"} {
			b.AddURL([]byte(url), 1)
		}
		w.Evaluate(b)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
