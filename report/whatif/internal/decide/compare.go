package decide

import (
	"cmp"
	"slices"

	"github.com/robobatch/robobatch/robots"
)

// A Totals is the decisions of two texts for one crawler.
type Totals struct {
	Requests int64
	Before   int64 // requests that the first text disallows
	After    int64 // requests that the second one disallows
	Closed   int64 // requests that only the second one disallows
	Opened   int64 // requests that only the first one disallows

	ClosedBytes, OpenedBytes int64 // of the answers of Closed and Opened; 0 if they are not known
}

// A Line is the decisions of one line of a text.
type Line struct {
	Line     int32 // 1-based
	Allow    bool
	Requests int64
}

// A Moved is a URL that two texts decide differently for some of the chosen crawlers.
type Moved struct {
	URL      int32
	Requests int64        // of these crawlers
	Bytes    int64        // of their answers
	Agents   []int        // ascending
	From, To *robots.Rule // the rules that decide for the first of them; nil is none
}

// A Change is the difference between the decisions of two texts.
type Change struct {
	Agents []Totals // by crawler, chosen or not
	Lines  []Line   // of the second text, those that decide something for the chosen crawlers, ascending
	Closed []Moved  // URLs that only the second text disallows, those with the most requests first
	Opened []Moved  // URLs that only the first text disallows
	Wishes []Wish   // for the chosen crawlers; none of uses that neither text mentions
}

// All chooses all crawlers, AllButFirst those whose requests count: the first stands for other clients.
const (
	All         = -1
	AllButFirst = -2
)

// Compare returns the difference between the decisions of two texts for the log. Lines, Closed, Opened and
// Wishes are for one crawler, for All or for AllButFirst.
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
			from, to := before.rule(a, i), after.rule(a, i)
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
	c.Closed, c.Opened, c.Wishes = closed.list(), opened.list(), wishes.list()
	return c
}

// bytesOf returns the bytes of the answers of one of its URLs; 0 if they are not known.
func (c *crawler) bytesOf(i int) int64 {
	if c.bytes == nil {
		return 0
	}
	return c.bytes[i]
}

// allows reports whether a rule allows; no rule allows.
func allows(r *robots.Rule) bool { return r == nil || r.Allow }

// countLine adds requests to the requests of the line of a rule.
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

// addMove adds a URL, or its requests and its crawler if the URL is there.
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

// list returns the URLs, those with the most requests first.
func (m *moves) list() []Moved {
	slices.SortFunc(m.all, func(a, b Moved) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.URL, b.URL))
	})
	return m.all
}
