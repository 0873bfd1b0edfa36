package decide

import (
	"cmp"
	"slices"

	"github.com/robobatch/robobatch/robots"
)

// A Totals compares the verdicts of two texts for one crawler.
type Totals struct {
	Requests int64
	Before   int64 // requests that the first text disallows
	After    int64 // requests that the second one disallows
	Closed   int64 // requests that only the second one disallows
	Opened   int64 // requests that only the first one disallows

	ClosedBytes, OpenedBytes int64 // response bytes of Closed and Opened; 0 if unknown
}

// A Line counts the requests that one line of a text decides.
type Line struct {
	Line     int32 // 1-based
	Allow    bool
	Requests int64
}

// A Moved is a URL that two texts decide differently for some of the selected crawlers.
type Moved struct {
	URL      int32
	Requests int64        // of these crawlers
	Bytes    int64        // of their answers
	Agents   []int        // ascending
	From, To *robots.Rule // the rules that decide for the first of these crawlers; nil means no rule
}

// A Change is the difference between the verdicts of two texts.
type Change struct {
	Agents []Totals // by crawler, chosen or not
	Lines  []Line   // lines of the second text that decide requests of the selected crawlers, in ascending order
	Closed []Moved  // URLs that only the second text disallows, most requested first
	Opened []Moved  // URLs that only the first text disallows
	Wishes []Wish   // preferences for the selected crawlers, of the uses that at least one text mentions
}

// All selects all crawlers. AllButFirst selects all except the first, which stands for unidentified clients.
const (
	All         = -1
	AllButFirst = -2
)

// Compare returns the difference between the verdicts of two texts of the log. Agents has all crawlers; Lines, Closed,
// Opened and Wishes are for the selected ones: one crawler, All or AllButFirst.
func (l *Log) Compare(before, after *Text, agent int) *Change {
	c := &Change{Agents: make([]Totals, len(l.agents))}
	lines := map[int32]*Line{}
	var closed, opened moves
	wishes := wishCounts{urls: l.URLs()}
	for a := range l.agents {
		t := &c.Agents[a]
		chosen := agent == All || agent == a || agent == AllButFirst && a > 0
		for i, url := range l.agents[a].urls {
			n, bytes := l.agents[a].requests[i], l.agents[a].bytesOf(i)
			from, to := before.decidingRule(a, i), after.decidingRule(a, i)
			was, is := allows(from), allows(to)
			t.Requests += n
			if !was {
				t.Before += n
			}
			if !is {
				t.After += n
			}
			if chosen && to != nil {
				countLine(lines, to, n)
			}
			if chosen {
				wishes.addUses(url, before.usesOf(a, i), after.usesOf(a, i), n)
			}
			if was == is {
				continue
			}
			how, size, list := &t.Closed, &t.ClosedBytes, &closed
			if is {
				how, size, list = &t.Opened, &t.OpenedBytes, &opened
			}
			*how += n
			*size += bytes
			if chosen {
				list.addMove(Moved{URL: url, Requests: n, Bytes: bytes, Agents: []int{a}, From: from, To: to})
			}
		}
	}
	for _, line := range lines {
		c.Lines = append(c.Lines, *line)
	}
	slices.SortFunc(c.Lines, func(a, b Line) int { return cmp.Compare(a.Line, b.Line) })
	c.Closed, c.Opened, c.Wishes = closed.sortMoves(), opened.sortMoves(), wishes.list()
	return c
}

// bytesOf returns the response bytes for the i-th URL of a crawler; 0 if unknown.
func (c *crawler) bytesOf(i int) int64 {
	if c.bytes == nil {
		return 0
	}
	return c.bytes[i]
}

// allows reports whether a rule allows; no rule allows.
func allows(r *robots.Rule) bool { return r == nil || r.Allow }

// countLine adds requests to the line of a rule, which it adds to lines if it is new.
func countLine(lines map[int32]*Line, r *robots.Rule, requests int64) {
	line := lines[r.Line]
	if line == nil {
		line = &Line{Line: r.Line, Allow: r.Allow}
		lines[r.Line] = line
	}
	line.Requests += requests
}

// moves are URLs that are decided differently.
type moves struct {
	all []Moved
	of  map[int32]int // by URL: its index in all
}

// addMove adds a URL, or adds requests and a crawler to it if it was already added.
func (m *moves) addMove(one Moved) {
	if i, known := m.of[one.URL]; known {
		m.all[i].Requests += one.Requests
		m.all[i].Bytes += one.Bytes
		m.all[i].Agents = append(m.all[i].Agents, one.Agents...)
		return
	}
	if m.of == nil {
		m.of = map[int32]int{}
	}
	m.of[one.URL] = len(m.all)
	m.all = append(m.all, one)
}

// sortMoves returns the URLs, most requested first.
func (m *moves) sortMoves() []Moved {
	slices.SortFunc(m.all, func(a, b Moved) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.URL, b.URL))
	})
	return m.all
}
