package conduct_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/robobatch/robobatch/conduct"
	"github.com/robobatch/robobatch/robots"
)

// delays are texts with and without a Crawl-delay, each with its value in seconds.
var delays = []struct {
	text    string
	seconds float64 // negative if there is none
}{
	{"User-agent: *\nDisallow: /private\nCrawl-delay: 10\n", 10},
	{"User-agent: *\nDisallow: /private/1\nDisallow: /x\nCrawl-delay: 2.5\n", 2.5},
	{"User-agent: *\nDisallow: /private\n", -1},
	{"User-agent: *\nAllow: /\nCrawl-delay: 600\n", 600},
}

// randomScene returns a log of a few lines whose times are close and often equal.
func randomScene(rng *rand.Rand, lines int) *scene {
	s := &scene{rng: rng, start: time.Date(2026, 8, 11, 0, 0, 0, 0, time.UTC)}
	if rng.IntN(4) == 0 {
		s.capture(0, 200, delays[rng.IntN(len(delays))].text)
		s.rules[0].FetchedAt = time.Time{}
	}
	for day := range rng.IntN(6) {
		if rng.IntN(5) == 0 {
			s.capture(float64(day), []int{404, 503}[rng.IntN(2)], "")
			continue
		}
		s.capture(float64(day), 200, delays[rng.IntN(len(delays))].text)
	}
	if len(s.rules) == 0 {
		s.file(delays[rng.IntN(len(delays))].text)
	}
	for range lines {
		l := line{at: s.at(6 * rng.Float64()).Truncate(time.Duration(1+rng.IntN(2)*rng.IntN(2e9)) + time.Microsecond).Truncate(time.Microsecond), method: "GET", status: 200}
		l.agent = []string{"GPTBot", "OAI-SearchBot", "bingbot", ""}[rng.IntN(4)]
		l.url = []string{site, site, site, site, plain, "https://unknown.example"}[rng.IntN(6)] +
			[]string{"/private/1", "/private/2", "/open", "/x", "/y", "/z"}[rng.IntN(6)]
		if rng.IntN(10) == 0 {
			l.url = originOf(l.url) + "/robots.txt"
			l.status = []int{200, 200, 304, 404, 500, 301}[rng.IntN(6)]
			if r := s.inForce(l.url, l.at); r != nil && l.status != 304 {
				l.size = []int{0, len(r.Body), len(r.Body) + longer, tooLong}[rng.IntN(4)]
			}
		}
		if n := len(s.lines); n > 0 && rng.IntN(4) == 0 { // a gap equal to the delay
			last := &s.lines[n-1]
			delay := max(0, delays[rng.IntN(len(delays))].seconds)
			l.status = 200
			l.agent, l.url, l.at = last.agent, originOf(last.url)+"/y", last.at.Add(time.Duration(delay*1e9))
		}
		s.lines = append(s.lines, l)
	}
	return s
}

// delayAt returns the Crawl-delay in force at a time; negative if there is none.
func (s *scene) delayAt(url string, at time.Time) float64 {
	if r := s.inForce(url, at); r != nil && r.Status == 200 {
		for _, d := range delays {
			if d.text == string(r.Body) {
				return d.seconds
			}
		}
	}
	return -1
}

// slowRow computes the row of a crawler at an origin, as defined by SEMANTICS.md, section 13, and docs/CONDUCT.md.
func (s *scene) slowRow(agent, origin string) *conduct.Row {
	var own []line
	for _, l := range s.lines {
		if l.agent == agent && originOf(l.url) == origin {
			own = append(own, l)
		}
	}
	if len(own) == 0 {
		return nil
	}
	slices.SortStableFunc(own, func(a, b line) int { return a.at.Compare(b.at) })
	r := &conduct.Row{Agent: agent, Operator: operators[agent], Origin: origin, FirstAnswer: conduct.NoTime, LastAnswer: conduct.NoTime, Delay: conduct.NoDelay}
	if agent == "bingbot" {
		r.Operator = "Microsoft"
	}
	var answers, others []time.Time
	for i := range own {
		l := &own[i]
		r.Requests++
		r.NoAddress++
		size, _ := l.bytes()
		r.Bytes += size
		if isTxt(l.url) {
			r.Robots++
			if l.counts() {
				answers = append(answers, l.at)
			}
			continue
		}
		if delay := s.delayAt(l.url, l.at); delay >= 0 && len(others) > 0 {
			r.Gaps++
			if l.at.Sub(others[len(others)-1]).Seconds() < delay {
				r.ShortGaps++
			}
		}
		others = append(others, l.at)
		ref := s.reference(l)
		for c := range conduct.NumConducts {
			if ref == c.String() {
				r.Conducts[c]++
				r.Disallowed++
			}
		}
	}
	r.First, r.Last = own[0].at.UnixMicro(), own[len(own)-1].at.UnixMicro()
	var gaps []int64
	for i, at := range answers {
		if i > 0 {
			gaps = append(gaps, at.Sub(answers[i-1]).Microseconds())
		}
	}
	r.Answers, r.AnswerGaps = int64(len(answers)), int64(len(gaps))
	if len(answers) > 0 {
		r.FirstAnswer, r.LastAnswer = answers[0].UnixMicro(), answers[len(answers)-1].UnixMicro()
	}
	if len(gaps) > 0 {
		r.AnswerMost = slices.Max(gaps)
		r.AnswerMedian = median(gaps)
	}
	for i := range s.rules {
		if c := &s.rules[i]; string(c.Origin) == origin && c.Status == 200 {
			r.Delay = conduct.NoDelay
			if d := s.delayAt(origin+"/", c.FetchedAt); d >= 0 {
				r.Delay = int64(d * 1e6)
			}
		}
	}
	return r
}

// median returns the middle number, or the mean of the two middle ones.
func median(all []int64) int64 {
	slices.Sort(all)
	n := len(all)
	return all[(n-1)/2] + (all[n/2]-all[(n-1)/2])/2
}

// slowChanges computes the reactions of crawlers to changes of the text.
func (s *scene) slowChanges() (all []conduct.Change) {
	known := func(r *robots.Response) bool { return r.Status == 200 || r.Status == 404 }
	var last *robots.Response
	for i := range s.rules {
		r := &s.rules[i]
		if r.File || !known(r) {
			continue
		}
		before := last
		if last = r; r.FetchedAt.IsZero() {
			last = nil
		}
		if before == nil || r.Status != 200 || before.Status == 200 && string(before.Body) == string(r.Body) {
			continue
		}
		until := s.start.AddDate(1, 0, 0) // the end of the text; fetches may fail while it is in force
		for k := i + 1; k < len(s.rules); k++ {
			if o := &s.rules[k]; known(o) && (o.Status != 200 || string(o.Body) != string(r.Body)) {
				until = o.FetchedAt
				break
			}
		}
		for _, agent := range []string{"GPTBot", "OAI-SearchBot", "bingbot"} {
			c := conduct.Change{Agent: agent, Operator: operators[agent], Origin: site, At: r.FetchedAt.UnixMicro(), Answer: conduct.NoTime}
			if agent == "bingbot" {
				c.Operator = "Microsoft"
			}
			inReign := func(l *line) bool {
				now := s.inForce(l.url, l.at)
				return l.agent == agent && originOf(l.url) == site && !l.at.Before(r.FetchedAt) && l.at.Before(until) && now != nil && now.Status == 200
			}
			for n := range s.lines {
				if l := &s.lines[n]; inReign(l) && l.counts() && l.status < 400 && !s.isOff(l) && (c.Answer == conduct.NoTime || l.at.UnixMicro() < c.Answer) {
					c.Answer = l.at.UnixMicro()
				}
			}
			for n := range s.lines {
				l := &s.lines[n]
				if !inReign(l) || isTxt(l.url) || !s.forbids(agent, l.url, l.at) {
					continue
				}
				if c.Answer == conduct.NoTime || l.at.UnixMicro() < c.Answer {
					c.Before++
				} else {
					c.After++
				}
			}
			if c.Before+c.After > 0 || c.Answer != conduct.NoTime {
				all = append(all, c)
			}
		}
	}
	return all
}

// TestRows compares rows and changes with those of slow functions, for logs out of order, with little and much
// memory.
func TestRows(t *testing.T) {
	for seed := range uint64(30) {
		s := randomScene(rand.New(rand.NewPCG(seed, 5)), 1500)
		var want []conduct.Row
		for _, origin := range []string{plain, site, "https://unknown.example"} {
			for _, agent := range []string{"GPTBot", "OAI-SearchBot", "bingbot"} {
				if r := s.slowRow(agent, origin); r != nil {
					want = append(want, *r)
				}
			}
		}
		changes := s.slowChanges()
		compareChanges := func(a, b conduct.Change) int {
			return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.At, b.At))
		}
		slices.SortFunc(changes, compareChanges)
		for _, w := range []way{{rows: 1000, workers: 1}, {rows: 50, workers: 2, memory: 1}, {rows: 50, workers: 2, memory: 1, requests: true}} {
			f := s.find(t, s.lines, nil, w)
			for i := range f.rows {
				f.rows[i].Violations = 0 // package engine decides them
			}
			for i := range max(len(want), len(f.rows)) {
				if i >= len(want) || i >= len(f.rows) || f.rows[i] != want[i] {
					t.Fatalf("log %d, %+v: row %d: got\n%+v, want\n%+v", seed, w, i, at(f.rows, i), at(want, i))
				}
			}
			slices.SortFunc(f.changes, compareChanges)
			if !reflect.DeepEqual(f.changes, changes) {
				t.Fatalf("log %d, %+v: changes: got\n%+v, want\n%+v", seed, w, f.changes, changes)
			}
		}
	}
}

// TestChangeAroundFailure has a request for robots.txt at a time when fetches of the new text fail: this remains one
// change.
func TestChangeAroundFailure(t *testing.T) {
	s := &scene{rng: rand.New(rand.NewPCG(1, 1)), start: time.Date(2026, 8, 11, 0, 0, 0, 0, time.UTC)}
	s.capture(0, 200, delays[3].text)
	s.capture(1, 200, delays[0].text)
	s.capture(2, 503, "")
	s.capture(3, 200, delays[0].text)
	s.gets(1.2, "GPTBot", "").asks(1.5, "GPTBot", 200).asks(2.5, "GPTBot", 200).gets(3.5, "GPTBot", "").asks(3.7, "GPTBot", 200)
	f, want := s.find(t, s.lines, nil, way{rows: 100, workers: 1}), s.slowChanges()
	if len(want) != 1 || want[0].Before == 0 || want[0].After == 0 || !reflect.DeepEqual(f.changes, want) {
		t.Fatalf("got %+v, want %+v", f.changes, want)
	}
}

// at returns an element, or nothing if there is none.
func at[T any](all []T, i int) string {
	if i >= len(all) {
		return "none"
	}
	return fmt.Sprintf("%+v", all[i])
}

// TestByAgent compares the rows by agent with the sums over all origins.
func TestByAgent(t *testing.T) {
	for seed := range uint64(5) {
		s := randomScene(rand.New(rand.NewPCG(seed, 6)), 1500)
		rows := s.find(t, s.lines, nil, way{rows: 1000, workers: 1}).rows
		for _, w := range []way{{rows: 1000, workers: 1, byAgent: true}, {rows: 50, workers: 2, memory: 1, byAgent: true}} {
			for _, got := range s.find(t, s.lines, nil, w).rows {
				want := conduct.Row{Agent: got.Agent, Operator: got.Operator, First: math.MaxInt64, FirstAnswer: conduct.NoTime, LastAnswer: conduct.NoTime, Delay: conduct.NoDelay}
				for _, r := range rows {
					if r.Agent != got.Agent {
						continue
					}
					want.Requests += r.Requests
					want.NoAddress += r.NoAddress
					want.Robots += r.Robots
					want.Answers += r.Answers
					want.AnswerGaps += r.AnswerGaps
					want.AnswerMost = max(want.AnswerMost, r.AnswerMost)
					want.Disallowed += r.Disallowed
					want.Violations += r.Violations
					want.Gaps += r.Gaps
					want.ShortGaps += r.ShortGaps
					want.Bytes += r.Bytes
					want.First, want.Last, want.LastAnswer = min(want.First, r.First), max(want.Last, r.Last), max(want.LastAnswer, r.LastAnswer)
					if r.FirstAnswer != conduct.NoTime && (want.FirstAnswer == conduct.NoTime || r.FirstAnswer < want.FirstAnswer) {
						want.FirstAnswer = r.FirstAnswer
					}
					for c, n := range r.Conducts {
						want.Conducts[c] += n
					}
				}
				want.AnswerMedian = s.medianOf(got.Agent)
				if got != want {
					t.Fatalf("log %d: got\n%+v, want\n%+v", seed, got, want)
				}
			}
		}
	}
}

// medianOf returns the median of the intervals between a crawler's responses, each at one origin.
func (s *scene) medianOf(agent string) int64 {
	last := map[string]time.Time{}
	lines := slices.Clone(s.lines)
	slices.SortStableFunc(lines, func(a, b line) int { return a.at.Compare(b.at) })
	var gaps []int64
	for i := range lines {
		if l := &lines[i]; l.agent == agent && l.counts() {
			if before, ok := last[originOf(l.url)]; ok {
				gaps = append(gaps, l.at.Sub(before).Microseconds())
			}
			last[originOf(l.url)] = l.at
		}
	}
	return median(gaps)
}

// TestOnlyRobots has a log that contains only requests for robots.txt, out of order. One crawler has more responses
// than are sorted in memory.
func TestOnlyRobots(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	s := &scene{rng: rng, start: time.Date(2026, 8, 11, 0, 0, 0, 0, time.UTC)}
	s.file(closes)
	var gaps []int64
	for _, n := range rng.Perm(150_000) {
		s.ask(0, "GPTBot", 200, "GET", site+"/robots.txt")
		s.lines[len(s.lines)-1].at = s.start.Add(time.Duration(n*n%1000+1000*n) * time.Millisecond)
	}
	times := make([]int64, len(s.lines))
	for i := range s.lines {
		times[i] = s.lines[i].at.UnixMicro()
	}
	slices.Sort(times)
	for i := 1; i < len(times); i++ {
		gaps = append(gaps, times[i]-times[i-1])
	}
	for _, memory := range []int64{64 << 20, 8 << 20, 256 << 10} {
		r := s.find(t, s.lines, nil, way{rows: 8192, workers: 1, memory: memory}).rows[0]
		if r.Answers != int64(len(times)) || r.AnswerMedian != median(slices.Clone(gaps)) || r.AnswerMost != slices.Max(gaps) {
			t.Errorf("%d bytes: %+v, want %d responses, median %d, maximum %d", memory, r, len(times), median(gaps), slices.Max(gaps))
		}
	}
}
