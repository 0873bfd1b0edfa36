package aggregate

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/testdata/repcase"
	"github.com/robobatch/robobatch/robots"
)

// preferring returns a store with the given number of origins, each with a robots.txt that states preferences.
func preferring(t *testing.T, bodies, agents []string) *engine.Store {
	t.Helper()
	store, err := engine.BuildStore(func(yield func(robots.Response, error) bool) {
		for n, body := range bodies {
			if !yield(robots.Response{Origin: robots.Origin(fmt.Sprintf("https://%d.com", n)), Status: 200, Body: []byte(body), Name: "x"}, nil) {
				return
			}
		}
	}, engine.StoreOptions{Agents: agents, Directives: robots.PreferenceLines()})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// combined returns the preference of a robots.txt for a use and a path, according to the reference.
func combined(body, agent, path string, use robots.Use) robots.Preference {
	const d = robots.RFC9309
	who := robots.NewAgent(agent, d)
	bound := robots.PreferencesOf([]byte(body), d).Select(who)
	rules, _ := robots.Parse([]byte(body), d).Select(who)
	normal, _ := d.Path([]byte(path), nil)
	best := robots.Decide(rules, normal, d)
	answer := bound.Decide(normal, best < 0 || rules[best].Allow || d.AlwaysAllowed(normal))
	return answer.Uses()[use]
}

// TestPreferenceChanges compares the counts for random old and new files with those of the reference, for several
// numbers of workers and batch sizes.
func TestPreferenceChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 6))
	agents := []string{"*", "a", "b"}
	const origins = 60
	var before, after, urls []string
	for range origins {
		before, after = append(before, repcase.RandomPreferences(r)), append(after, repcase.RandomPreferences(r))
	}
	copy(after[:origins/4], before) // these did not change
	type key struct {
		agent    string
		use      robots.Use
		from, to robots.Preference
		family   string // "" is all
	}
	want := map[key]int64{}
	for range 5000 {
		n, path := r.IntN(origins), repcase.RandomPath(r)
		path, _, _ = strings.Cut(path, "#")
		urls = append(urls, fmt.Sprintf("https://%d.com%s", n, path))
		for _, agent := range agents {
			changed := map[key]bool{}
			for use := range robots.NumUses {
				k := key{agent: agent, use: use, from: combined(before[n], agent, path, use), to: combined(after[n], agent, path, use)}
				if k.from != k.to {
					changed[k], changed[key{agent: agent, use: AnyUse}] = true, true
				}
			}
			for k := range changed {
				want[k]++
				k.family = string(Family([]byte(path)))
				want[k]++
			}
		}
	}
	if len(want) < 50 {
		t.Fatalf("only %d changes", len(want))
	}
	old, now := preferring(t, before, agents), preferring(t, after, agents)
	for _, way := range []struct{ workers, batch int }{{1, 5000}, {3, 77}} {
		changes := NewPreferenceChanges(now, old, 0, t.TempDir())
		if _, err := engine.Run(t.Context(), now, &rowSource{urls: urls, batch: way.batch}, changes, engine.Options{Workers: way.workers, Old: old}); err != nil {
			t.Fatal(err)
		}
		if err := changes.Finish(); err != nil {
			t.Fatal(err)
		}
		got := map[key]int64{}
		for _, c := range changes.Report(1000) {
			k := key{agent: c.Agent, use: c.Use, from: c.From, to: c.To}
			got[k] = c.Requests
			for _, f := range c.Families {
				k.family = f.Text
				got[k] = f.Requests
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d workers: %d changes, want %d: %.500v, want %.500v", way.workers, len(got), len(want), fmt.Sprint(got), fmt.Sprint(want))
		}
		changes.CloseTemp()
		short := changes.Report(1)
		if c := short[0]; len(c.Families) != 1 || c.MoreFamilies == 0 {
			t.Errorf("%+v", c)
		}
	}
}
