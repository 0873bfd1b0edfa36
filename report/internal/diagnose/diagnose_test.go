package diagnose

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// The log of the tests: so many days from begin on, with a robots.txt and four clients.
const (
	begin    = 1_790_035_200 // midnight
	days     = 14
	origin   = "https://www.example.com"
	sections = 4
)

var (
	textOpen = "User-agent: *\nDisallow: /admin/\n"
	agents   = []Agent{{}, {Name: "Googlebot", Search: true, Verified: true}, {Name: "bingbot", Search: true}, {Name: "GPTBot"}}
	names    = [sections]string{"/product/", "/blog/", "/help/", "/news/"}
)

// faultless returns the requests of a site without a fault, in order of time.
func faultless(rng *rand.Rand) (all []request) {
	for agent, daily := range []float64{1500, 400, 200, 150} {
		for at := float64(begin); at < begin+days*day; at += rng.ExpFloat64() * day / daily {
			r := request{origin: origin, agent: uint16(agent), status: 200, at: int64(at), size: 9000, client: uint32(len(all) % 50)}
			switch n := rng.IntN(100); {
			case n < 20 && agent < 2:
				r.path = fmt.Sprintf("/assets/%d.css", rng.IntN(30))
			case n < 22:
				r.path = "/gone"
				r.status = 404
			default:
				r.path = fmt.Sprint(names[rng.IntN(sections)], rng.IntN(300))
			}
			all = append(all, r)
		}
		for at := int64(begin) + int64(agent)*700; agent > 0 && at < begin+days*day; at += 3*hour + rng.Int64N(hour) {
			if agent == 2 { // it comes by http, and is redirected
				all = append(all, request{origin: origin, path: txtName, agent: uint16(agent), status: 301, at: at - 1, size: 160})
			}
			all = append(all, request{origin: origin, path: txtName, agent: uint16(agent), status: 200, at: at, size: int64(len(textOpen))})
		}
	}
	slices.SortStableFunc(all, func(a, b request) int { return int(a.at - b.at) })
	return all
}

// find returns the findings of requests. It counts them in their order, and shuffled in little memory.
func find(t *testing.T, all []request, texts []Text) Diagnosis {
	t.Helper()
	failing := map[string]URLs{}
	for _, dir := range append([]string{"/"}, names[:]...) {
		missing, failed := map[string]bool{}, map[string]bool{}
		for _, r := range all {
			if strings.HasPrefix(r.path, dir) {
				missing[r.path] = missing[r.path] || r.status == 404
				failed[r.path] = failed[r.path] || r.status >= 500
			}
		}
		failing[origin+dir] = URLs{Missing: number(missing), Failing: number(failed)}
	}
	var first []byte
	var d Diagnosis
	for _, memory := range []int64{1 << 30, 0} {
		c := New(memory, t.TempDir())
		add(t, c, all)
		var err error
		d, err = Find(c, &Log{Agents: agents, Texts: texts, Statuses: true, Failing: failing})
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if memory == 0 && string(text) != string(first) {
			t.Errorf("in little memory:\n%s\nwant\n%s", text, first)
		}
		first = text
		all = slices.Clone(all)
		rand.New(rand.NewPCG(1, 1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	return d
}

// number returns how many values of a map are true.
func number(of map[string]bool) (n int64) {
	for _, is := range of {
		n += int64(bit(is))
	}
	return n
}

// A fault is planted in a log: its time, and what happens to a request in it. The row about it has the requests that
// counted says.
type fault struct {
	code, path  string
	agents      []string
	from, to    int64 // hours after begin
	more        int64 // minutes before from, and after to
	change      func(rng *rand.Rand, r *request) (keep bool)
	counted, of func(r *request) bool
	texts       []string // from, and to
	approximate bool     // the requests are estimated
}

// within reports whether a path is of a directory.
func within(r *request, dir string) bool { return strings.HasPrefix(r.path, dir) }

// faults are planted one at a time.
var faults = []fault{
	{code: Outage, path: "/blog/", from: 150, to: 155, change: func(_ *rand.Rand, r *request) bool {
		if within(r, "/blog/") {
			r.status = 502
		}
		return true
	}, counted: func(r *request) bool { return r.status == 502 }},
	{code: Outage, path: "/", from: 150, to: 153, change: func(_ *rand.Rand, r *request) bool {
		r.status = 503
		return true
	}, counted: func(r *request) bool { return r.status == 503 && r.path != txtName && !within(r, "/assets/") }},
	{code: Outage, path: "/", from: 151, to: 152, more: 5, change: func(_ *rand.Rand, r *request) bool { // in one whole hour and parts of two others, of which few directories can tell
		r.status = 503
		return true
	}, counted: func(r *request) bool { return r.status == 503 && r.path != txtName && !within(r, "/assets/") }},
	{code: ServerErrors, path: "/help/", from: 0, to: days * 24, change: func(rng *rand.Rand, r *request) bool {
		if within(r, "/help/") && rng.IntN(10) == 0 {
			r.status = 500
		}
		return true
	}, counted: func(r *request) bool { return r.status == 500 }, of: func(r *request) bool { return within(r, "/help/") }},
	{code: ServerErrors, path: "/help/", from: 168, to: days * 24, change: func(rng *rand.Rand, r *request) bool {
		if within(r, "/help/") && rng.IntN(6) == 0 {
			r.status = 504
		}
		return true
	}, counted: func(r *request) bool { return r.status == 504 }},
	{code: CrawlerRefused, path: "/", agents: []string{"Googlebot"}, from: 150, to: 200, change: func(_ *rand.Rand, r *request) bool {
		if r.agent == 1 {
			r.status = 403
		}
		return true
	}, counted: func(r *request) bool { return r.status == 403 && !within(r, "/assets/") }},
	{code: RobotsFailed, path: txtName, from: 150, to: 170, change: func(_ *rand.Rand, r *request) bool {
		if r.path == txtName && r.status == 200 {
			r.status = 503
		}
		return true
	}, counted: func(r *request) bool { return r.status == 503 }},
	{code: RobotsMissing, path: txtName, from: 150, to: 170, change: func(_ *rand.Rand, r *request) bool {
		if r.path == txtName && r.status == 200 {
			r.status = 404
		}
		return true
	}, counted: func(r *request) bool { return r.status == 404 && r.path == txtName }},
	{code: RobotsOther, path: txtName, from: 150, to: 190, change: func(_ *rand.Rand, r *request) bool {
		if r.path == txtName && r.status == 200 {
			r.size = 14_000
		}
		return true
	}, counted: func(r *request) bool { return r.size == 14_000 }},
	{code: CrawlerStopped, agents: []string{"Googlebot"}, from: 150, to: 200, change: func(_ *rand.Rand, r *request) bool { return r.agent != 1 }, approximate: true},
	{code: CrawlerStopped, agents: []string{"Googlebot", "bingbot", "GPTBot"}, from: 150, to: 200, change: func(_ *rand.Rand, r *request) bool { return r.agent == 0 }, approximate: true},
	{code: CrawlerSlowed, agents: []string{"Googlebot"}, from: 168, to: days * 24, change: func(rng *rand.Rand, r *request) bool { return r.agent != 1 || rng.IntN(5) == 0 }, approximate: true},
	{code: CrawlerSlowed, agents: []string{"bingbot"}, from: 110, to: 230, change: func(rng *rand.Rand, r *request) bool { return r.agent != 2 || rng.IntN(8) == 0 }, approximate: true},
	{code: CrawlerSurge, agents: []string{"GPTBot"}, from: 150, to: 160, change: func(_ *rand.Rand, r *request) bool {
		if r.agent == 0 && r.path != "/gone" {
			r.agent = 3
		}
		return true
	}, counted: func(r *request) bool { return r.agent == 3 }},
	{code: NotFoundSection, path: "/news/", agents: []string{"Googlebot", "bingbot"}, from: 150, to: days * 24, change: func(_ *rand.Rand, r *request) bool {
		if within(r, "/news/") {
			r.status = 404
		}
		return true
	}, counted: func(r *request) bool { return r.status == 404 && within(r, "/news/") && (r.agent == 1 || r.agent == 2) }},
	{code: NotFoundSection, path: "/", agents: []string{"Googlebot", "bingbot"}, from: 150, to: days * 24, change: func(_ *rand.Rand, r *request) bool {
		if r.path != txtName {
			r.status = 404
		}
		return true
	}, counted: func(r *request) bool {
		return r.path != txtName && !within(r, "/assets/") && (r.agent == 1 || r.agent == 2)
	}},
	{code: SiteClosed, path: "/", agents: []string{"Googlebot", "bingbot"}, from: 150, to: 220, texts: []string{"User-agent: *\nDisallow: /\n", textOpen}, change: func(_ *rand.Rand, r *request) bool { return r.agent == 0 || r.path == txtName }, approximate: true},
	{code: SectionClosed, path: "/product/", agents: []string{"Googlebot", "bingbot"}, from: 168, to: days * 24, texts: []string{textOpen + "Disallow: /product/\n"}, change: func(_ *rand.Rand, r *request) bool { return r.agent == 0 || !within(r, "/product/") }, approximate: true},
	{code: ResourcesBlocked, path: "/assets/", agents: []string{"Googlebot", "bingbot"}, from: 168, to: days * 24, texts: []string{textOpen + "Disallow: /assets/\n"}, change: func(_ *rand.Rand, r *request) bool { return r.agent == 0 || !within(r, "/assets/") }, approximate: true},
	{code: CrawlerSurge, agents: []string{"GPTBot"}, from: 0, to: 10, change: func(_ *rand.Rand, r *request) bool { // begun before the log
		if r.agent == 0 && r.path != "/gone" {
			r.agent = 3
		}
		return true
	}, counted: func(r *request) bool { return r.agent == 3 }},
}

// TestFaults plants faults, and holds that each has one row, with its agents, path, time and requests, and nothing else
// has one. Requests are counted once more, row by row.
func TestFaults(t *testing.T) {
	for n, f := range faults {
		t.Run(fmt.Sprint(f.code, n), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(n), 9))
			texts := []Text{{Origin: origin, At: timeOf(begin - day), Body: []byte(textOpen)}}
			from, to := begin+f.from*hour-f.more*60, begin+f.to*hour+f.more*60
			for i, text := range f.texts {
				texts = append(texts, Text{Origin: origin, At: timeOf([]int64{from, to}[i]), Body: []byte(text)})
			}
			var all []request
			counted, of := int64(0), int64(0)
			for _, r := range faultless(rng) {
				if r.at >= from && r.at < to {
					if r.path == txtName && r.status == 200 && len(f.texts) > 0 {
						r.size = int64(len(f.texts[0]))
					}
					if !f.change(rng, &r) {
						continue
					}
					counted += int64(bit(f.counted != nil && f.counted(&r)))
					of += int64(bit(f.of != nil && f.of(&r)))
				}
				all = append(all, r)
			}
			d := find(t, all, texts)
			if len(d.Findings) != 1 || len(d.Limits) > 0 {
				t.Fatalf("%d findings and %d limits: %+v", len(d.Findings), len(d.Limits), d)
			}
			r := d.Findings[0]
			slices.Sort(r.Agents)
			want := slices.Sorted(slices.Values(f.agents))
			if r.Code != f.code || r.Path != f.path || len(want) > 0 && !slices.Equal(r.Agents, want) {
				t.Errorf("got %s %s %v, want %s %s %v", r.Code, r.Path, r.Agents, f.code, f.path, want)
			}
			slack := max(4*hour, (to-from)/10) // crawlers ask for robots.txt every three hours
			if f.counted != nil && f.path != txtName {
				slack = hour
			}
			if !near(r.From.Unix(), from, slack) || !near(r.To.Unix(), to, slack) {
				t.Errorf("from %s to %s, want %s to %s", r.From, r.To, timeOf(from), timeOf(to))
			}
			if f.counted != nil && r.Requests != counted || f.of != nil && r.Of != of {
				t.Errorf("%d requests of %d, want %d of %d", r.Requests, r.Of, counted, of)
			}
			if f.approximate && r.Requests < 20 {
				t.Errorf("%d requests", r.Requests)
			}
			if r.Ongoing != (f.to == days*24) || r.Sentence == "" || r.Remedy.Action == "" || strings.Contains(r.Sentence, "%!") {
				t.Errorf("goes on: %v, %q, %q", r.Ongoing, r.Sentence, r.Remedy.Action)
			}
			if isDated := strings.Contains(r.Sentence, r.From.Format("2 Jan ")) || r.whole; isDated != r.HasTime() {
				t.Errorf("%q has a time: %v", r.Sentence, r.HasTime())
			}
		})
	}
}

// TestFaultless holds that logs without faults have no finding, whole or cut, nor those with a restart, a page that is
// missing, or without statuses.
func TestFaultless(t *testing.T) {
	texts := []Text{{Origin: origin, At: timeOf(begin - day), Body: []byte(textOpen)}, {Origin: origin, At: timeOf(begin + 5*day), Body: []byte("# new\n" + textOpen)}}
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 3))
		all := faultless(rng)
		restart := begin + rng.Int64N(days*day)
		for i := range all {
			r := &all[i]
			if r.at >= restart && r.at < restart+180 {
				r.status = 502
			}
			if r.path == txtName && r.status == 200 && r.at > begin+5*day {
				r.size += 6
			}
		}
		if seed%3 == 1 {
			from := rng.Int64N(days/2) * day
			all = slices.DeleteFunc(all, func(r request) bool { return r.at < begin+from || r.at > begin+from+int64(seed)*day/2 })
		}
		if d := find(t, all, texts); len(d.Findings)+len(d.Limits) > 0 {
			t.Errorf("seed %d: %+v", seed, d)
		}
	}
}

// TestLimits holds that a log with a gap, or without crawlers, says so, and accuses nobody.
func TestLimits(t *testing.T) {
	all := faultless(rand.New(rand.NewPCG(8, 8)))
	gap := slices.DeleteFunc(slices.Clone(all), func(r request) bool { return r.at >= begin+5*day && r.at < begin+6*day })
	if d := find(t, gap, nil); len(d.Findings) > 0 || len(d.Limits) != 1 || d.Limits[0].Code != LogGap || !near(d.Limits[0].From.Unix(), begin+5*day, 600) || !near(d.Limits[0].To.Unix(), begin+6*day, 600) {
		t.Errorf("a gap: %+v", d)
	}
	n := 0 // on a small site, to which scanners came in bursts later
	gap = slices.DeleteFunc(gap, func(r request) bool {
		n++
		return n%6 > 0 && r.path != txtName
	})
	for i := range int64(24_000) {
		gap = append(gap, request{origin: origin, path: "/wp-login.php", status: 404, at: begin + 10*day + i%12*5*hour + i%3000, client: 7})
	}
	if d := find(t, gap, nil); len(d.Findings) > 0 || len(d.Limits) != 1 || d.Limits[0].Code != LogGap {
		t.Errorf("a gap, and bursts: %+v", d)
	}
	g := &grid{Log: &Log{Agents: agents}, from: begin, to: begin + days*day, step: hour, first: begin / hour, slots: days * 24, gaps: []segment{{120, 144}}}
	counts := slices.Repeat([]float64{10}, g.slots)
	clear(counts[120:144])
	if _, expected := g.newProfile(counts, segment{}).sums(segment{120, 144}); math.Abs(expected-240) > 1 {
		t.Errorf("%g requests are expected in a gap, want 240", expected)
	}
	g.gaps = nil
	weeks := slices.Repeat([]float64{10}, g.slots)
	for i := range weeks {
		if weekday := timeOf(g.startOf(i)).Weekday(); weekday == time.Saturday || weekday == time.Sunday {
			weeks[i] = 2
		}
	}
	for first, want := range map[int]float64{3: 240, 4: 48, 5: 48, 6: 240} { // from Friday to Monday
		if _, expected := g.newProfile(weeks, segment{}).sums(segment{24 * first, 24 * (first + 1)}); math.Abs(expected-want) > 1 {
			t.Errorf("%g requests are expected on %s, want %g", expected, timeOf(begin+int64(first)*day).Weekday(), want)
		}
	}
	g.rows, g.traffic = []Row{{Code: SiteClosed, Agents: []string{"Googlebot"}, From: timeOf(begin + 120*hour), To: timeOf(begin + 143*hour)}}, make([][]count, len(agents))
	for a := range g.traffic {
		for _, n := range counts {
			g.traffic[a] = append(g.traffic[a], count{n: n})
		}
	}
	for a, want := range []float64{0, 240, 0} { // of a crawler that the site kept away then, and of another
		if _, expected := g.profileOf(uint16(a), segment{}).sums(segment{120, 144}); a > 0 && (expected > 235) != (want > 0) {
			t.Errorf("%s: %g requests are expected while the site was closed", agents[a].Name, expected)
		}
	}
	people := slices.DeleteFunc(slices.Clone(all), func(r request) bool { return r.agent > 0 })
	if d := find(t, people, nil); len(d.Findings) > 0 || len(d.Limits) != 1 || d.Limits[0].Code != NoCrawlers {
		t.Errorf("no crawlers: %+v", d)
	}
	if d := find(t, nil, nil); len(d.Findings)+len(d.Limits) > 0 {
		t.Errorf("no row: %+v", d)
	}
}

// TestManySites holds that the slots of a log with as many sites as are examined get no longer, although each has many
// cells.
func TestManySites(t *testing.T) {
	c := New(1<<30, t.TempDir())
	defer c.Close()
	for i := range int64(mostSites) {
		for n := range int64(2400) {
			add(t, c, []request{{origin: fmt.Sprintf("https://%d.example", i), path: "/", status: 200 + n/200, at: begin + n%200*hour}})
		}
	}
	g, err := newGrid(c, &Log{Agents: agents})
	if err != nil || g.step != hour || len(g.sites) != mostSites {
		t.Errorf("slots of %d seconds for %d sites, error %v", g.step, len(g.sites), err)
	}
}

// TestBursts holds that a crawler with three busy days before many usual ones did not slow down, nor one that makes as
// many requests as before, in bursts; and that the sentence about one that did says since when.
func TestBursts(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after []float64 // daily requests in turn
		days          int       // before
		want          string
	}{
		{"three busy days", []float64{80, 50, 60}, []float64{5, 4, 6}, 3, ""},
		{"bursts", []float64{50, 60}, []float64{5, 4, 6, 200, 4}, 20, ""},
		{"slower", []float64{50, 60}, []float64{5, 4, 6}, 7, "Since 29 Sep 04:00 Googlebot fetches 90.8% less: about 5 requests per day, down from 54."},
	} {
		const length = 90
		g := &grid{Log: &Log{Agents: agents[:2], Statuses: true}, from: begin, to: begin + length*day - 1, step: hour, first: begin / hour, slots: length * 24}
		g.traffic = [][]count{make([]count, g.slots), make([]count, g.slots)}
		for i := range g.slots {
			now := c.before
			if i/24 >= c.days {
				now = c.after
			}
			n := int64(now[i/24%len(now)])
			g.traffic[0][i], g.traffic[1][i] = count{100, g.startOf(i), g.startOf(i)}, count{float64(n/24 + int64(bit(int64(i%24) < n%24))), g.startOf(i), g.startOf(i)}
		}
		g.findSlowed()
		var all []string
		for _, r := range g.rows {
			g.completeRow(&r)
			g.writeSentence(&r)
			all = append(all, r.Sentence)
		}
		if got := strings.Join(all, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestVisitors holds that the visitors' files of a closed directory are counted in all directories below it, and that
// images do not change the layout.
func TestVisitors(t *testing.T) {
	for _, name := range []string{"css", "woff2", "js", "gif", "JPG"} {
		all, closed, want := faultless(rand.New(rand.NewPCG(6, 4))), textOpen+"Disallow: /assets/\n", int64(0)
		isLayout := name != "gif" && name != "JPG"
		for i := range all {
			switch r := &all[i]; {
			case within(r, "/assets/"):
				r.path = fmt.Sprintf("/assets/%d/%d.%s", i%2, i%9, name)
				if i%50 == 0 {
					r.path = fmt.Sprintf("/assets/%d/%d.png", i%2, i%9)
				}
				want += int64(bit(r.agent == 0 && i%50 > 0))
			case r.path == txtName && r.status == 200 && r.at >= begin+7*day:
				r.size = int64(len(closed))
			}
		}
		d := find(t, all, []Text{{Origin: origin, At: timeOf(begin - day), Body: []byte(textOpen)}, {Origin: origin, At: timeOf(begin + 7*day), Body: []byte(closed)}})
		if len(d.Findings) != bit(isLayout) || isLayout && (d.Findings[0].Code != ResourcesBlocked || d.Findings[0].Evidence.Visitors != want) {
			t.Errorf("%s: %+v, want %d of visitors", name, d.Findings, want)
		}
	}
}

// TestNoRules holds that a robots.txt which is missing is no fault where it had no rules.
func TestNoRules(t *testing.T) {
	all := faultless(rand.New(rand.NewPCG(5, 4)))
	for i := range all {
		if all[i].path == txtName {
			all[i].status = 404
		}
	}
	for body, want := range map[string]int{"": 0, textOpen: 1} {
		if d := find(t, all, []Text{{Origin: origin, Body: []byte(body)}}); len(d.Findings) != want {
			t.Errorf("%q: %+v", body, d.Findings)
		}
	}
}

// TestSole holds that a rule that closes the only directory of a log does not close the site.
func TestSole(t *testing.T) {
	all := slices.DeleteFunc(faultless(rand.New(rand.NewPCG(4, 4))), func(r request) bool {
		return r.path != txtName && (!within(&r, "/product/") || r.agent > 0 && r.at >= begin+7*day)
	})
	texts := []Text{{Origin: origin, At: timeOf(begin - day), Body: []byte(textOpen)}, {Origin: origin, At: timeOf(begin + 7*day), Body: []byte(textOpen + "Disallow: /product/\n")}}
	d := find(t, all, texts)
	if len(d.Findings) != 1 || d.Findings[0].Code != SectionClosed || d.Findings[0].Evidence.Line != 3 {
		t.Errorf("%+v", d.Findings)
	}
}

// TestVerdict holds that all is well only if nothing was found and nobody fetched what is disallowed.
func TestVerdict(t *testing.T) {
	for want, d := range map[string]Diagnosis{
		"": {Findings: []Row{{}}, Violations: 1},
		"Nothing was found that requires action.":                                 {AllClear: true},
		"No problem was found. Check the inputs first: the numbers may be wrong.": {AllClear: true, Warned: true},
		"Nothing was found, but the log is too small to show that all is well. That needs status codes, times, and 100 page requests by one search crawler, most of them successful.": {},
		"No problem was found, but crawlers made 1,200 requests that robots.txt disallows.":                                                                                           {Violations: 1200},
	} {
		if got := d.Verdict(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, isDead := range []bool{false, true} { // where everybody gets 429, no crawler is refused
		all := faultless(rand.New(rand.NewPCG(5, 5)))
		for i := range all {
			if isDead && all[i].path != txtName {
				all[i].status = 429
			}
		}
		c := New(1<<30, t.TempDir())
		defer c.Close()
		add(t, c, all)
		for _, violations := range []int64{0, 1} {
			d, err := Find(c, &Log{Agents: agents, Statuses: true, Violations: violations})
			if err != nil || d.AllClear != (violations == 0 && !isDead) || d.Violations != violations {
				t.Errorf("dead: %t, %d violations: %+v, %v", isDead, violations, d, err)
			}
		}
	}
}

// TestRefusedTxt holds that a robots.txt which some crawlers are refused, and others get, is neither missing nor
// failing.
func TestRefusedTxt(t *testing.T) {
	for _, status := range []int64{403, 429} {
		for _, good := range []int64{200, 304} {
			all := faultless(rand.New(rand.NewPCG(6, 6)))
			for i := range all {
				switch r := &all[i]; {
				case r.path != txtName || r.status != 200:
				case r.agent == 3:
					r.status, r.client = status, uint32(i%2)
				default:
					r.status = good
				}
			}
			if d := find(t, all, []Text{{Origin: origin, At: timeOf(begin - day), Body: []byte(textOpen)}}); len(d.Findings) > 0 {
				t.Errorf("%d beside %d: %+v", status, good, d.Findings)
			}
		}
	}
	// Impostors from many addresses are refused, and crawlers get the file.
	var all []answer
	for i := range int64(400) {
		all = append(all, answer{at: begin + i*600, n: 1, agent: uint16(1 + i%2), status: 403, client: uint32(i)})
		if i%40 == 7 {
			all = append(all, answer{at: begin + i*600 + 1, n: 1, agent: uint16(1 + i/40%2), status: 304, client: uint32(1000 + i/40%2)})
		}
	}
	g := &grid{Log: &Log{Agents: agents}, from: begin, to: begin + days*day}
	missing := func(a answer) bool { return a.status == 403 }
	if runs := g.findTxtRuns(withoutRefused(all), missing, txtLasting); len(runs) > 0 {
		t.Errorf("impostors: %+v", runs)
	}
	none := slices.DeleteFunc(slices.Clone(all), func(a answer) bool { return a.status == 304 })
	if runs := g.findTxtRuns(withoutRefused(none), missing, txtLasting); len(runs) != 1 {
		t.Errorf("nobody gets the file: %+v", runs)
	}
	// A client that the site failed twice, with weeks between, is not refused.
	all = []answer{{n: 1, status: 503, client: 1}, {n: 20, status: 200, client: 2}, {n: 1, status: 404, client: 1}}
	if kept := withoutRefused(all); len(kept) != 3 {
		t.Errorf("two failures: %+v", kept)
	}
}

// TestRefusedAtTxt holds that a search crawler which gets 429 for robots.txt, and therefore requests hardly any page,
// is refused, unless other crawlers do not get the file either.
func TestRefusedAtTxt(t *testing.T) {
	for _, c := range []struct {
		name    string
		refuses func(r *request) bool
		want    string
	}{
		{"bingbot", func(r *request) bool { return r.agent == 2 }, "crawler_refused [bingbot] 429 n of n"},
		{"GPTBot", func(r *request) bool { return r.agent == 3 }, ""},
		{"every third time", func(r *request) bool { return r.agent == 2 && r.at%3 == 0 }, ""},
		{"all", func(r *request) bool { return r.agent > 0 }, "robots_txt_failed [Googlebot bingbot GPTBot] 429 n of n"},
	} {
		var all []request
		n := 0
		for _, r := range faultless(rand.New(rand.NewPCG(6, 7))) {
			if r.agent > 1 && r.path != txtName {
				if n++; n%400 > 0 {
					continue
				}
			}
			if r.status == 301 {
				continue
			}
			if r.status = 404; r.path != txtName { // there is no robots.txt
				r.status = 200
			}
			if (r.path == txtName || r.agent == 2) && c.refuses(&r) {
				r.status = 429
			}
			all = append(all, r)
		}
		got := []string{}
		for _, r := range find(t, all, nil).Findings {
			of := fmt.Sprint(r.Requests, " of ", r.Of)
			if r.Requests == r.Of && r.Requests > 50 {
				of = "n of n"
			}
			got = append(got, fmt.Sprint(r.Code, " ", r.Agents, " ", r.Evidence.Status, " ", of))
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
	}
}

// TestEnds holds that a row goes on if its next request may still come.
func TestEnds(t *testing.T) {
	g := &grid{Log: &Log{}, from: begin, to: begin + days*day, step: hour}
	for _, c := range []struct {
		code     string
		requests int64
		to       int64 // days
		want     bool
	}{{NotFoundSection, 30, days - 1, true}, {NotFoundSection, 300, days - 1, false}, {Outage, 30, days - 1, false}, {Outage, 30, days, true}} {
		r := Row{Code: c.code, From: timeOf(begin + day), To: timeOf(begin + c.to*day), Requests: c.requests}
		if g.completeRow(&r); r.Ongoing != c.want {
			t.Errorf("%+v: %v", c, r.Ongoing)
		}
	}
}

// TestMerging holds that causes have their effects, and that a chain of causes ends with the first.
func TestMerging(t *testing.T) {
	g := &grid{Log: &Log{Agents: agents}, from: begin, to: begin + days*day, step: hour, slots: days * 24, requests: 1000}
	g.traffic = make([][]count, 2*len(agents))
	row := func(code, path string, from, to int64, agents ...string) Row {
		return Row{Code: code, Class: "A", Path: path, From: time.Unix(begin+from*hour, 0), To: time.Unix(begin+to*hour, 0), Agents: agents, Requests: 500, lost: 500}
	}
	g.rows = []Row{
		row(CrawlerSlowed, "", 170, 330, "Googlebot"), row(CrawlerStopped, "", 160, 180, "Googlebot"), row(RobotsFailed, txtName, 150, 180, "Googlebot", "bingbot"),
		row(SitemapBad, "/x/", 0, days*24), row(NotFoundSection, "/x/", 0, days*24, "Googlebot"), row(ServerErrors, "/y/", 20, 100), row(Outage, "/y/", 10, 110),
		row(SitemapBad, "/z/", 0, days*24), row(NotFoundSection, "/z/old/", 0, days*24, "Googlebot"), row(SectionClosed, "/w/", 200, 330, "bingbot"), row(CrawlerSlowed, "", 200, 330, "bingbot"),
	}
	g.rows = append(g.rows, row(SiteClosed, "/", 220, 260, "Applebot", "Yeti", "PetalBot"), row(CrawlerStopped, "", 222, 260, "Applebot", "Yeti", "PetalBot", "GPTBot"))
	g.rows[12].Evidence.Kind = allStopped // with one that it does not bind
	g.rows[7].Evidence = Evidence{URLs: 100, Paths: 70}
	g.rows[9].Evidence.Share, g.rows[10].Evidence = .1, Evidence{Expected: 1000} // the section had not so many
	var got []string
	for _, r := range g.rank() {
		parts := []string{r.Code}
		for _, e := range r.Effects {
			parts = append(parts, e.Code)
		}
		got = append(got, strings.Join(parts, "+"))
	}
	slices.Sort(got)
	if want := []string{
		"crawler_slowed", "crawler_slowed", "not_found_section+sitemap_bad_urls", "outage+server_errors", "robots_txt_failed+crawler_stopped", "section_closed", "site_closed+crawler_stopped", "sitemap_bad_urls+not_found_section",
	}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestUnsure holds which class a row gets where no address shows that a crawler was what it said it is, and that its
// sentence says so.
func TestUnsure(t *testing.T) {
	from := []Agent{{}, {Name: "Googlebot", Search: true, Listed: true}, {Name: "SeznamBot", Search: true}}
	for _, code := range Codes {
		unlisted, listed := "A", "C"
		switch code {
		case Outage, RobotsFailed, SiteClosed, RobotsOther, RobotsMissing, SectionClosed, ResourcesBlocked, Impostors, SitemapBad:
			listed = "A"
		case CrawlerRefused, ServerErrors:
			unlisted, listed = "B", "B"
		case DelayIgnored:
			unlisted = "C"
		}
		for i, want := range []string{listed, unlisted, "A"} {
			g := &grid{Log: &Log{Agents: slices.Clone(from)}, from: begin, to: begin + days*day, step: hour}
			if i == 2 {
				g.Agents[1].Verified = true
			}
			r := Row{Code: code, Class: "A", Agents: []string{from[1+i%2].Name}, Path: "/", From: timeOf(begin + day), To: timeOf(begin + 2*day), Requests: 500, Of: 1000, Evidence: Evidence{Crawler: from[1+i%2].Name, Expected: 1, Before: 1, Chain: "/a -> /b"}}
			g.completeRow(&r)
			g.writeSentence(&r)
			says := strings.Contains(strings.ToLower(r.Sentence), "clients that claim to be ")
			if wantSays := i < 2 && listed != "A"; r.Class != want || says != wantSays {
				t.Errorf("%s of %s is of class %s, want %s: %q", code, r.Agents, r.Class, want, r.Sentence)
			}
		}
	}
}

// TestSoleClient holds that the errors of one client are not the site's, and those of one crawler are told as its own.
func TestSoleClient(t *testing.T) {
	for _, c := range []struct {
		name string
		fail func(rng *rand.Rand, r *request) bool
		want string
	}{
		{"a scanner", func(_ *rand.Rand, r *request) bool { return r.client == 999 }, ""},
		{"visitors alone", func(rng *rand.Rand, r *request) bool { return r.agent == 0 && rng.IntN(5) == 0 }, ""},
		{"a directory that one client asks for", func(_ *rand.Rand, r *request) bool { return within(r, "/own/") }, ""},
		{"impostors", func(_ *rand.Rand, r *request) bool { return r.agent == 1|Impostor }, "crawler_impostors A [Googlebot]  0"},
		{"part of a crawler", func(rng *rand.Rand, r *request) bool { return r.agent == 1 && rng.IntN(5) == 0 }, "server_errors A [Googlebot] / 500"},
		{"all of a crawler", func(_ *rand.Rand, r *request) bool {
			return r.agent == 1 && r.at > begin+100*hour && r.at < begin+150*hour
		}, "crawler_refused A [Googlebot] / 500"},
		{"everybody", func(rng *rand.Rand, r *request) bool { return within(r, "/help/") && rng.IntN(5) == 0 }, "server_errors A [] /help/ 500"},
	} {
		rng := rand.New(rand.NewPCG(7, 7))
		all := faultless(rng)
		for i := range int64(600) {
			all = append(all, request{origin: origin, path: fmt.Sprint("/help/", i%300), client: 999, status: 200, at: begin + i*hour/2 + 60},
				request{origin: origin, path: fmt.Sprint("/own/", i), client: 5, status: 200, at: begin + i*hour/2})
			if c.name == "impostors" {
				all = append(all, request{origin: origin, path: fmt.Sprint("/help/", i), agent: 1 | Impostor, client: uint32(i), status: 200, at: begin + i*hour/2})
			}
		}
		for i := range all {
			if r := &all[i]; r.path != txtName && c.fail(rng, r) {
				r.status = 500
			}
		}
		counts := New(1<<30, t.TempDir())
		defer counts.Close()
		add(t, counts, all)
		many := URLs{Failing: 100}
		d, err := Find(counts, &Log{Agents: agents, Statuses: true, Failing: map[string]URLs{origin + "/": many, origin + "/help/": many, origin + "/own/": many}})
		got := []string{}
		for _, r := range d.Findings {
			got = append(got, fmt.Sprintln(r.Code, r.Class, r.Agents, r.Path, r.Evidence.Status))
		}
		if text := strings.TrimSpace(strings.Join(got, "")); err != nil || text != c.want {
			t.Errorf("%s: %s, want %s, %v", c.name, text, c.want, err)
		}
	}
}

// TestHidden holds that an outage also counts the requests of a crawler that was blocked just before, unless a row
// tells of that.
func TestHidden(t *testing.T) {
	for blocked, want := range map[int64]string{12: "outage", 60: "crawler_refused outage"} {
		all := slices.DeleteFunc(faultless(rand.New(rand.NewPCG(8, 8))), func(r request) bool {
			return r.agent == 2 && r.path != txtName && r.at >= begin+145*hour && r.at < begin+154*hour
		})
		one := request{origin: origin, path: "/blog/1", agent: 2, status: 403, size: 9000}
		for i := range blocked {
			one.at = begin + 150*hour + i*200*60/blocked
			all = append(all, one)
		}
		for range 5 {
			one.at = begin + 153*hour + 35*60
			all = append(all, one)
		}
		failed := int64(0)
		for i := range all {
			if r := &all[i]; within(r, "/blog/") && r.at >= begin+153*hour+30*60 && r.at < begin+157*hour {
				if r.status = 503; blocked < 20 || r.agent != 2 || r.at > begin+155*hour { // otherwise told as blocked
					failed++
				}
			}
		}
		var codes []string
		for _, r := range find(t, all, nil).Findings {
			if codes = append(codes, r.Code); r.Code == Outage && r.Requests != failed {
				t.Errorf("%d of bingbot's: %d failed, want %d", blocked, r.Requests, failed)
			}
		}
		slices.Sort(codes)
		if text := strings.Join(codes, " "); text != want {
			t.Errorf("%d of bingbot's: %s, want %s", blocked, text, want)
		}
	}
}

// TestEarly holds that a crawler which left long before robots.txt failed did not leave for that, and its requests are
// not among those that are lost.
func TestEarly(t *testing.T) {
	for hours, want := range map[int64]string{0: "[robots_txt_failed+1]", 4: "[robots_txt_failed+1]", 13: "[crawler_stopped+0 robots_txt_failed+0]"} {
		all := faultless(rand.New(rand.NewPCG(2, 2)))
		all = slices.DeleteFunc(all, func(r request) bool {
			return r.agent == 1 && r.at >= begin+(150-hours)*hour && r.at < begin+190*hour && (r.path != txtName || r.at < begin+150*hour || r.at > begin+154*hour)
		})
		for i := range all {
			if r := &all[i]; r.path == txtName && r.status == 200 && r.at >= begin+150*hour && r.at < begin+185*hour {
				r.status = 503
			}
		}
		got := []string{}
		for _, r := range find(t, all, nil).Findings {
			got = append(got, fmt.Sprint(r.Code, "+", len(r.Effects)))
			if r.Code == RobotsFailed && (r.Evidence.Crawler == "Googlebot") != (hours < 13) {
				t.Errorf("%d hours before: %q", hours, r.Sentence)
			}
		}
		if text := fmt.Sprint(got); text != want {
			t.Errorf("%d hours before: %s, want %s", hours, text, want)
		}
	}
}

// TestBlame holds that a failed request of a visitor counts a fourth of one of a search crawler.
func TestBlame(t *testing.T) {
	var r Row
	(&grid{Log: &Log{Agents: agents}}).addFailures(&r, map[uint16]float64{0: 400, 1: 10, 3: 40, 1 | Impostor: 4})
	if r.lost != 121 || r.Evidence.Crawlers != 50 {
		t.Errorf("%g requests are lost, %d by crawlers", r.lost, r.Evidence.Crawlers)
	}
}

// TestShown holds that a small surge is not told, although other rows with as many requests are.
func TestShown(t *testing.T) {
	g := &grid{Log: &Log{Agents: agents}, traffic: [][]count{{}, {}, {}, {{n: 100}}}, requests: 100_000}
	for code, want := range map[string]bool{CrawlerSurge: false, RulesIgnored: true} {
		if is := g.isShown(&Row{Code: code, Agents: []string{"GPTBot"}, Requests: 40}); is != want {
			t.Errorf("%s: %v", code, is)
		}
	}
}

// TestOpposites holds that no rule is to go whose URLs have no end, nor one above them that matters less.
func TestOpposites(t *testing.T) {
	for _, c := range []struct {
		section, space string
		lost           float64 // of the section; the space has 100
		want           string
	}{
		{"/calendar/", "/calendar/", 900, "endless_urls"},
		{"/calendar/2031/", "/calendar/", 900, "endless_urls"},
		{"/a/", "/a/calendar/", 50, "endless_urls"},
		{"/a/", "/a/calendar/", 900, "section_closed endless_urls"},
		{"/a/", "/b/", 50, "endless_urls section_closed"},
	} {
		g := &grid{Log: &Log{Agents: agents}, from: begin, to: begin + days*day, step: hour, slots: days * 24, requests: 1000, traffic: make([][]count, 2*len(agents))}
		for code, path := range map[string]string{SectionClosed: c.section, EndlessURLs: c.space} {
			lost := map[bool]float64{true: 100, false: c.lost}[code == EndlessURLs]
			g.rows = append(g.rows, Row{Code: code, Class: "A", Path: path, From: timeOf(begin + day), To: timeOf(begin + 9*day), Agents: []string{"Googlebot"}, Requests: 500, lost: lost})
		}
		var got []string
		for _, r := range g.rank() {
			got = append(got, r.Code)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s and %s: %s, want %s", c.section, c.space, text, c.want)
		}
	}
}

// TestAlwaysClosed holds that a section which was always closed has a row if sitemaps list its URLs and visitors come
// there.
func TestAlwaysClosed(t *testing.T) {
	for _, c := range []struct {
		rule   string
		listed int64
		share  int // of the requests of visitors there
		want   int
	}{{"/product/", 60, 10, 1}, {"/product/", 40, 10, 0}, {"/product/", 60, 1, 0}, {"/admin/", 60, 10, 0}} {
		rng := rand.New(rand.NewPCG(3, 3))
		text := "User-agent: *\nDisallow: " + c.rule + "\n"
		var all []request
		for _, r := range faultless(rng) {
			if within(&r, "/product/") {
				if r.path = c.rule + r.path[len("/product/"):]; r.agent > 0 || rng.IntN(10) >= c.share {
					continue
				}
			}
			all = append(all, r)
		}
		counts := New(1<<30, t.TempDir())
		defer counts.Close()
		add(t, counts, all)
		d, err := Find(counts, &Log{Agents: agents, Statuses: true, Texts: []Text{{Origin: origin, At: timeOf(begin - day), Body: []byte(text)}}, Failing: map[string]URLs{origin + c.rule: {Listed: c.listed}}})
		if err != nil || len(d.Findings) != c.want || c.want > 0 && (d.Findings[0].Code != SectionClosed || d.Findings[0].Class != "C" || d.Findings[0].Requests != c.listed || !d.Findings[0].Ongoing) {
			t.Errorf("%+v: %+v, %v", c, d.Findings, err)
		}
	}
}
