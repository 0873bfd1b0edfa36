package conduct_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/conduct"
	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/captures"
	"github.com/robobatch/robobatch/robots"
)

// googlebotOnly returns a list with the addresses of Googlebot.
func googlebotOnly(t *testing.T) *ranges.Lists {
	t.Helper()
	name := filepath.Join(t.TempDir(), "googlebot.json")
	if err := os.WriteFile(name, []byte(`{"creationTime": "2026-08-12T00:00:00Z", "prefixes": [{"ipv4Prefix": "66.249.64.0/27"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	lists, err := ranges.Load(ranges.Options{Paths: []string{name}, Age: 365 * 24 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return lists
}

// A way is a way to read a log: its order and the memory of the Journal.
type way struct {
	memory        int64
	rows, workers int
	byAgent       bool
	requests      bool
}

// find returns the findings of a Journal for the lines.
func (s *scene) find(t *testing.T, lines []line, lists *ranges.Lists, w way) *findings {
	t.Helper()
	f := &findings{}
	s.keep(t, lines, lists, w, func(j *conduct.Journal) error { return j.Judge(f) })
	return f
}

// keep writes the lines to a Journal, and calls do with it.
func (s *scene) keep(t *testing.T, lines []line, lists *ranges.Lists, w way, do func(*conduct.Journal) error) {
	t.Helper()
	store, err := engine.BuildStore(s.responses(), engine.StoreOptions{
		Dialect: robots.Google, LogAgents: engine.LogAgentsStar, RowTimes: true, Cache: s.cache, Ranges: lists, Evidence: true,
		Directives: []robots.Directive{robots.CrawlDelayLines},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	texts := &conduct.Texts{}
	for _, r := range s.rules {
		texts.Add(captures.KeyOf(r.Body), r.Body)
	}
	j := conduct.NewJournal(store, conduct.Options{
		Texts: texts, Memory: w.memory, TempDir: t.TempDir(), Cache: s.cache, Status: 1, Method: 2, Bytes: 3, Requests: w.requests, ByAgent: w.byAgent,
	})
	defer j.CloseTemp()
	if _, err := engine.Run(context.Background(), store, &source{lines: lines, rows: w.rows}, j, engine.Options{Workers: w.workers}); err != nil {
		t.Fatal(err)
	}
	if err := do(j); err != nil {
		t.Fatal(err)
	}
}

// logsOfKind returns the number of logs to generate for each kind: 25, or 6 with -short, or the number in the
// environment.
func logsOfKind(t *testing.T) int {
	t.Helper()
	text := os.Getenv("ROBOBATCH_CONDUCT_LOGS")
	switch {
	case text == "" && testing.Short():
		return 6
	case text == "":
		return 25
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("ROBOBATCH_CONDUCT_LOGS: %v", err)
	}
	return n
}

// TestConduct generates logs of crawlers with known conduct, in order and out of order, and checks that each disallowed
// request is judged as its kind intends, and as the slow reference says.
func TestConduct(t *testing.T) {
	lists := googlebotOnly(t)
	t.Logf("%d kinds, %d logs each", len(kinds), logsOfKind(t))
	for kind := range kinds {
		t.Run(strings.ReplaceAll(kinds[kind].name, " ", "_"), func(t *testing.T) {
			for seed := range logsOfKind(t) {
				s := newScene(kind, uint64(seed))
				want := map[string]int{}
				for i := range s.lines {
					l := &s.lines[i]
					if ref := s.reference(l); ref != l.want {
						t.Fatalf("log %d: the kind intends %q, but the reference says %q: %+v", seed, l.want, ref, *l)
					}
					if l.want != "" {
						want[fmt.Sprint(l.agent, " ", l.url, " ", l.at.UnixMicro(), " ", l.want)]++
					}
				}
				jumbled := slices.Clone(s.lines)
				s.rng.Shuffle(len(jumbled), func(i, k int) { jumbled[i], jumbled[k] = jumbled[k], jumbled[i] })
				sorted := slices.Clone(s.lines)
				slices.SortStableFunc(sorted, func(a, b line) int { return a.at.Compare(b.at) })
				first := s.find(t, sorted, lists, way{rows: 100, workers: 1, requests: true})
				got := map[string]int{}
				for _, q := range first.requests {
					got[fmt.Sprint(q.Agent, " ", string(q.URL), " ", q.At, " ", q.Conduct)]++
				}
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("log %d: got %v, want %v", seed, got, want)
				}
				s.checkMismatches(t, first)
				s.checkRows(t, first)
				s.checkRequests(t, first)
				again := s.find(t, jumbled, lists, way{rows: 1 + s.rng.IntN(7), workers: 2, requests: true, memory: 1})
				if !reflect.DeepEqual(first, again) {
					t.Fatalf("log %d: jumbled: got\n%+v, in order\n%+v", seed, again, first)
				}
			}
		})
	}
}

// checkMismatches checks which origins are reported because their responses contradict the text: only that of the
// site may be.
func (s *scene) checkMismatches(t *testing.T, f *findings) {
	t.Helper()
	var want conduct.Mismatch
	for i := range s.lines {
		l := &s.lines[i]
		if l.agent == "" || l.size == 0 || !isTxt(l.url) || !l.counts() {
			continue
		}
		want.Compared++
		if s.isOther(l) {
			want.Answers++
		}
	}
	if 10*want.Answers <= want.Compared {
		want.Answers, want.Compared = 0, 0
	}
	if want.Denied, want.Told = s.toldNone(site); 2*want.Denied <= want.Told {
		want.Denied, want.Told = 0, 0
	}
	var got conduct.Mismatch
	for i := range s.lines {
		if l := &s.lines[i]; l.want == "unseen" && s.isHidden(l) {
			want.Hidden++
		}
	}
	if want.Origin = site; want.Answers+want.Denied+want.Hidden == 0 {
		want.Origin = ""
	}
	if len(f.mismatches) > 0 {
		got = f.mismatches[0]
		if got.Knew != count(f, conduct.Knew) {
			t.Fatalf("got %+v", got)
		}
		got.Size, got.Text, got.Busy, got.Asked, got.Knew, got.Unseen = 0, 0, 0, 0, 0, 0 // the scripts check these
	}
	if len(f.mismatches) > 1 || got != want {
		t.Fatalf("got %+v, want %+v", f.mismatches, want)
	}
}

// count returns the number of requests at the site with a conduct.
func count(f *findings, c conduct.Conduct) (n int64) {
	for i := range f.requests {
		if q := &f.requests[i]; q.Origin == site && q.Conduct == c {
			n++
		}
	}
	return n
}

// checkRequests compares the requests with the lines of the log, and their rules with the slow reference.
func (s *scene) checkRequests(t *testing.T, f *findings) {
	t.Helper()
	for _, q := range f.requests {
		n := slices.IndexFunc(s.lines, func(l line) bool {
			return l.agent == q.Agent && l.url == string(q.URL) && l.at.UnixMicro() == q.At && !l.isImpostor()
		})
		if n < 0 {
			t.Fatalf("no line is %+v", q)
		}
		l := &s.lines[n]
		rule, _ := s.rule(l.agent, l.url, l.at)
		verified := ranges.Unpublished
		switch {
		case l.client == "":
			verified = ranges.Null
		case l.agent == "Googlebot":
			verified = ranges.Yes
		}
		want := conduct.Request{Client: []byte(l.client), UserAgent: []byte(l.agent + "/1.0"), Status: int64(l.status), Verified: verified, Rule: []byte(rule.String()), RuleLine: int64(rule.Line)}
		if l.client == "" {
			want.Client = nil
		}
		got := conduct.Request{Client: q.Client, UserAgent: q.UserAgent, Status: q.Status, Verified: q.Verified, Rule: q.Rule, RuleLine: q.RuleLine}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: got %+v, want %+v", q.URL, got, want)
		}
		s.checkAnswer(t, &q, l)
	}
}

// checkAnswer compares the last response before a request with the responses in the log.
func (s *scene) checkAnswer(t *testing.T, q *conduct.Request, l *line) {
	t.Helper()
	answer, capture := int64(conduct.NoTime), int64(conduct.NoTime)
	var texts, others int // at that time
	other := false
	for i := range s.lines {
		o := &s.lines[i]
		at := o.at.UnixMicro()
		if o.agent != l.agent || !s.isOf(o, originOf(l.url)) || !o.counts() || o.at.After(l.at) || answer != conduct.NoTime && at < answer {
			continue
		}
		if at != answer {
			answer, texts, others = at, 0, 0
		}
		if o.status < 400 {
			texts++
			other = s.isOff(o)
		} else {
			others++
		}
	}
	if q.HadText && answer != conduct.NoTime && !other {
		if r := s.inForce(l.url, time.UnixMicro(answer)); r != nil && r.Status == 200 && !r.FetchedAt.IsZero() {
			capture = max(r.FetchedAt.UnixMicro(), s.own(l.url, time.UnixMicro(answer)).FetchedAt.UnixMicro())
		}
	}
	if q.Answer != answer || q.HadText && texts == 0 || !q.HadText && texts > 0 && others == 0 || q.Capture != capture {
		t.Fatalf("%s: the last response is at %d (with a text: %t), its capture at %d; want %d and %d", q.URL, q.Answer, q.HadText, q.Capture, answer, capture)
	}
}

// checkRows compares the rows with counts by line.
func (s *scene) checkRows(t *testing.T, f *findings) {
	t.Helper()
	type key struct{ agent, origin string }
	want := map[key]*conduct.Row{}
	for i := range s.lines {
		l := &s.lines[i]
		if l.agent == "" {
			continue
		}
		k := key{l.agent, originOf(l.url)}
		r := want[k]
		if r == nil {
			r = &conduct.Row{}
			want[k] = r
		}
		r.Requests++
		if l.isImpostor() {
			r.Impostors++
			continue
		}
		size, _ := l.bytes()
		r.Bytes += size
		if isTxt(l.url) {
			r.Robots++
		} else if l.at.IsZero() && strings.Contains(l.url, "/private") && l.agent != "" {
			r.Untimed++
		}
		if l.counts() {
			r.Answers++
		}
		for c := range conduct.NumConducts {
			if l.want == c.String() {
				r.Conducts[c]++
				r.Disallowed++
			}
		}
	}
	if len(f.rows) != len(want) {
		t.Fatalf("%d rows, want %d", len(f.rows), len(want))
	}
	for i := range f.rows {
		r := &f.rows[i]
		w := want[key{r.Agent, r.Origin}]
		if w == nil {
			t.Fatalf("a row of %s at %s", r.Agent, r.Origin)
		}
		got := conduct.Row{Requests: r.Requests, Impostors: r.Impostors, Bytes: r.Bytes, Robots: r.Robots, Untimed: r.Untimed, Answers: r.Answers, Conducts: r.Conducts, Disallowed: r.Disallowed}
		if got != *w {
			t.Fatalf("%s at %s: got %+v, want %+v", r.Agent, r.Origin, got, *w)
		}
		if r.Verified+r.Impostors+r.Unpublished+r.Stale+r.NoAddress != r.Requests {
			t.Fatalf("%s at %s: %+v", r.Agent, r.Origin, *r)
		}
	}
}

// TestSizes checks which responses prove that the sizes in a log exclude headers, and which prove that they include
// them.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		method          string
		status, size    int
		bodies, headers bool
	}{
		{"GET", 200, 39, true, false},
		{"GET", 200, 40, false, false},
		{"GET", 200, zero, false, false}, // the client has disconnected
		{"GET", 200, unsized, false, false},
		{"GET", 206, unsized, false, false},
		{"GET", 304, zero, true, false},
		{"GET", 304, unsized, false, false},
		{"GET", 304, 180, false, true},
		{"GET", 204, zero, true, false},
		{"HEAD", 200, zero, true, false},
		{"HEAD", 200, unsized, false, false},
		{"HEAD", 200, 180, false, true},
		{"GET", 500, 20, false, false},
	} {
		s := (&scene{rng: rand.New(rand.NewPCG(1, 1)), start: time.Date(2026, 8, 11, 0, 0, 0, 0, time.UTC)}).file(closes)
		s.ask(1, "", c.status, c.method, site+"/open").sized(c.size)
		s.keep(t, s.lines, nil, way{rows: 10, workers: 1}, func(j *conduct.Journal) error {
			if bodies, headers := j.Sizes(); bodies != c.bodies || headers != c.headers {
				t.Errorf("%s, %d, %d bytes: bodies %t, headers %t; want %t, %t", c.method, c.status, c.size, bodies, headers, c.bodies, c.headers)
			}
			return nil
		})
	}
}
