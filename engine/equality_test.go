package engine_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/robots"
)

var (
	agents   = []string{"*", "Googlebot", "GPTBot"}
	dialects = []robots.Dialect{robots.RFC9309, robots.Google}
)

// TestEqualityQuickstart compares every verdict on testdata/quickstart with the reference.
func TestEqualityQuickstart(t *testing.T) {
	testEquality(t, quickstart(t), 1, 1)
}

// TestEqualityShared does the same for all real data: 666,620 URLs, or every 16th of them with -short.
func TestEqualityShared(t *testing.T) {
	data, every := shared(t), 1
	if testing.Short() {
		every = 40
	}
	testEquality(t, data, 2, every)
}

// testEquality compares the verdicts on every n-th URL of the first logs with a reference that shares no code with the
// engine: it splits each URL, selects the file of its origin, and tries the rules one by one.
func testEquality(t *testing.T, data dataset, logs, every int) {
	t.Helper()
	for _, d := range dialects {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			ref := newReference(data, d)
			store := data.store(t, engine.StoreOptions{Dialect: d, Agents: agents})
			eval := store.NewEvaluator()
			src := open(t, data.logs[:logs], ingest.LogOptions{})
			var b engine.Batch
			for seen := 0; src.Next(&b); seen += b.Len() {
				eval.Evaluate(&b)
				if len(b.Sites) != b.Len() || len(b.Verdicts) != b.Len()*len(agents) {
					t.Fatalf("%d sites and %d verdicts for %d rows", len(b.Sites), len(b.Verdicts), b.Len())
				}
				for i := (every - seen%every) % every; i < b.Len(); i += every {
					ref.compare(t, store, &b, i)
				}
			}
			if src.Err() != nil {
				t.Fatal(src.Err())
			}
			t.Log(ref.summary())
		})
	}
}

// An answer contains everything that the engine returns for a URL and an agent.
type answer struct {
	origin string
	access engine.Access
	reason engine.Reason
	rule   robots.Rule // without Pattern; zero if none decided
}

// A reference answers with robots.Decide.
type reference struct {
	dialect robots.Dialect
	files   map[robots.Origin]*referenceFile
	origin  []byte // of the last URL
	path    []byte // memory for its path
	tally   [][engine.NumReasons]int
	denied  []int
	faults  int
}

// A referenceFile is a parsed file, with the rules for each agent.
type referenceFile struct {
	rules [][]robots.Rule
	named []bool // whether a group names the agent, or "*"
}

func newReference(data dataset, d robots.Dialect) *reference {
	ref := &reference{
		dialect: d, files: map[robots.Origin]*referenceFile{},
		tally: make([][engine.NumReasons]int, len(agents)), denied: make([]int, len(agents)),
	}
	for _, r := range data.responses {
		f, parsed := &referenceFile{}, robots.Parse(r.Body, d)
		for _, name := range agents {
			rules, ok := parsed.Select(robots.NewAgent(name, d))
			f.rules = append(f.rules, rules)
			f.named = append(f.named, ok)
		}
		ref.files[r.Origin] = f
	}
	return ref
}

// answers fills the answers for a URL, one for each agent.
func (ref *reference) answers(url []byte, out []answer) {
	for a := range out {
		out[a] = answer{access: engine.Unknown, reason: engine.ReasonBadURL}
	}
	u, err := robots.SplitURL(url)
	if err != nil {
		return
	}
	if ref.origin, err = robots.AppendOrigin(ref.origin[:0], u); err != nil {
		return
	}
	f, known := ref.files[robots.Origin(ref.origin)]
	var path []byte
	path, ref.path = ref.dialect.Path(u.Path, ref.path)
	always := ref.dialect.AlwaysAllowed(path)
	for a := range out {
		out[a] = answer{origin: string(ref.origin), access: engine.Allowed}
		switch {
		case !known:
			out[a].reason = engine.ReasonNoRobots
		case always:
			out[a].reason = engine.ReasonRobotsTxt
		case !f.named[a]:
			out[a].reason = engine.ReasonNoGroup
		case a > 0 && sameRules(f.rules[a], f.rules[0]) && f.named[0]:
			out[a] = out[0]
		default:
			out[a].decide(f.rules[a], path, ref.dialect)
		}
	}
}

// sameRules reports whether two lists are the rules of one group.
func sameRules(a, b []robots.Rule) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func (w *answer) decide(rules []robots.Rule, path []byte, d robots.Dialect) {
	i := robots.Decide(rules, path, d)
	if i < 0 {
		w.reason = engine.ReasonDefault
		return
	}
	w.reason = engine.ReasonRule
	w.rule = rules[i]
	w.rule.Pattern = ""
	if !rules[i].Allow {
		w.access = engine.Denied
	}
}

// compare compares the verdicts of row i with the answers of the reference.
func (ref *reference) compare(t *testing.T, store *engine.Store, b *engine.Batch, i int) {
	t.Helper()
	want := make([]answer, len(agents))
	ref.answers(b.URL(i), want)
	for a, want := range want {
		if got := answerOf(store, b, i, a); got != want {
			t.Errorf("line %d, %q, agent %s:\n got %+v\nwant %+v", b.Lines[i], b.URL(i), agents[a], got, want)
			if ref.faults++; ref.faults == 20 {
				t.Fatal("and so on")
			}
		}
		ref.tally[a][want.reason]++
		if want.access == engine.Denied {
			ref.denied[a]++
		}
	}
}

// answerOf returns the answer in row i of a batch for agent a.
func answerOf(store *engine.Store, b *engine.Batch, i, a int) answer {
	v := b.Verdicts[i*len(store.Options().Agents)+a]
	got := answer{access: v.Access, reason: v.Reason}
	stray, isStray := b.Sites[i].Stray()
	switch {
	case b.Sites[i] == engine.NoSite:
	case isStray:
		got.origin = string(b.Strays[stray])
	default:
		look := store.NewLookup()
		got.origin = string(look.Origin(b.Sites[i]))
		if v.Rule != engine.NoRule {
			got.rule = look.Rule(b.Rulings[i], a, v.Rule)
		}
	}
	return got
}

// summary describes how much was compared.
func (ref *reference) summary() string {
	var w strings.Builder
	for a, tally := range ref.tally {
		sum := 0
		for _, n := range tally {
			sum += n
		}
		fmt.Fprintf(&w, "\n%s, agent %s: %d verdicts equal the reference's, %d denied:", ref.dialect, agents[a], sum, ref.denied[a])
		for reason, n := range tally {
			if n > 0 {
				fmt.Fprintf(&w, " %s %d", engine.Reason(reason), n)
			}
		}
	}
	return w.String()
}

// TestShuffled checks that a log in the order of hosts and the same lines in random order have the same counts.
func TestShuffled(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 733,240 URLs twice")
	}
	data := shared(t)
	for _, d := range dialects {
		store := data.store(t, engine.StoreOptions{Dialect: d, Agents: agents})
		var stats [2]engine.Stats
		for i, log := range []string{data.logs[0], data.logs[2]} {
			var err error
			stats[i], err = engine.Run(context.Background(), store, open(t, []string{log}, ingest.LogOptions{}), discard{}, engine.Options{})
			if err != nil {
				t.Fatal(err)
			}
		}
		if !reflect.DeepEqual(stats[0], stats[1]) || stats[0].URLs == 0 {
			t.Errorf("%s: grouped by host %+v, but in random order %+v", d, stats[0], stats[1])
		}
	}
}

// discard is a Sink that discards everything.
type discard struct{}

func (discard) Write(*engine.Batch) error { return nil }
func (discard) Close() error              { return nil }
