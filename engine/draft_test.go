package engine

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// sliceSource yields one batch of rows with User-Agents.
type sliceSource struct {
	rows []logRow
	done bool
}

func (s *sliceSource) Next(b *Batch) bool {
	if s.done {
		return false
	}
	s.done = true
	b.Reset()
	made := logBatch(s.rows)
	b.Data, b.URLs, b.Lines, b.UserAgents = made.Data, made.URLs, made.Lines, made.UserAgents
	return true
}

func (s *sliceSource) Err() error   { return nil }
func (s *sliceSource) Close() error { return nil }

// A violationSink keeps violations.
type violationSink struct{ all []Violation }

func (s *violationSink) Write(b *Batch) error {
	s.all = append(s.all, b.Violations...)
	return nil
}

func (s *violationSink) Close() error { return nil }

// TestDraft checks that a draft causes no violations (SEMANTICS.md, section 11): the previous rules define them, and
// a crawler that only they name counts, too. The result does not depend on the rules or workers.
func TestDraft(t *testing.T) {
	rows := []logRow{
		{googleHeader, "https://a.com/draft"},
		{googleHeader, "https://a.com/now"},
		{"Exampibot/1.0", "https://a.com/only"},
		{"Newbot/1.0", "https://a.com/only"},
		{googleHeader, "https://a.com/robots.txt"},
		{browserHeader, "https://a.com/now"},
		{googleHeader, "https://stray.com/now"},
	}
	before := "User-agent: *\nDisallow: /now\nDisallow: /robots.txt\n\nUser-agent: Exampibot\nDisallow: /only\n"
	draft := "User-agent: *\nDisallow: /draft\n\nUser-agent: Newbot\nDisallow: /only\n"
	for _, skip := range []LogAgents{LogAgentsStar, LogAgentsSkip} {
		opt := StoreOptions{Dialect: robots.Google, LogAgents: skip}
		old := buildStore(t, opt, "https://a.com", before)
		now := buildStore(t, opt, "https://a.com", draft)
		want := []Violation{NoViolation, Violated, Violated, ViolationUnknown, NoViolation, ViolationUnknown, NoViolation}
		if skip == LogAgentsSkip {
			want = slices.Delete(want, 5, 6)
		}
		for _, workers := range []int{1, 3} {
			sink := &violationSink{}
			stats, err := Run(context.Background(), now, &sliceSource{rows: rows}, sink, Options{Workers: workers, Old: old})
			if err != nil || !slices.Equal(sink.all, want) || stats.Violations != 2 {
				t.Errorf("unknown agents %d, %d workers: %v, sum %d, %v, want %v", skip, workers, sink.all, stats.Violations, err, want)
			}
			named := []NamedCount{{"exampibot", AgentCount{Allowed: 1, Violations: 1}}, {"newbot", AgentCount{Denied: 1}}}
			if !reflect.DeepEqual(stats.Named, named) {
				t.Errorf("unknown agents %d, %d workers: %+v, want %+v", skip, workers, stats.Named, named)
			}
		}
	}
}

// TestForCrawlers checks that a request for robots.txt itself never counts as disallowed for a crawler, by the old or
// new rules, and that all other rows are unchanged.
func TestForCrawlers(t *testing.T) {
	opt := StoreOptions{Dialect: robots.Google, Agents: []string{"*", "b"}}
	old := buildStore(t, opt, "https://a.com", "User-agent: *\nDisallow: /robots\n\nUser-agent: b\nDisallow: /robots\n")
	now := buildStore(t, opt, "https://a.com", "User-agent: *\nDisallow: /x\n\nUser-agent: b\nDisallow: /\n")
	b := newBatch("https://a.com/robots.txt?a", "https://a.com/robots.txts", "https://a.com/x", "https://a.com", "bad")
	opts := Options{Old: old, twins: newTwins(old, now)}
	opts.newWorker(now, 1, 1).Evaluate(b)
	f := b.ForCrawlers()
	free := Verdict{NoRule, ReasonRobotsTxt, Allowed}
	if f.Verdicts[0] != b.Verdicts[0] || f.Verdicts[1] != free || f.Old.Verdicts[0] != free || f.Old.Verdicts[1] != free || f.Changes[0] != Same || f.Changes[1] != Same {
		t.Errorf("robots.txt: %v after %v, %v", f.Verdicts[:2], f.Old.Verdicts[:2], f.Changes[:2])
	}
	if !slices.Equal(f.Verdicts[2:], b.Verdicts[2:]) || !slices.Equal(f.Old.Verdicts[2:], b.Old.Verdicts[2:]) || !slices.Equal(f.Changes[2:], b.Changes[2:]) {
		t.Error("other rows changed")
	}
	if b.Verdicts[1].Access != Denied || b.Changes[0] != Opened || b.ForCrawlers() != f {
		t.Errorf("the batch changed: %v, %v", b.Verdicts[:2], b.Changes[:2])
	}
	b.Reset()
	b.AddURL([]byte("https://a.com/x"), 1)
	opts.newWorker(now, 1, 1).Evaluate(b)
	if b.ForCrawlers() != b {
		t.Error("a batch without a robots.txt is copied")
	}
}
