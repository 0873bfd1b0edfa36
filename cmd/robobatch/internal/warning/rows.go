package warning

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// Decided returns the warnings about the verdicts of a run that has no report. noURLs is the text of
// the one where no row has a URL, and refused how many lines gave no row.
func Decided(store *engine.Store, s *engine.Stats, noURLs string, refused int64) []Warning {
	if bad := s.Reasons[engine.ReasonBadURL]; bad > 0 && bad == s.Rows {
		return []Warning{{Code: NoURLs, Text: noURLs, Count: s.URLs}}
	}
	return slices.Concat(Strangers(store, s), rejected(s, refused), Rules(&s.Odd, "origin"), Misread(store, s), Disputes(&s.Disputes))
}

// Disputes returns a warning if verdicts forbid what another reading allows that the operator of the crawler may have: an example, and the
// origins with most of them.
func Disputes(d *engine.DisputeStats) []Warning {
	if d.Rows == 0 {
		return nil
	}
	verb := "forbid"
	if d.Rows == 1 {
		verb = "forbids"
	}
	text := fmt.Sprintf("%s %s what another reading of robots.txt allows to the crawler: no violation is counted there; robobatch explain shows each reading", say.Count(d.Rows, "verdict"), verb)
	w := Warning{Code: ReadingsDiffer, Text: text, Count: d.Rows}
	// Say what each reading answers, and by which line; of the run's dialect where that is none of them.
	var parts []string
	part := func(who, verb string, line int32) {
		text := who + " " + verb
		if line > 0 {
			text += fmt.Sprintf(" by line %d", line)
		}
		parts = append(parts, text)
	}
	if !slices.ContainsFunc(d.Example.By[:], func(r engine.ReadBy) bool { return r.Dialect != 0 && !r.Allows }) {
		part("the dialect of the run", "disallows", d.Example.Line)
	}
	for _, r := range d.Example.By {
		switch {
		case r.Dialect == 0:
		case r.Allows:
			part(r.Dialect.ReadingName(), "allows", r.Line)
		default:
			part(r.Dialect.ReadingName(), "disallows", r.Line)
		}
	}
	w.Examples = append(w.Examples, fmt.Sprintf("%s, %s: %s", d.Example.URL, d.Example.Agent, strings.Join(parts, ", ")))
	for _, busy := range d.Worst[:Examples-1] {
		if busy.Origin != "" {
			w.Examples = append(w.Examples, fmt.Sprintf("%s (%s)", busy.Origin, say.Count(busy.Rows, "verdict")))
		}
	}
	return []Warning{w}
}

// Misread returns a warning if rows of crawlers are decided by other groups than the documentation of their operators chooses.
func Misread(store *engine.Store, s *engine.Stats) []Warning {
	d := Warning{Code: OtherGroup}
	all := slices.Clone(s.Misread)
	slices.SortStableFunc(all, func(a, b engine.MisreadCount) int { return cmp.Compare(b.Rows, a.Rows) })
	for i, one := range all {
		if d.Count += one.Rows; i < Examples {
			d.Examples = append(d.Examples, one.Name+": "+say.Count(one.Rows, "row"))
		}
	}
	if d.Count == 0 {
		return nil
	}
	most := &all[0]
	advice := fmt.Sprintf("decide these with -dialect %s -agent %s", most.Dialect, most.Name)
	if store.Options().LogAgents != engine.LogAgentsOff { // -agent would decide the rows of all clients
		advice = fmt.Sprintf("take these from a run with -dialect %s", most.Dialect)
	}
	d.Text = fmt.Sprintf("%s decided by another group than the operator of the crawler documents: %s", say.Were(d.Count, "row"), advice)
	return []Warning{d}
}

// rejected returns a warning if over a tenth of the lines or rows of such a run have no verdict.
func rejected(s *engine.Stats, refused int64) []Warning {
	bad, all := int64(0), s.URLs+s.Skipped+refused
	if s.Rows > 0 {
		bad = s.URLs * s.Reasons[engine.ReasonBadURL] / s.Rows
	}
	if 10*(bad+refused) <= all {
		return nil
	}
	text := fmt.Sprintf("%s of %s rejected, without a verdict (%s %s", say.Number(bad+refused), say.Were(all, "row"), engine.ReasonBadURL, say.Number(bad))
	if refused > 0 {
		text += ", refused lines " + say.Number(refused)
	}
	text += "): look whether that is the right input"
	return []Warning{{Code: RejectedLines, Text: text, Count: bad + refused}}
}

// Strangers returns a warning if over half of the verdicts on URLs had no robots.txt: because the
// rules are of other origins, or because they are newer than the rows.
func Strangers(store *engine.Store, s *engine.Stats) []Warning {
	decided := s.Rows - s.Reasons[engine.ReasonBadURL]
	if 2*s.Reasons[engine.ReasonNoRobots] <= decided {
		return nil
	}
	rows := say.Count(s.URLs*decided/s.Rows, "row")
	if s.Early > s.Strays {
		text := fmt.Sprintf("no robots.txt is as old as -as-of for %s of %s; that of a file is the time of its last change", say.Number(s.Early), rows)
		if store.Options().RowTimes {
			text = fmt.Sprintf("no robots.txt is as old as the row for %s of %s: they are older than the first capture of their origin", say.Number(s.Early), rows)
		}
		return []Warning{{Code: NoRulesThen, Text: text, Count: s.Early}}
	}
	only := ""
	if store.NumSites() == 1 {
		only = fmt.Sprintf(", which has that of %s only,", store.NewLookup().Origin(0))
	}
	d := Warning{Code: NoRobots, Count: s.Strays}
	d.Text = fmt.Sprintf("no robots.txt in -rules%s for %s of %s; http and https differ, as example.com and www.example.com do",
		only, say.Number(s.Strays), rows)
	for _, busy := range s.Busiest {
		if busy.Origin != "" {
			d.Examples = append(d.Examples, stranger(store, busy))
		}
	}
	return []Warning{d}
}

// stranger describes an origin without rules, and says which rules of the store are near.
func stranger(store *engine.Store, busy engine.BusyOrigin) string {
	text := fmt.Sprintf("%s (%s)", busy.Origin, say.Count(busy.Rows, "row"))
	var all []robots.Origin
	scheme, rest, _ := strings.Cut(busy.Origin, "://")
	host, port := rest, ""
	if i := strings.LastIndexByte(rest, ':'); i > strings.LastIndexByte(rest, ']') {
		host, port = rest[:i], rest[i:]
	}
	other := map[string]string{"http": "https", "https": "http"}[scheme]
	toggled, hasWWW := strings.CutPrefix(host, "www.")
	if !hasWWW {
		toggled = "www." + host
	}
	add := func(scheme, host string) {
		if near := scheme + "://" + host; scheme != "" && near != busy.Origin {
			all = append(all, robots.Origin(near))
		}
	}
	for _, port := range [...]string{port, ""} {
		for _, host := range [...]string{host, toggled} {
			add(other, host+port)
			add(scheme, host+port)
		}
		if port == "" {
			break
		}
	}
	for _, near := range all {
		if store.Knows(near) {
			return fmt.Sprintf("%s: the rules have %s", text, near)
		}
	}
	return text
}
