// Package revisions shows how the robots.txt of an origin changed: its texts in chronological order, with the added and
// removed lines. Package report imports it.
package revisions

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Text is the robots.txt that an origin sent from a given time on.
type Text struct {
	Origin string
	At     time.Time // in the time zone of the page
	Body   []byte    // nil if unknown
	Sent   time.Time // At in UTC
}

// A Revision is a text that replaced another one.
type Revision struct {
	Origin      string
	At          time.Time
	Added, Gone []Line
	Known       bool  // both texts are known
	Others      int64 // other origins, see Alike
}

// When returns the time, formatted for the page.
func (r *Revision) When() string { return r.At.Format(time.DateTime) }

// A Line is a line of a text.
type Line struct {
	No   int // number, from 1
	Text string
}

// maxCells limits the table that compares two texts line by line. Above it, all lines between the first and the last
// difference count as removed and added.
const maxCells = 4 << 20

// Of returns the revisions among some texts, by time: the texts whose lines differ from those of the origin's previous
// text, or that are unknown. It sorts texts by time.
func Of(texts []Text) (all []Revision) {
	last := map[string]*Text{}
	slices.SortStableFunc(texts, func(a, b Text) int { return a.At.Compare(b.At) })
	for i := range texts {
		t := &texts[i]
		before := last[t.Origin]
		last[t.Origin] = t
		if before == nil || bytes.Equal(before.Body, t.Body) && t.Body != nil {
			continue
		}
		r := Revision{Origin: t.Origin, At: t.At, Known: t.Body != nil && before.Body != nil}
		if r.Known {
			r.Gone, r.Added = differences(linesOf(before.Body), linesOf(t.Body))
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b Revision) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Origin, b.Origin)) })
	return all
}

// Alike combines the revisions of several origins that add and remove the same lines on one day: the first one counts
// the others. Revisions with unknown texts are also combined.
func Alike(all []Revision) (some []Revision) {
	at := map[string]int{}
	for _, r := range all {
		var key strings.Builder
		key.WriteString(r.At.Format(time.DateOnly) + strconv.FormatBool(r.Known))
		for _, l := range slices.Concat(r.Added, []Line{{}}, r.Gone) { // the empty one is between them
			key.WriteString("\n" + l.Text)
		}
		if n, known := at[key.String()]; known {
			some[n].Others++
			continue
		}
		at[key.String()] = len(some)
		some = append(some, r)
	}
	return some
}

// linesOf returns the trimmed lines of a text. An empty line has the text "".
func linesOf(body []byte) (lines []Line) {
	text := strings.ReplaceAll(strings.ReplaceAll(string(body), "\r\n", "\n"), "\r", "\n")
	for i, line := range strings.Split(text, "\n") {
		lines = append(lines, Line{i + 1, strings.TrimSpace(line)})
	}
	return lines
}

// differences returns the removed lines of a and the added lines of b, each in order, based on a longest common
// subsequence. Texts that are too large for it are compared only at both ends, see maxCells. Empty lines are ignored.
func differences(a, b []Line) (gone, added []Line) {
	for len(a) > 0 && len(b) > 0 && a[0].Text == b[0].Text {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1].Text == b[len(b)-1].Text {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	width := len(b) + 1
	if (len(a)+1)*width > maxCells {
		return withText(a), withText(b)
	}
	shared := make([]int32, (len(a)+1)*width) // shared[i*width+j]: lines that a[i:] and b[j:] share
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i].Text == b[j].Text {
				shared[i*width+j] = shared[(i+1)*width+j+1] + 1
			} else {
				shared[i*width+j] = max(shared[(i+1)*width+j], shared[i*width+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i].Text == b[j].Text:
			i, j = i+1, j+1
		case shared[(i+1)*width+j] >= shared[i*width+j+1]:
			gone, i = append(gone, a[i]), i+1
		default:
			added, j = append(added, b[j]), j+1
		}
	}
	return withText(append(gone, a[i:]...)), withText(append(added, b[j:]...))
}

// withText returns the lines that are not empty.
func withText(lines []Line) (all []Line) {
	for _, l := range lines {
		if l.Text != "" {
			all = append(all, l)
		}
	}
	return all
}
