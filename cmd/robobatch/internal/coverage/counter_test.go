package coverage

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/internal/testdata/repcase"
	"github.com/robobatch/robobatch/robots"
)

// dialects are all that differ in patterns.
var dialects = []robots.Dialect{robots.Google, robots.RFC9309, robots.Google2010, robots.Yandex}

// A request is a row of a log.
type request struct {
	url, userAgent string
	at             int64 // engine.NoTime is none
}

// A source gives requests, so many in a batch.
type source struct {
	all  []request
	most int
}

func (s *source) Next(b *engine.Batch) bool {
	b.Reset()
	n := min(s.most, len(s.all))
	for i, r := range s.all[:n] {
		b.AddURL([]byte(r.url), int64(i+1))
		b.UserAgents = append(b.UserAgents, engine.Span{Off: uint32(len(b.Data)), Len: uint32(len(r.userAgent))})
		b.Data = append(b.Data, r.userAgent...)
		b.Times = append(b.Times, r.at)
	}
	s.all = s.all[n:]
	return n > 0
}

func (s *source) Err() error   { return nil }
func (s *source) Close() error { return nil }

// A question is the options of a count.
type question struct {
	engine.StoreOptions
	Options
	workers int
}

// count counts requests by the command's own way.
func count(t *testing.T, bodies map[robots.Origin]string, all []request, q question) *Counter {
	t.Helper()
	store, err := engine.BuildStore(responses(bodies), q.StoreOptions)
	if err != nil {
		t.Fatal(err)
	}
	c := NewCounter(store, q.Options)
	if _, err := engine.Run(t.Context(), store, &source{all, 100 * q.workers}, c, engine.Options{Workers: q.workers}); err != nil {
		t.Fatal(err)
	}
	if err := c.Finish(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseTemp)
	return c
}

func responses(bodies map[robots.Origin]string) iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		for _, o := range slices.Sorted(maps.Keys(bodies)) {
			if !yield(robots.Response{Origin: o, Status: 200, Body: []byte(bodies[o]), Name: string(o)}, nil) {
				return
			}
		}
	}
}

// A slowCounter is a slow reference for Counter: it matches every rule separately with every request.
type slowCounter struct {
	bodies map[robots.Origin]string
	files  map[string]*slowFile // by body
	q      question
}

// A slowFile is a body that was met.
type slowFile struct {
	file    *robots.File
	origins map[robots.Origin]bool
	rules   map[string]map[int32]*Rule // by agent and line
	won     map[string]map[[2]int32]int64
	urls    map[string]bool
}

// addRequest counts a request for an agent.
func (s *slowCounter) addRequest(r request, name string) {
	u, err := robots.SplitURL([]byte(r.url))
	if err != nil {
		return
	}
	origin, _ := robots.AppendOrigin(nil, u)
	body, known := s.bodies[robots.Origin(origin)]
	if !known {
		return
	}
	d := s.q.Dialect
	f := s.files[body]
	if f == nil {
		f = &slowFile{robots.Parse([]byte(body), d), map[robots.Origin]bool{}, map[string]map[int32]*Rule{}, map[string]map[[2]int32]int64{}, map[string]bool{}}
		s.files[body] = f
	}
	f.origins[robots.Origin(origin)] = true
	agent := robots.NewAgent(name, d)
	rules, _ := f.file.Select(agent)
	path, _ := d.Path(u.Path, nil)
	winner := robots.Decide(rules, path, d)
	if d.AlwaysAllowed(path) || robots.IsTxt(path) && winner >= 0 && !rules[winner].Allow { // which counts as disallowed for nobody
		return
	}
	group, by := fmt.Sprint(f.file.Binding(agent)), ""
	if s.q.ByAgent {
		by, group = name, name
	}
	if f.rules[by] == nil {
		f.rules[by], f.won[by] = map[int32]*Rule{}, map[[2]int32]int64{}
	}
	for _, rule := range rules {
		if f.rules[by][rule.Line] == nil {
			f.rules[by][rule.Line] = &Rule{Kind: "rule", Line: rule.Line, Allow: rule.Allow, Rule: fieldtext.Valid(rule.String()), WonBy: []Winner{}}
		}
	}
	for i, rule := range rules {
		n := &f.rules[by][rule.Line].Matched
		switch {
		case i == winner:
			n = &f.rules[by][rule.Line].Decided
		case robots.Decide([]robots.Rule{rule}, path, d) < 0:
			continue
		default:
			f.won[by][[2]int32{rule.Line, rules[winner].Line}]++
		}
		n.Requests++
		if key := fmt.Sprint(group, i == winner, rule.Line, r.url); !f.urls[key] {
			f.urls[key] = true
			n.URLs++
		}
		if r.at == engine.NoTime {
			continue
		}
		at := time.UnixMicro(r.at).UTC()
		if n.First == nil || at.Before(*n.First) {
			n.First = &at
		}
		if n.Last == nil || at.After(*n.Last) {
			n.Last = &at
		}
	}
}

// report returns all rules, as a Counter does.
func (s *slowCounter) report(names []string) (all []Rule) {
	files := slices.SortedFunc(maps.Values(s.files), func(a, b *slowFile) int {
		return strings.Compare(string(a.first()), string(b.first()))
	})
	for _, f := range files {
		for i, name := range names {
			var agent *string
			by := ""
			if s.q.ByAgent {
				agent, by = &names[i], name
			} else if i > 0 {
				break
			}
			for _, line := range slices.Sorted(maps.Keys(f.rules[by])) {
				r := f.rules[by][line]
				r.Origin, r.Origins, r.Agent = string(f.first()), len(f.origins), agent
				for key, n := range f.won[by] {
					if key[0] == line {
						r.WonBy = append(r.WonBy, Winner{key[1], f.rules[by][key[1]].Rule, n})
					}
				}
				slices.SortFunc(r.WonBy, func(a, b Winner) int {
					if a.Requests != b.Requests {
						return int(b.Requests - a.Requests)
					}
					return int(a.Line - b.Line)
				})
				r.WonBy = r.WonBy[:min(3, len(r.WonBy))]
				all = append(all, *r)
			}
		}
	}
	return all
}

func (f *slowFile) first() robots.Origin { return slices.Min(slices.Collect(maps.Keys(f.origins))) }

// check compares the counts of a Counter with those of a slowCounter, for one worker and for three.
func check(t *testing.T, bodies map[robots.Origin]string, all []request, q question) (rules int) {
	t.Helper()
	var printed []string
	for _, q.workers = range []int{1, 3} {
		c := count(t, bodies, all, q)
		names := c.store.Options().Agents
		slow := slowCounter{bodies, map[string]*slowFile{}, q}
		for _, r := range all {
			if q.LogAgents == engine.LogAgentsOff {
				for _, name := range names {
					slow.addRequest(r, name)
				}
				continue
			}
			slow.addRequest(r, strings.TrimPrefix(r.userAgent, "Mozilla/5.0 (compatible; "))
		}
		var got []Rule
		for r := range c.Rules() {
			got = append(got, *r)
		}
		want := slow.report(names)
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || !reflect.DeepEqual(got[i], want[i]) {
				t.Fatalf("%s, by agent %t, %d workers: %d rules, want %d; number %d is\n%+v\nwant\n%+v", q.Dialect, q.ByAgent, q.workers,
					len(got), len(want), i, at0(got, i), at0(want, i))
			}
		}
		var out bytes.Buffer
		if err := c.PrintJSON(&out, nil); err != nil {
			t.Fatal(err)
		}
		if err := c.PrintText(&out, []string{"x"}, false); err != nil {
			t.Fatal(err)
		}
		if printed = append(printed, out.String()); printed[0] != out.String() {
			t.Errorf("%d workers print\n%s\none prints\n%s", q.workers, out.String(), printed[0])
		}
		rules = len(got)
	}
	return rules
}

func at0(rules []Rule, i int) any {
	if i < len(rules) {
		return rules[i]
	}
	return "none"
}

// TestCounter compares the counts of random requests and random robots.txt files with those of a slowCounter.
func TestCounter(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	names := []string{"*", "Googlebot", "bingbot", "GPTBot", "AdsBot-Google"}
	rules := 0
	for n := range 120 {
		bodies := map[robots.Origin]string{}
		for site := range 4 {
			bodies[robots.Origin(fmt.Sprintf("https://%d.com", site))] = randomFile(rng, names)
		}
		bodies["https://5.com"] = bodies["https://2.com"]
		var all []request
		for range 400 {
			r := request{url: fmt.Sprintf("https://%d.com/%s", rng.IntN(7), randomPath(rng)), at: engine.NoTime}
			r.userAgent = "Mozilla/5.0 (compatible; " + names[1+rng.IntN(3)]
			if rng.IntN(5) > 0 {
				r.at = rng.Int64N(1e15)
			}
			all = append(all, r)
		}
		all = append(all, request{"https://1.com/robots.txt", "", engine.NoTime}, request{"no url", "", engine.NoTime})
		q := question{Options: Options{ByAgent: n%2 == 0}}
		q.Dialect = dialects[n%len(dialects)]
		switch n % 3 {
		case 0:
			q.Agents = names
		case 1:
			q.LogAgents = engine.LogAgentsSkip
			all = all[:len(all)-2]
		}
		rules += check(t, bodies, all, q)
	}
	if rules < 1000 {
		t.Errorf("only %d rules", rules)
	}
}

// randomFile makes up a robots.txt of some groups.
func randomFile(rng *rand.Rand, names []string) string {
	var sb strings.Builder
	for range 1 + rng.IntN(4) {
		for range 1 + rng.IntN(2) {
			sb.WriteString("User-agent: " + names[rng.IntN(len(names))] + "\n")
		}
		for range rng.IntN(6) {
			sb.WriteString([]string{"Allow", "Disallow"}[rng.IntN(2)] + ": /" + []string{"", "a", "ab", "*b", "a*a$", "b/index.html", "a$"}[rng.IntN(7)] + "\n")
		}
	}
	return sb.String()
}

func randomPath(rng *rand.Rand) string {
	b := make([]byte, rng.IntN(4))
	for i := range b {
		b[i] = "ab/"[rng.IntN(3)]
	}
	return string(b)
}

// TestCounterReal does the same as TestCounter with real files and URLs: those in the repository and, if it exists,
// those of the collection.
func TestCounterReal(t *testing.T) {
	dir := filepath.Join(repcase.Dir(t), "..", "quickstart")
	checkReal(t, filepath.Join(dir, "rules"), filepath.Join(dir, "urls.zst"))
	t.Run("collection", func(t *testing.T) {
		if testing.Short() {
			t.Skip("asks every rule of 2,561 files for 366,620 URLs, twice")
		}
		checkReal(t, repcase.Collection(t), filepath.Join(repcase.SharedDir(t), "data", "urls_real_hostgrouped.urls.zst"))
	})
}

func checkReal(t *testing.T, rules, log string) {
	t.Helper()
	files, err := rulefiles.Find(rules, "")
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[robots.Origin]string{}
	for r, err := range files.Responses() {
		if err != nil {
			t.Fatal(err)
		}
		bodies[r.Origin] = string(r.Body)
	}
	logs, err := ingest.OpenLogs([]string{log}, ingest.LogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer logs.Close()
	var all []request
	for b := new(engine.Batch); logs.Next(b); {
		for i := range b.URLs {
			all = append(all, request{url: string(b.URL(i)), at: engine.NoTime})
		}
	}
	q := question{}
	q.Dialect, q.Agents = robots.Google, []string{"Googlebot", "*"}
	if n := check(t, bodies, all, q); n < 4000 {
		t.Errorf("only %d rules", n)
	}
}

// TestMemory checks that URLs that do not fit into the memory are counted on disk, and that too many rules are an
// error.
func TestMemory(t *testing.T) {
	bodies := map[robots.Origin]string{"https://a.com": "User-agent: *\nDisallow: /a\nDisallow: /*b\n"}
	var all []request
	for n := range 20_000 {
		all = append(all, request{url: fmt.Sprintf("https://a.com/a%d", n), at: engine.NoTime})
	}
	q := question{workers: 2}
	q.URLs = 1 << 17
	c := count(t, bodies, all, q)
	if !c.urls.Spilled() {
		t.Error("nothing is on disk")
	}
	for r := range c.Rules() {
		if r.Line == 2 && (r.Decided.Requests != 20_000 || r.Decided.URLs != 20_000) {
			t.Errorf("%+v", r.Decided)
		}
	}
	var one, some bytes.Buffer
	for out, workers := range map[*bytes.Buffer]int{&one: 1, &some: 5} {
		q.workers = workers
		if err := count(t, bodies, all, q).PrintJSON(out, nil); err != nil {
			t.Fatal(err)
		}
	}
	if one.String() != some.String() {
		t.Errorf("one worker prints\n%s\nfive print\n%s", &one, &some)
	}
	q.Counts = 100
	store, err := engine.BuildStore(responses(bodies), q.StoreOptions)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = engine.Run(t.Context(), store, &source{all, 100}, NewCounter(store, q.Options), engine.Options{Workers: 1}); err == nil || err.Error() != ErrMemory.Error() {
		t.Errorf("the error is %v", err)
	}
}

// TestNoAllocation checks that a request does not allocate memory if its URL was counted recently, or if its URL is
// new but another request with the same rules was counted.
func TestNoAllocation(t *testing.T) {
	store, err := engine.BuildStore(responses(map[robots.Origin]string{"https://a.com": "User-agent: *\nDisallow: /a\nDisallow: /*b\n"}), engine.StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c, e := NewCounter(store, Options{}), store.NewEvaluator()
	b := new(engine.Batch)
	var src source
	for n := range 5000 {
		src.all = append(src.all, request{url: fmt.Sprintf("https://a.com/%c%d", "abc"[n%3], n%3000), at: engine.NoTime})
	}
	src.most = 5000
	src.Next(b)
	e.Evaluate(b)
	if err := c.Write(b); err != nil {
		t.Fatal(err)
	}
	clear(c.memo)
	if n := testing.AllocsPerRun(5, func() {
		if err := c.Write(b); err != nil {
			t.Error(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations for 5,000 requests", n)
	}
}
