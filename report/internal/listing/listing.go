package listing

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/report/internal/show"
)

// A View is a robots.txt with the effects of its lines.
type View struct {
	*File
	Name    string
	Decided int // rules that decided a request
	Only    int // rules that only matched
	Never   int
	Lines   []Line
	Hidden  int64    // lines omitted because the size of the page is limited
	Named   []string // other origins with the same text
	Unnamed int64    // number of further origins

	ByCrawler   []Asked // by line and crawler: the requests decided
	HiddenAsked int64   // number of other entries, with fewer requests
}

// An Asked counts the requests of a crawler that a line decided.
type Asked struct {
	*Use
	Crawler  string
	Requests int64
}

// A Line is a line of a robots.txt.
type Line struct {
	No       int32
	Text     string
	State    string // for a rule: "decided", "matched", "never", or "other" if it binds none of the crawlers
	Use      *Use
	Findings []Finding
	Spare    string // why the line has no effect; "" if it has one
	Gap      int64  // number of omitted lines before it
}

// Approximate limits of texts on the page in bytes.
const (
	listingBytes = 220 << 10
	lineBytes    = 90 // per line, without its text
	shownAsked   = 200
	allAsked     = 600      // for all files
	sameBytes    = 16 << 10 // for the names of origins that have the same text
)

// New returns the robots.txt files with counts by line. Files that do not fit on the page are reduced to their
// informative lines, and then have none. crawler returns the name of a crawler; nil if there is only one. The views
// keep files.
func New(files []File, crawler func(agent int) string) []View {
	all := make([]View, 0, len(files))
	left, asked, same := listingBytes, allAsked, sameBytes
	for i := range files {
		f := newView(&files[i])
		room := min(same, show.MaxSentence) // per file: bytes for the names of its origins, which form one sentence
		for _, origin := range f.Same {
			size := len(origin) + len(", ")
			if size > room {
				break
			}
			f.Named, room, same = append(f.Named, origin), room-size, same-size
		}
		f.Unnamed = int64(f.Origins - 1 - len(f.Named))
		if size := f.size(); size > left {
			f.shorten(left)
		}
		left -= f.size()
		if crawler != nil && len(f.Lines) > 0 {
			for j := range f.Uses {
				for _, n := range f.Uses[j].Asked {
					f.ByCrawler = append(f.ByCrawler, Asked{&f.Uses[j], crawler(n.Agent), n.Requests})
				}
			}
			slices.SortStableFunc(f.ByCrawler, func(a, b Asked) int { return cmp.Compare(b.Requests, a.Requests) })
			if most := min(asked, shownAsked); len(f.ByCrawler) > most { // keep those with the most requests
				f.HiddenAsked, f.ByCrawler = int64(len(f.ByCrawler)-most), f.ByCrawler[:most]
			}
			slices.SortStableFunc(f.ByCrawler, func(a, b Asked) int { return cmp.Compare(a.Line, b.Line) })
			asked -= len(f.ByCrawler)
		}
		all = append(all, f)
	}
	return all
}

// Others describes the other origins that have the same text; "" if there are none.
func (f *View) Others() string {
	if f.Origins <= 1 {
		return ""
	}
	return fmt.Sprintf("and %s with the same text", show.Plural(int64(f.Origins-1), "other origin"))
}

// Label returns the name of the file, to be shown next to Others.
func (f *View) Label() string {
	if f.When == "" {
		return f.Origin
	}
	return f.Origin + ", " + f.When
}

// Names returns Named as a text.
func (f *View) Names() string { return strings.Join(f.Named, ", ") }

// newView returns a view of a file with all its lines; if the text is missing, with a line for each use. It counts the
// rules by their use, and leaves the other fields empty.
func newView(file *File) View {
	f := View{File: file, Name: file.Origin}
	if others := f.Others(); others != "" {
		f.Name += " " + others
	}
	if file.When != "" {
		f.Name += ", " + file.When
	}
	uses := map[int32]*Use{}
	for i := range file.Uses {
		use := &file.Uses[i]
		uses[use.Line] = use
		switch {
		case use.Decided.Requests > 0:
			f.Decided++
		case use.Matched.Requests > 0:
			f.Only++
		default:
			f.Never++
		}
	}
	if file.Text == nil {
		for i := range file.Uses {
			use := &file.Uses[i]
			f.Lines = append(f.Lines, newLine(use.Line, use.Rule, use))
		}
		return f
	}
	findings := file.Findings
	for i, text := range splitLines(file.Text) {
		no := int32(i + 1)
		line := newLine(no, text, uses[no])
		for len(findings) > 0 && findings[0].Line <= no {
			if findings[0].Code == redundant {
				line.Spare = findings[0].Text
			} else {
				line.Findings = append(line.Findings, findings[0])
			}
			findings = findings[1:]
		}
		f.Lines = append(f.Lines, line)
	}
	return f
}

// Sitemaps returns the number of Sitemap lines.
func (f *View) Sitemaps() int64 {
	if f.Report == nil {
		return 0
	}
	return int64(len(f.Report.Sitemaps))
}

// redundant is the code of a finding about an unused rule. There are many such lines, so it is shown as a word next
// to the counts, not as a paragraph.
const redundant = "redundant_rule"

// newLine returns a line and its state. use is nil if the line is not a rule that binds one of the crawlers.
func newLine(no int32, text string, use *Use) Line {
	line := Line{No: no, Text: text, Use: use}
	switch {
	case use == nil:
		key, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(text)), ":")
		if key = strings.TrimSpace(key); key == "allow" || key == "disallow" {
			line.State = "other"
		}
	case use.Decided.Requests > 0:
		line.State = "decided"
	case use.Matched.Requests > 0:
		line.State = "matched"
	default:
		line.State = "never"
	}
	return line
}

// splitLines splits a robots.txt into lines in the same way as package robots. It drops a byte order mark, and
// replaces tabs by spaces.
func splitLines(text []byte) (lines []string) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	for len(text) > 0 {
		end := bytes.IndexAny(text, "\r\n")
		if end < 0 {
			return append(lines, expandTabs(text))
		}
		lines = append(lines, expandTabs(text[:end]))
		if text[end] == '\r' && end+1 < len(text) && text[end+1] == '\n' {
			end++
		}
		text = text[end+1:]
	}
	return lines
}

// expandTabs replaces tabs in a line.
func expandTabs(line []byte) string { return strings.ReplaceAll(string(line), "\t", "    ") }

// size returns the approximate size of the lines in bytes.
func (f *View) size() (size int) {
	for i := range f.Lines {
		size += f.Lines[i].size()
	}
	return size
}

// size returns the approximate size of the line in bytes.
func (l *Line) size() int {
	size := lineBytes + min(len(l.Text), show.MaxWhole) + len(l.Spare)
	for _, finding := range l.Findings {
		size += lineBytes + len(finding.Text) + len(finding.What) + len(finding.Do)
	}
	return size
}

// shorten omits lines until the remaining ones take at most the given number of bytes: first lines without
// information, then those with the fewest requests. It always omits all lines without information.
func (f *View) shorten(most int) {
	order := make([]int, len(f.Lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(f.Lines[b].weight(), f.Lines[a].weight()) })
	keep := map[int]bool{}
	for _, i := range order {
		if f.Lines[i].weight() == 0 {
			break
		}
		if most -= f.Lines[i].size(); most < 0 {
			break
		}
		keep[i] = true
	}
	var kept []Line
	gap := int64(0)
	for i, line := range f.Lines {
		if !keep[i] {
			gap++
			continue
		}
		line.Gap, gap = gap, 0
		kept = append(kept, line)
	}
	f.Hidden = int64(len(f.Lines) - len(kept))
	f.Lines = kept
}

// weight returns how informative a line is; 0 if it has neither findings nor a use.
func (l *Line) weight() int64 {
	weight := int64(2 * len(l.Findings))
	if l.Use != nil {
		weight += 1 + 4*l.Use.Decided.Requests + 3*min(l.Use.Matched.Requests, 1)
	}
	return weight
}
