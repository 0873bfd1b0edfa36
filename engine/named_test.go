package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/robots"
)

// A namedCase is a log of one origin whose robots.txt changes.
type namedCase struct {
	d     robots.Dialect
	texts []string // in force from hour i on, where i is the index of the text
	rows  []namedRow
}

// A namedRow is a request.
type namedRow struct {
	hour         int
	header, path string
}

// want returns the crawler of a request and the line of the deciding rule in a slow way: with the words of the header
// one by one, and the parser of robots.txt.
func (c *namedCase) want(r namedRow) string {
	text := robots.Parse([]byte(c.texts[r.hour]), c.d)
	name, who := "*", robots.NewAgent("*", c.d)
	if known, ok := crawlers.Identify([]byte(r.header)); ok {
		name, who = known.Token, robots.NewAgent(known.Token, c.d)
	} else if token := c.named(text, r.header); token != "" {
		name, who = token, robots.Agent{Token: robots.ProductToken(token)}
		if own, ok := crawlers.Lookup(token); ok { // see namer.switches
			name = own.Token
		}
	}
	line := int32(0)
	if rules, ok := text.Select(who); ok {
		if rule := robots.Decide(rules, []byte(r.path), c.d); rule >= 0 {
			line = rules[rule].Line
		}
	}
	return fmt.Sprintf("%s %d", name, line)
}

// named returns the first word of a header that a group names.
func (c *namedCase) named(text *robots.File, header string) string {
	_, words := crawlers.IdentifyWords(nil, []byte(header))
	for _, word := range words {
		token := robots.NewAgent(string(word), c.d).Token
		letters := len(strings.Map(func(r rune) rune {
			if r < 'A' {
				return -1
			}
			return r
		}, strings.ReplaceAll(string(token), "_", "")))
		for i := range text.Groups {
			isUsage := strings.HasPrefix(strings.ToLower(string(token)), "__usage_")
			if letters >= 3 && !isUsage && !crawlers.IsClientWord(word) && text.Groups[i].Names(token) {
				return strings.ToLower(string(token))
			}
		}
	}
	return ""
}

// randomNamed returns a case with similar words in any spelling.
func randomNamed(r *rand.Rand) *namedCase {
	words := []string{"Exampibot", "exampibot", "EXAMPIBOT/0.8", "imagesift", "Imagesift2", "ab", "a-b-c", "x_bot.v2", "Mozilla/5.0", "Chrome", "bot", "GPTBot", "msnbot", "Google-Extended", "google-extended/2", "like Exampibot", "(compatible;", "http://x.com/Exampibot", "exampi@a.com", "foo.bar_bot", "zzz.com", "__usage_ai-training", "__USAGE_ai-training/1", "with", "Reader/1-like", "facebookexternalhit/1.1", "Twitterbot"}
	c := &namedCase{d: []robots.Dialect{robots.RFC9309, robots.Google, robots.Google | robots.WideTokens, robots.Yandex}[r.IntN(4)]}
	pick := func(most int) string {
		all := make([]string, 1+r.IntN(most))
		for i := range all {
			all[i] = words[r.IntN(len(words))]
		}
		return strings.Join(all, " ")
	}
	for range 1 + r.IntN(3) {
		var sb strings.Builder
		for range r.IntN(6) {
			for range 1 + r.IntN(2) {
				fmt.Fprintf(&sb, "User-agent: %s\n", pick(1))
			}
			fmt.Fprintf(&sb, "Disallow: /%c\n", 'a'+r.IntN(3))
		}
		if r.IntN(2) == 0 {
			sb.WriteString("User-agent: *\nDisallow: /b\n")
		}
		c.texts = append(c.texts, sb.String())
	}
	for range 30 {
		c.rows = append(c.rows, namedRow{r.IntN(len(c.texts)), pick(4), fmt.Sprintf("/%c", 'a'+r.IntN(3))})
	}
	return c
}

// batch returns the rows as a Source would yield them.
func (c *namedCase) batch() *Batch {
	var rows []logRow
	for _, r := range c.rows {
		rows = append(rows, logRow{r.header, "https://a.com" + r.path})
	}
	b := logBatch(rows)
	for _, r := range c.rows {
		b.Times = append(b.Times, int64(r.hour)*3600e6+1)
	}
	return b
}

// TestNamed compares the crawlers of requests, and the consequences, with the slow way: in memory, and with packs,
// whatever stays in memory.
func TestNamed(t *testing.T) {
	rng := rand.New(rand.NewPCG(28, 1))
	named := 0
	for range 150 {
		c := randomNamed(rng)
		var all []robots.Response
		for hour, text := range c.texts {
			all = append(all, robots.Response{Origin: "https://a.com", Status: 200, Body: []byte(text), FetchedAt: time.Unix(int64(hour)*3600, 0).UTC()})
		}
		opt := StoreOptions{Dialect: c.d, LogAgents: LogAgentsStar, RowTimes: true}
		built, err := BuildStore(sequence(all), opt)
		if err != nil {
			t.Fatal(err)
		}
		stores := waysToOpen(t, makePack(t, c.d, all...), opt)
		stores["built"] = built
		for how, s := range stores {
			b := c.batch()
			s.NewEvaluator().Evaluate(b)
			look := s.NewLookup()
			look.Use(b)
			list := NewAgentList(look, nil, 2)
			for i, row := range c.rows {
				agent := int(b.Agents[i])
				got := fmt.Sprintf("%s %d", look.AgentName(b.Rulings[i], agent), look.Rule(b.Rulings[i], agent, b.Verdicts[i].Rule).Line)
				if want := c.want(row); got != want {
					t.Fatalf("%s, %v: %q at hour %d of\n%s\nis %s, want %s", how, c.d, row.header, row.hour, c.texts[row.hour], got, want)
				}
				number := list.Number(b, i)
				if name := list.Names()[number]; name != OtherNamed && !strings.HasPrefix(got, name+" ") {
					t.Fatalf("%s: %q is %s in the list, want %s", how, row.header, name, got)
				}
				if agent >= list.known {
					named++
				}
			}
			if len(list.Names()) > list.known+3 {
				t.Errorf("%d names, of which %d are known", len(list.Names()), list.known)
			}
			if s.Err() != nil {
				t.Fatal(s.Err())
			}
		}
	}
	if named < 1000 {
		t.Errorf("only %d rows have a crawler that a robots.txt names", named)
	}
}

// nameSink keeps the names and the answers of rows.
type nameSink struct {
	look *Lookup
	rows []string
}

func (s *nameSink) Write(b *Batch) error {
	s.look.Use(b)
	for i := range b.URLs {
		s.rows = append(s.rows, fmt.Sprintln(b.Lines[i], s.look.AgentName(b.Rulings[i], int(b.Agents[i])), b.Verdicts[i].Access, b.Violations[i]))
	}
	return nil
}

func (s *nameSink) Close() error { return nil }

// caseSource yields the rows of a case in parts.
type caseSource struct {
	c    *namedCase
	next int
}

func (s *caseSource) Next(b *Batch) bool {
	b.Reset()
	rows := s.c.rows[s.next:min(s.next+7, len(s.c.rows))]
	part := (&namedCase{rows: rows}).batch()
	b.Data, b.URLs, b.Lines, b.UserAgents, b.Times = part.Data, part.URLs, part.Lines, part.UserAgents, part.Times
	for i := range b.Lines {
		b.Lines[i] += int64(s.next)
	}
	s.next += len(rows)
	return len(rows) > 0
}

func (s *caseSource) Err() error   { return nil }
func (s *caseSource) Close() error { return nil }

// TestNamedWorkers checks that nothing depends on the number of workers, and that rows without a crawler can be
// skipped.
func TestNamedWorkers(t *testing.T) {
	c := randomNamed(rand.New(rand.NewPCG(28, 7)))
	c.texts = append(c.texts[:1], "User-agent: Exampibot\nUser-agent: imagesift\nDisallow: /a\n")
	for i := range 500 {
		c.rows = append(c.rows, namedRow{0, []string{"Exampibot/0.8", "ImageSift", "Firefox/1.0", "nobody"}[i%4], "/a"})
	}
	for _, mode := range []LogAgents{LogAgentsStar, LogAgentsSkip} {
		s := buildStore(t, StoreOptions{Dialect: robots.Google, LogAgents: mode}, "https://a.com", c.texts[1])
		var first []string
		var counts Stats
		for _, workers := range []int{1, 2, 5} {
			sink := &nameSink{look: s.NewLookup()}
			stats, err := Run(context.Background(), s, &caseSource{c: c}, sink, Options{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first, counts = sink.rows, stats
			}
			if !slices.Equal(sink.rows, first) || !slices.Equal(stats.Named, counts.Named) || stats.Skipped != counts.Skipped || stats.Violations != counts.Violations {
				t.Errorf("%d workers: %d rows, %+v; one: %d, %+v", workers, len(sink.rows), stats.Named, len(first), counts.Named)
			}
		}
		byName := map[string]int64{}
		for _, row := range first {
			byName[strings.Fields(row)[1]]++
		}
		for _, n := range counts.Named {
			if rows := n.Allowed + n.Denied + n.Unknown; rows != byName[n.Name] || n.Violations == 0 {
				t.Errorf("%s has %+v, want %d rows", n.Name, n, byName[n.Name])
			}
		}
		if skip := mode == LogAgentsSkip; len(counts.Named) != 2 || counts.Named[0].Name != "exampibot" || (byName["*"] > 0) == skip ||
			(counts.Skipped > 0) != skip || len(first)+int(counts.Skipped) != len(c.rows) {
			t.Errorf("mode %d: %+v, %d rows without a crawler, %d skipped of %d", mode, counts.Named, byName["*"], counts.Skipped, len(c.rows))
		}
	}
}

// TestNamedOld compares with old rules that name other crawlers: a crawler that either names counts.
func TestNamedOld(t *testing.T) {
	const star = "User-agent: *\nDisallow: /s\n"
	for _, mode := range []LogAgents{LogAgentsStar, LogAgentsSkip} {
		opt := StoreOptions{Dialect: robots.Google, LogAgents: mode}
		now := buildStore(t, opt, "https://a.com", star+"User-agent: newbie\nDisallow: /\n")
		old := buildStore(t, opt, "https://a.com", star+"User-agent: gone\nUser-agent: newbie\nDisallow: /g\n")
		var got []string
		sink := &ownerSink{now: now.NewLookup(), old: old.NewLookup(), rows: &got}
		c := &namedCase{rows: []namedRow{
			{0, "gone/1", "/g"}, {0, "gone/1", "/s"}, {0, "Newbie/1 gone", "/g"}, {0, "newbie", "/x"}, {0, "nobody", "/s"}, {0, "GPTBot", "/s"}, {0, "gone", "/x"},
		}}
		if _, err := Run(context.Background(), now, &caseSource{c: c}, sink, Options{Workers: 1, Old: old}); err != nil {
			t.Fatal(err)
		}
		want := []string{"1 gone opened", "2 gone closed", "3 newbie other_rule", "4 newbie closed", "5 * same", "6 GPTBot same", "7 gone same"}
		if mode == LogAgentsSkip {
			want = slices.Delete(want, 4, 5)
		}
		if !slices.Equal(got, want) {
			t.Errorf("mode %d: %q, want %q", mode, got, want)
		}
	}
}

// ownerSink keeps the crawlers of the rows that changed.
type ownerSink struct {
	now, old *Lookup
	rows     *[]string
}

func (s *ownerSink) Write(b *Batch) error {
	s.now.Use(b)
	s.old.Use(b.Old)
	list := NewAgentList(s.now, s.old, MaxNamed)
	for i := range b.URLs {
		number := list.Number(b, i)
		*s.rows = append(*s.rows, fmt.Sprint(b.Lines[i], " ", list.Names()[number], " ", b.Changes[i]))
	}
	return nil
}

func (s *ownerSink) Close() error { return nil }

// TestNamedHostile has a file with more groups than are read, and headers as long as a line may be.
func TestNamedHostile(t *testing.T) {
	var text, header strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&text, "User-agent: bot%s\nDisallow: /%d\n", lettersOf(i), i)
	}
	for i := range 10_000 {
		fmt.Fprintf(&header, "other%s/1.0 ", lettersOf(i))
	}
	header.WriteString("BOT" + lettersOf(9_999))
	r := robots.Response{Origin: "https://a.com", Status: 200, Body: []byte(text.String())}
	opt := StoreOptions{LogAgents: LogAgentsStar}
	stores := waysToOpen(t, makePack(t, robots.RFC9309, r), opt)
	stores["built"] = buildStore(t, opt, "https://a.com", text.String())
	for how, s := range stores {
		b := logBatch([]logRow{{header.String(), "https://a.com/9999"}, {"\xff\xfe bot" + lettersOf(3) + "\x00", "https://a.com/4"}, {"bot" + lettersOf(3), "https://a.com/3"}})
		e := s.NewEvaluator()
		e.Evaluate(b)
		look := s.NewLookup()
		look.Use(b)
		for i, want := range []Access{Denied, Allowed, Denied} {
			name := look.AgentName(b.Rulings[i], int(b.Agents[i]))
			if !strings.HasPrefix(name, "bot") || b.Verdicts[i].Access != want {
				t.Errorf("%s: row %d has crawler %q and %v", how, i, name, b.Verdicts[i])
			}
		}
		if len(e.clients.known) != 2 {
			t.Errorf("%s: %d headers are remembered", how, len(e.clients.known))
		}
	}
}

// lettersOf writes a number in letters.
func lettersOf(n int) string {
	return string([]byte{byte('a' + n%26), byte('a' + n/26%26), byte('a' + n/676%26), byte('a' + n/17576%26)})
}

// TestNamedDoesNotAllocate checks that rows of crawlers that a robots.txt names do not allocate, once their headers are
// known or if these are too long to be remembered.
func TestNamedDoesNotAllocate(t *testing.T) {
	s := buildStore(t, StoreOptions{Dialect: robots.Google, LogAgents: LogAgentsStar}, "https://a.com", "User-agent: Exampibot\nDisallow: /t\n")
	rows := logBatch([]logRow{{"Exampibot/0.8", "https://a.com/t"}, {strings.Repeat("exampi bot ", 2000) + "Exampibot", "https://a.com/u"}})
	e, b := s.NewEvaluator(), &Batch{}
	if n := testing.AllocsPerRun(100, func() {
		b.Reset()
		b.Data, b.URLs, b.Lines, b.UserAgents = rows.Data, rows.URLs, rows.Lines, rows.UserAgents
		e.Evaluate(b)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if b.Verdicts[0].Access != Denied || b.Verdicts[1].Access != Allowed || b.Agents[1] != b.Agents[0] {
		t.Errorf("%+v, agents %v", b.Verdicts, b.Agents)
	}
}
