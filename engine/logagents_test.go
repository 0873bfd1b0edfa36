package engine

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/robots"
)

// logRow is a row of a generated server log.
type logRow struct{ userAgent, url string }

// logBatch returns the rows as a Source would yield them. An empty User-Agent means that there is none.
func logBatch(rows []logRow) *Batch {
	b := &Batch{}
	for i, r := range rows {
		appendRow(b, r.url, int64(i+1))
		span := NoURL
		if r.userAgent != "" {
			span = Span{uint32(len(b.Data)), uint32(len(r.userAgent))}
			b.Data = append(b.Data, r.userAgent...)
		}
		b.UserAgents = append(b.UserAgents, span)
	}
	return b
}

const (
	gptHeader     = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"
	googleHeader  = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	browserHeader = "Mozilla/5.0 (X11; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/121.0"
)

const logRobots = "User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow: /private\n"

var logRows = []logRow{
	{gptHeader, "https://a.com/x"},
	{googleHeader, "https://a.com/x"},
	{googleHeader, "https://a.com/private/x"},
	{browserHeader, "https://a.com/private/x"},
	{"", "https://a.com/x"},
	{gptHeader, "https://a.com/robots.txt"},
	{gptHeader, "https://stray.com/"},
	{gptHeader, "nonsense"},
	{"AdsBot-Google (+http://www.google.com/adsbot.html)", "https://a.com/private/x"},
}

// describeLog describes the rows of an evaluated batch: line, agent, access, line of the rule, violation.
func describeLog(s *Store, b *Batch) (rows []string) {
	for i := range b.URLs {
		v := b.Verdicts[i]
		access := [...]string{"null", "deny", "allow"}[v.Access]
		violation := [...]string{"null", "false", "true"}[b.Violations[i]]
		line := int64(0)
		if v.Rule != NoRule {
			line = s.NewLookup().lineOf(b.Rulings[i], int(b.Agents[i]), v)
		}
		rows = append(rows, fmt.Sprintf("%d %s %s %d %s", b.Lines[i], s.NewLookup().AgentName(b.Rulings[i], int(b.Agents[i])), access, line, violation))
	}
	return rows
}

func TestLogAgents(t *testing.T) {
	want := []string{
		"1 GPTBot deny 2 true",
		"2 Googlebot allow 0 false",
		"3 Googlebot deny 5 true",
		"4 * deny 5 null",
		"5 * allow 0 null",
		"6 GPTBot deny 2 false",
		"7 GPTBot allow 0 false",
		"8 GPTBot null 0 null",
		"9 AdsBot-Google allow 0 false",
	}
	for _, mode := range []LogAgents{LogAgentsStar, LogAgentsSkip} {
		s := buildStore(t, StoreOptions{Dialect: robots.Google, LogAgents: mode}, "https://a.com", logRobots)
		want, skipped := slices.Clone(want), 0
		if mode == LogAgentsSkip {
			want = slices.DeleteFunc(want, func(row string) bool { return strings.Contains(row, " * ") })
			skipped = 2
		}
		e, c := s.NewEvaluator(), newCounter(s, 1)
		b := &Batch{}
		for range 2 { // the second time with the state of the first
			kept := *logBatch(logRows)
			b.Reset()
			b.Data, b.URLs, b.Lines, b.UserAgents = kept.Data, kept.URLs, kept.Lines, kept.UserAgents
			e.Evaluate(b)
			c.countBatch(b)
			if got := describeLog(s, b); !slices.Equal(got, want) {
				t.Errorf("mode %d:\n%s\nwant\n%s", mode, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if b.Skipped != skipped || len(b.UserAgents) != len(want) {
				t.Errorf("mode %d: %d rows skipped, %d User-Agents remembered", mode, b.Skipped, len(b.UserAgents))
			}
		}
		got := sumCounts([]*counter{c}, newBusiest(s, nil))
		byAgent := map[string]AgentCount{}
		for _, row := range want {
			f := strings.Fields(row)
			if strings.HasPrefix(row, "6 ") { // robots.txt itself, which never counts as disallowed
				f[2] = "allow"
			}
			count := byAgent[f[1]]
			*map[string]*int64{"allow": &count.Allowed, "deny": &count.Denied, "null": &count.Unknown}[f[2]] += 2
			if f[4] == "true" {
				count.Violations += 2
			}
			byAgent[f[1]] = count
		}
		for i, name := range s.Options().Agents {
			if got.Agents[i] != byAgent[name] {
				t.Errorf("mode %d: %s has %+v, want %+v", mode, name, got.Agents[i], byAgent[name])
			}
		}
		if got.Violations != 4 || got.Skipped != int64(2*skipped) || got.Rows != int64(2*len(want)) || got.URLs != got.Rows {
			t.Errorf("mode %d: counts %+v", mode, got)
		}
	}
}

// Without User-Agents, all crawlers are unknown.
func TestLogAgentsWithoutHeaders(t *testing.T) {
	for mode, rows := range map[LogAgents]int{LogAgentsStar: 2, LogAgentsSkip: 0} {
		s := buildStore(t, StoreOptions{LogAgents: mode}, "https://a.com", logRobots)
		b := newBatch("https://a.com/", "https://a.com/private")
		s.NewEvaluator().Evaluate(b)
		if b.Len() != rows || len(b.Verdicts) != rows || b.Skipped != 2-rows {
			t.Errorf("mode %d: %d rows, %d verdicts, %d skipped", mode, b.Len(), len(b.Verdicts), b.Skipped)
		}
	}
}

// The memory for User-Agents is bounded, and does not change results.
func TestAgentMemory(t *testing.T) {
	s := buildStore(t, StoreOptions{Dialect: robots.Google, LogAgents: LogAgentsStar}, "https://a.com", logRobots)
	m := newClients(s.namer)
	for i := range 3 * maxKnownAgents {
		header := fmt.Appendf(nil, "Mozilla/5.0 (compatible; bingbot/2.0; %d)", i)
		if got := m.clientOf(header).agent; crawlers.Set("all")[got-1].Token != "bingbot" {
			t.Fatalf("%s is number %d", header, got)
		}
		if len(m.known) > maxKnownAgents {
			t.Fatalf("%d User-Agents remembered", len(m.known))
		}
	}
	known := []byte(browserHeader)
	if n := testing.AllocsPerRun(100, func() { m.clientOf(known) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Headers that differ only in bytes that the hash ignores are kept apart.
func TestRecentAgents(t *testing.T) {
	s := buildStore(t, StoreOptions{Dialect: robots.Google, LogAgents: LogAgentsStar}, "https://a.com", logRobots)
	m := newClients(s.namer)
	pad := strings.Repeat(" like Gecko", 10)
	for i, want := range []string{"bingbot", "Googlebot", "bingbot", "GPTBot", "Googlebot", "GPTBot"} {
		header := fmt.Sprintf("%-12s%s", want+"/2.0", pad)
		if got := m.clientOf([]byte(header)).agent; crawlers.Set("all")[got-1].Token != want {
			t.Errorf("%d: %q is number %d", i, header, got)
		}
	}
	places := 0
	for i := range m.recent {
		if m.recent[i].header != "" {
			places++
		}
	}
	if places != 1 {
		t.Errorf("the headers have %d slots: they should share one", places)
	}
}

// A pack has the same answers for the crawlers of a log, whatever stays in memory, and the deciding rules are available
// to the output.
func TestLogAgentsPack(t *testing.T) {
	r := robots.Response{Origin: "https://a.com", Status: 200, Body: []byte(logRobots)}
	opt := StoreOptions{Dialect: robots.Google, LogAgents: LogAgentsStar}
	want := buildStore(t, opt, "https://a.com", logRobots)
	evaluated := logBatch(logRows)
	want.NewEvaluator().Evaluate(evaluated)
	counted := newCounter(want, 1)
	counted.countBatch(evaluated)
	for how, s := range waysToOpen(t, makePack(t, robots.Google, r), opt) {
		b := logBatch(logRows)
		s.NewEvaluator().Evaluate(b)
		if !slices.Equal(b.Verdicts, evaluated.Verdicts) || !slices.Equal(b.Violations, evaluated.Violations) || !slices.Equal(b.Agents, evaluated.Agents) {
			t.Errorf("%s: %v %v, want %v %v", how, b.Verdicts, b.Violations, evaluated.Verdicts, evaluated.Violations)
		}
		c := newCounter(s, 1)
		c.countBatch(b)
		if !reflect.DeepEqual(sumCounts([]*counter{c}, newBusiest(s, nil)), sumCounts([]*counter{counted}, newBusiest(want, nil))) {
			t.Errorf("%s: counts %+v, want %+v", how, c.stats, counted.stats)
		}
		look := s.NewLookup()
		look.Use(b)
		for i, v := range b.Verdicts {
			if v.Rule == NoRule {
				continue
			}
			got, right := look.Rule(b.Rulings[i], int(b.Agents[i]), v.Rule), want.NewLookup().Rule(evaluated.Rulings[i], int(b.Agents[i]), v.Rule)
			if got != right {
				t.Errorf("%s: row %d is decided by %+v, want %+v", how, i, got, right)
			}
		}
	}
}

// Many agents have the same counts with a pack.
func TestManyAgentsPack(t *testing.T) {
	r := robots.Response{Origin: "https://a.com", Status: 200, Body: []byte(logRobots)}
	opt := StoreOptions{Dialect: robots.Google, Agents: []string{"Googlebot", "bingbot", "GPTBot", "AdsBot-Google", "*"}}
	var counts []Stats
	urls := []string{"https://a.com/private", "https://a.com/x", "https://b.com/"}
	stores := waysToOpen(t, makePack(t, robots.Google, r), opt)
	stores["built"] = buildStore(t, opt, "https://a.com", logRobots)
	for _, s := range stores {
		b := newBatch(urls...)
		s.NewEvaluator().Evaluate(b)
		c := newCounter(s, 1)
		c.countBatch(b)
		counts = append(counts, sumCounts([]*counter{c}, newBusiest(s, nil)))
	}
	for _, c := range counts {
		if !reflect.DeepEqual(c, counts[0]) || c.RuleLines != 5+5+2+5+2 {
			t.Errorf("counts %+v and %+v", c, counts[0])
		}
	}
}
