package engine

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/robots"
)

// A timedRow is a row with a time; the zero time is unknown.
type timedRow struct {
	url  string
	time time.Time
}

// timedBatch returns the rows as a Source would yield them.
func timedBatch(rows []timedRow) *Batch {
	b := &Batch{}
	for i, r := range rows {
		appendRow(b, r.url, int64(i+1))
		moment := int64(NoTime)
		if !r.time.IsZero() {
			moment = r.time.UnixMicro()
		}
		b.Times = append(b.Times, moment)
	}
	return b
}

// describeTimed describes row i of a batch for each agent, as a Sink sees it.
func describeTimed(s *Store, look *Lookup, b *Batch, i int) string {
	var w strings.Builder
	look.Use(b)
	if stray, isStray := b.Sites[i].Stray(); b.Sites[i] == NoSite {
		w.WriteString("-")
	} else if isStray {
		w.Write(b.Strays[stray])
	} else {
		w.WriteString(string(look.Origin(b.Sites[i])))
	}
	n := s.agentsPerURL()
	for a, v := range b.Verdicts[i*n : (i+1)*n] {
		rule := robots.Rule{}
		if v.Rule != NoRule {
			rule = look.Rule(b.Rulings[i], b.agent(i, a), v.Rule)
		}
		w.WriteString(verdictText(v, rule))
	}
	return w.String()
}

func verdictText(v Verdict, r robots.Rule) string {
	text := fmt.Sprintf(" | %s %s", [...]string{"unknown", "deny", "allow"}[v.Access], v.Reason)
	if v.Rule != NoRule {
		text += fmt.Sprintf(" %d %s", r.Line, r)
	}
	return text
}

// day returns a time on the day with this number.
func day(n, hour int) time.Time { return time.Date(2024, 1, n, hour, 0, 0, 0, time.UTC) }

// TestRowTimes has origins whose rules change, and the verdicts at several times.
func TestRowTimes(t *testing.T) {
	const private, all = "a | deny rule 2 Disallow: /private", "a | deny rule 2 Disallow: /"
	responses := func(list ...robots.Response) []robots.Response {
		for i := range list {
			if list[i].Origin == "" {
				list[i].Origin = "https://a"
			}
		}
		return list
	}
	ok := func(text string, at time.Time) robots.Response {
		return robots.Response{Status: 200, Body: []byte(text), FetchedAt: at}
	}
	type moment struct {
		at   time.Time
		want string
	}
	for _, c := range []struct {
		name      string
		responses []robots.Response
		moments   []moment
	}{
		{"a change", responses(ok(rulesText, day(10, 12)), ok(otherText, day(20, 12))), []moment{
			{day(9, 0), "a | allow no_robots"},
			{day(10, 12).Add(-time.Microsecond), "a | allow no_robots"},
			{day(10, 12), private},
			{day(20, 12).Add(-time.Microsecond), private},
			{day(20, 12), all},
			{day(99, 0), all},
			{time.Time{}, all},
		}},
		{"the same again", responses(ok(rulesText, day(10, 0)), ok(rulesText, day(20, 0)), ok(otherText, day(21, 0)), ok(rulesText, day(22, 0))), []moment{
			{day(15, 0), private}, {day(20, 1), private}, {day(21, 1), all}, {day(22, 1), private},
		}},
		{"of unknown time", responses(ok(otherText, time.Time{}), ok(rulesText, day(20, 0))), []moment{
			{time.Unix(0, 0), all}, {day(19, 0), all}, {day(20, 0), private},
		}},
		{"a failure, and a good copy before it", responses(ok(rulesText, day(1, 0)), robots.Response{Status: 503, FetchedAt: day(2, 0)}), []moment{
			{day(1, 9), private},
			{day(2, 0), "a | deny unreachable"},
			{day(32, 0), "a | deny unreachable"},
			{day(32, 0).Add(time.Microsecond), private},
			{time.Time{}, "a | deny unreachable"},
		}},
		{"a failure", responses(robots.Response{Status: 503, FetchedAt: day(2, 0)}), []moment{
			{day(32, 0), "a | deny unreachable"}, {day(32, 1), "a | allow unreachable_expired"},
		}},
		{"a failure, and a newer capture of another origin", responses(robots.Response{Status: 503, FetchedAt: day(2, 0)}, robots.Response{Origin: "https://b", Status: 200, FetchedAt: day(40, 0)}), []moment{
			{day(33, 0), "a | allow unreachable_expired"}, {time.Time{}, "a | deny unreachable"},
		}},
		{"a target that changes", responses(
			robots.Response{Status: 301, Location: "https://b/robots.txt", FetchedAt: day(2, 0)}, robots.Response{Origin: "https://b", Status: 200, Body: []byte(rulesText), FetchedAt: day(2, 1)},
			robots.Response{Origin: "https://b", Status: 200, Body: []byte(otherText), FetchedAt: day(5, 0)}), []moment{
			{day(1, 0), "a | allow no_robots"}, {day(2, 0), private}, {day(3, 0), private}, {day(5, 0), all},
		}},
		{"a file", responses(robots.Response{Status: 200, Body: []byte(rulesText), FetchedAt: day(9, 0), File: true}), []moment{
			{day(1, 0), private}, {day(9, 0), private}, {time.Time{}, private},
		}},
		{"a file behind a capture", responses(ok(otherText, day(3, 0)), robots.Response{Status: 200, Body: []byte(rulesText), FetchedAt: day(9, 0), File: true}), []moment{
			{day(1, 0), "a | allow no_robots"}, {day(8, 0), all}, {day(9, 0), private},
		}},
	} {
		var rows []timedRow
		var undated, early int64
		for _, m := range c.moments {
			rows = append(rows, timedRow{"https://a/private", m.at})
			if m.at.IsZero() {
				undated++
			}
			if strings.HasSuffix(m.want, "no_robots") {
				early++
			}
		}
		opt := StoreOptions{Dialect: robots.Google, RowTimes: true}
		for way, s := range timedStores(t, opt, c.responses) {
			b := timedBatch(rows)
			s.NewEvaluator().Evaluate(b)
			look, count := s.NewLookup(), newCounter(s, 1)
			for i, m := range c.moments {
				if got := describeTimed(s, look, b, i); got != "https://"+m.want {
					t.Errorf("%s, %s, at %v:\n got %s\nwant https://%s", c.name, way, m.at, got, m.want)
				}
			}
			if count.countBatch(b); count.stats.Undated != undated || count.stats.Early != early || count.stats.Origins != 0 {
				t.Errorf("%s, %s: %d rows without a time, %d early, want %d, %d", c.name, way, count.stats.Undated, count.stats.Early, undated, early)
			}
			if got := sumCounts([]*counter{count}, newBusiest(s, nil)).Origins; got != 1 {
				t.Errorf("%s, %s: %d origins", c.name, way, got)
			}
		}
	}
}

// timedStores returns the store of the responses, and stores of a pack with them.
func timedStores(t *testing.T, opt StoreOptions, all []robots.Response) map[string]*Store {
	t.Helper()
	stores := waysToOpen(t, makePack(t, opt.Dialect, all...), opt)
	stores["files"] = storeOf(t, opt, all...)
	return stores
}

// TestRowTimesRandom compares rows of random histories with the reference, which decides each row alone at its time:
// from files and from packs, whatever stays in memory, for any order of rows and any size of batches.
func TestRowTimesRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 3))
	rounds := 120
	if testing.Short() {
		rounds = 12
	}
	for range rounds {
		all := randomResponses(r)
		for i := range all {
			all[i].File = all[i].Status == 200 && all[i].URL == "" && r.IntN(4) == 0
		}
		d := []robots.Dialect{robots.Google, robots.RFC9309, robots.Yandex}[r.IntN(3)]
		opt := StoreOptions{
			Dialect: d, RowTimes: true, Agents: []string{"*", "a", "Googlebot-News", "Googlebot-Image"},
			Directives: randomDirectives(r), Missing: MissingUnknown,
		}
		rows := randomRows(r, all)
		ref := newTimedReference(all, opt)
		stores := timedStores(t, opt, all)
		for way, s := range stores {
			if got, want := s.RulesHash(), stores["files"].RulesHash(); got != want || s.InForce() != stores["files"].InForce() {
				t.Fatalf("%s: hash %s of %d, want %s of %d", way, got, s.InForce(), want, stores["files"].InForce())
			}
			e, look := s.NewEvaluator(), s.NewLookup()
			for part := range slices.Chunk(rows, 1+r.IntN(len(rows))) {
				b := timedBatch(part)
				e.Evaluate(b)
				if err := s.Err(); err != nil {
					t.Fatal(err)
				}
				for i, row := range part {
					if got, want := describeTimed(s, look, b, i), ref.describe(row); got != want {
						t.Fatalf("%s, %v: %s at %v:\n got %s\nwant %s", way, d, row.url, row.time, got, want)
					}
					if slices.Contains(opt.Directives, robots.CleanParamLines) {
						if got, want := b.Piece(b.Canonicals[i]), ref.canonical(row); !bytes.Equal(got, want) {
							t.Fatalf("%s, %v: canonical URL of %s at %v: %q, want %q", way, d, row.url, row.time, got, want)
						}
					}
				}
			}
		}
	}
}

// randomRows returns rows of some origins with times near those of the responses, some of them in streaks.
func randomRows(r *rand.Rand, all []robots.Response) (rows []timedRow) {
	origins := []string{"https://a.com", "https://a.com:8080", "https://a.com-b.com", "http://a.com", "https://b.com", "https://c.com", "no URL"}
	paths := []string{"/", "/private/x", "/a/b", "/x1.css", "/x%2A?sid=1&b", "/robots.txt", "/xay", "/q/7/z"}
	run := 1 + r.IntN(12)
	origin := ""
	for i := range 400 {
		if i%run == 0 {
			origin = origins[r.IntN(len(origins))]
		}
		row := timedRow{url: origin + paths[r.IntN(len(paths))], time: time.Unix(int64(r.IntN(120)-20)*86400, 0)}
		switch r.IntN(5) {
		case 0:
			row.time = time.Time{}
		case 1:
			if len(all) > 0 {
				row.time = all[r.IntN(len(all))].FetchedAt.Add(time.Duration(r.IntN(3)-1) * time.Microsecond)
			}
		case 2:
			if len(all) > 0 {
				row.time = all[r.IntN(len(all))].FetchedAt.Add(robots.Lapse + time.Duration(r.IntN(3)-1)*time.Microsecond)
			}
		}
		row.time = row.time.Truncate(time.Microsecond)
		if row.time.Year() < 1900 { // near the time of a response without a time
			row.time = time.Time{}
		}
		rows = append(rows, row)
	}
	return rows
}

// A timedReference decides each row alone from the responses.
type timedReference struct {
	all     []robots.Response
	history *robots.History
	opt     StoreOptions
}

func newTimedReference(all []robots.Response, opt StoreOptions) *timedReference {
	ref := &timedReference{all, robots.NewHistory(opt.Dialect), opt}
	for _, resp := range all {
		ref.history.Add(resp)
	}
	return ref
}

// outcome returns the outcome in force for an origin at the time of a row.
func (ref *timedReference) outcome(o robots.Origin, at time.Time) robots.Outcome {
	out := ref.history.Outcome(o, at)
	if out.Effect != robots.NoRecord {
		return out
	}
	var first *robots.Response
	for i := range ref.all {
		resp := &ref.all[i]
		if key, _ := robots.KeyOf(resp); key == string(o)+robots.TxtPath && (first == nil || !resp.FetchedAt.After(first.FetchedAt)) {
			first = resp
		}
	}
	if first != nil && first.File {
		return ref.history.Outcome(o, first.FetchedAt)
	}
	return out
}

// describe returns the expected result of describeTimed for a row.
func (ref *timedReference) describe(row timedRow) string {
	u, err := robots.SplitURL([]byte(row.url))
	if err != nil {
		return "-" + strings.Repeat(verdictText(Verdict{NoRule, ReasonBadURL, Unknown}, robots.Rule{}), len(ref.opt.Agents))
	}
	origin, err := robots.AppendOrigin(nil, u)
	if err != nil {
		return err.Error()
	}
	var text strings.Builder
	text.Write(origin)
	path, _ := ref.opt.Dialect.Path(u.Path, nil)
	out := ref.outcome(robots.Origin(origin), row.time)
	for _, name := range ref.opt.Agents {
		text.WriteString(ref.verdict(out, path, name))
	}
	return text.String()
}

// verdict describes the verdict for an agent.
func (ref *timedReference) verdict(out robots.Outcome, path []byte, agent string) string {
	d := ref.opt.Dialect
	switch {
	case out.Effect == robots.NoRecord:
		return verdictText(Verdict{NoRule, ReasonNoRobots, Unknown}, robots.Rule{})
	case d.AlwaysAllowed(path):
		return verdictText(Verdict{NoRule, ReasonRobotsTxt, Allowed}, robots.Rule{})
	case out.Effect != robots.UseRules:
		return verdictText(fixedVerdict(out), robots.Rule{})
	}
	bound, ok := robots.Parse(ref.all[out.Capture].Body, d).Select(robots.NewAgent(agent, d))
	if !ok {
		return verdictText(Verdict{NoRule, ReasonNoGroup, Allowed}, robots.Rule{})
	}
	i := robots.Decide(bound, path, d)
	switch {
	case i < 0:
		return verdictText(Verdict{NoRule, ReasonDefault, Allowed}, robots.Rule{})
	case bound[i].Allow:
		return verdictText(Verdict{0, ReasonRule, Allowed}, bound[i])
	}
	return verdictText(Verdict{0, ReasonRule, Denied}, bound[i])
}

// fixedVerdict returns the verdict of an outcome without rules.
func fixedVerdict(out robots.Outcome) Verdict {
	v := Verdict{NoRule, 0, Allowed}
	if out.Effect == robots.DisallowAll {
		v.Access = Denied
	}
	for r := range Reason(NumReasons) {
		if r.String() == out.Cause.String() {
			v.Reason = r
		}
	}
	return v
}

// canonical returns the URL of a row without the parameters of Clean-param.
func (ref *timedReference) canonical(row timedRow) []byte {
	u, err := robots.SplitURL([]byte(row.url))
	if err != nil {
		return nil
	}
	origin, err := robots.AppendOrigin(nil, u)
	if err != nil {
		return nil
	}
	out := ref.outcome(robots.Origin(origin), row.time)
	if out.Effect != robots.UseRules {
		return []byte(row.url)
	}
	params := robots.Inspect(ref.all[out.Capture].Body, ref.opt.Dialect).CleanParams
	return params.AppendCanonical(nil, []byte(row.url), ref.opt.Dialect)
}

// TestRowTimesLogAgents checks that each row is decided for its own crawler at its own time.
func TestRowTimesLogAgents(t *testing.T) {
	all := []robots.Response{
		{Origin: "https://a.com", Status: 200, Body: []byte("User-agent: GPTBot\nDisallow: /\n"), FetchedAt: day(10, 0)},
		{Origin: "https://a.com", Status: 200, Body: []byte(rulesText), FetchedAt: day(20, 0)},
	}
	rows := []struct {
		logRow
		at   time.Time
		want string
	}{
		{logRow{gptHeader, "https://a.com/private/x"}, day(9, 0), "https://a.com | allow no_robots"},
		{logRow{gptHeader, "https://a.com/private/x"}, day(11, 0), "https://a.com | deny rule 2 Disallow: /"},
		{logRow{browserHeader, "https://a.com/private/x"}, day(11, 0), ""},
		{logRow{googleHeader, "https://a.com/private/x"}, day(12, 0), "https://a.com | allow no_group"},
		{logRow{gptHeader, "https://a.com/x"}, day(21, 0), "https://a.com | allow default"},
		{logRow{googleHeader, "https://a.com/private/x"}, day(21, 0), "https://a.com | deny rule 2 Disallow: /private"},
	}
	for way, s := range timedStores(t, StoreOptions{Dialect: robots.Google, RowTimes: true, LogAgents: LogAgentsSkip}, all) {
		var logRows []logRow
		for _, r := range rows {
			logRows = append(logRows, r.logRow)
		}
		b := logBatch(logRows)
		for _, r := range rows {
			b.Times = append(b.Times, r.at.UnixMicro())
		}
		s.NewEvaluator().Evaluate(b)
		look, i := s.NewLookup(), 0
		for _, r := range rows {
			if r.want == "" {
				continue
			}
			if got := describeTimed(s, look, b, i); got != r.want {
				t.Errorf("%s: row %d: %s, want %s", way, i, got, r.want)
			}
			i++
		}
		if i != b.Len() {
			t.Errorf("%s: %d rows, want %d", way, b.Len(), i)
		}
	}
}
