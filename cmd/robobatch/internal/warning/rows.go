package warning

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// Verdicts returns the warnings about the verdicts of a run without a summary. noURLs is the text of the warning for
// the case that no row has a URL. refused is the number of lines that gave no row.
func Verdicts(store *engine.Store, s *engine.Stats, noURLs string, refused int64) []Warning {
	if bad := s.Reasons[engine.ReasonBadURL]; bad > 0 && bad == s.Rows {
		return []Warning{{Code: NoURLs, Text: noURLs, Count: s.URLs}}
	}
	all := WithoutRobots(store, s)
	bad, nameless := int64(0), s.Reasons[engine.ReasonBadAgent]
	if s.Rows > 0 {
		bad = s.URLs * s.Reasons[engine.ReasonBadURL] / s.Rows
	}
	rows, rejected := s.URLs+s.Skipped+refused, bad+nameless+refused
	if 10*rejected > rows {
		text := fmt.Sprintf("%s of %s rejected, without a verdict (%s %s", msg.Number(rejected), msg.Were(rows, "row"), engine.ReasonBadURL, msg.Number(bad))
		if nameless > 0 {
			text += fmt.Sprintf(", %s %s", engine.ReasonBadAgent, msg.Number(nameless))
		}
		if refused > 0 {
			text += ", rejected lines " + msg.Number(refused)
		}
		all = append(all, Warning{Code: RejectedLines, Text: text + "): check that this is the right input", Count: rejected})
	}
	return slices.Concat(all, Rules(&s.Odd, "origin"), MisreadGroups(store, s), Disputes(&s.Disputes, "row"))
}

// Disputes returns a warning if rows are disallowed, but allowed in another reading of the same robots.txt that the
// crawler's operator may use; nil otherwise. The warning has an example, and the origins with the most such rows.
// unit is the noun for what is counted, such as "row".
func Disputes(d *engine.DisputeStats, unit string) []Warning {
	if d.Rows == 0 {
		return nil
	}
	text := msg.Were(d.Rows, unit) + " disallowed in one reading of robots.txt, but allowed in another that the crawler may use: "
	if unit == "row" {
		text += "not counted as violations; "
	}
	text += "robobatch explain shows each reading"
	w := Warning{Code: ReadingsDiffer, Text: text, Count: d.Rows}
	// Say what each reading answers, and by which line. The dialect of the run is included if it is not one of the
	// readings.
	var parts []string
	part := func(who, verb string, line int32) {
		text := who + " " + verb
		if line > 0 {
			text += fmt.Sprintf(" by line %d", line)
		}
		parts = append(parts, text)
	}
	if !slices.ContainsFunc(d.Example.By[:], func(r engine.ReadBy) bool { return r.Dialect != 0 && !r.Allows }) {
		part("the dialect of this run", "disallows", d.Example.Line)
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
			w.Examples = append(w.Examples, fmt.Sprintf("%s (%s)", busy.Origin, msg.Count(busy.Rows, "row")))
		}
	}
	return []Warning{w}
}

// MisreadGroups returns a warning if rows of crawlers are decided by other groups than their operators document; nil
// otherwise.
func MisreadGroups(store *engine.Store, s *engine.Stats) []Warning {
	d := Warning{Code: OtherGroup}
	all := slices.Clone(s.Misread)
	slices.SortStableFunc(all, func(a, b engine.MisreadCount) int { return cmp.Compare(b.Rows, a.Rows) })
	for i, one := range all {
		if d.Count += one.Rows; i < Examples {
			d.Examples = append(d.Examples, one.Name+": "+msg.Count(one.Rows, "row"))
		}
	}
	if d.Count == 0 {
		return nil
	}
	most := &all[0]
	advice := fmt.Sprintf("decide these with -dialect %s -agent %s", most.Dialect, most.Name)
	if store.Options().LogAgents != engine.LogAgentsOff { // -agent would decide the rows of all clients
		advice = fmt.Sprintf("decide them in a separate run with -dialect %s", most.Dialect)
	}
	d.Text = fmt.Sprintf("%s decided by a different group than the crawler's operator documents: %s", msg.Were(d.Count, "row"), advice)
	return []Warning{d}
}

// WithoutRobots returns a warning if more than half of the URLs have no robots.txt, because the rules are for other
// origins, or because they are newer than the rows; nil otherwise.
func WithoutRobots(store *engine.Store, s *engine.Stats) []Warning {
	decided := s.Rows - s.Reasons[engine.ReasonBadURL] - s.Reasons[engine.ReasonBadAgent]
	if 2*s.Reasons[engine.ReasonNoRobots] <= decided {
		return nil
	}
	rows := msg.Count(s.URLs*decided/s.Rows, "row")
	if s.Early > s.Strays {
		text := fmt.Sprintf("every robots.txt is newer than -as-of for %s of %s; the time of a plain file is its modification time", msg.Number(s.Early), rows)
		if store.Options().RowTimes {
			text = fmt.Sprintf("%s of %s are older than the first capture of their origin", msg.Number(s.Early), rows)
		}
		return []Warning{{Code: NoRulesThen, Text: text, Count: s.Early}}
	}
	only := ""
	if store.NumSites() == 1 {
		only = fmt.Sprintf(", which contains only that of %s,", store.NewLookup().Origin(0))
	}
	d := Warning{Code: NoRobots, Count: s.Strays}
	d.Text = fmt.Sprintf("no robots.txt in -rules%s for %s of %s; http and https differ, and so do example.com and www.example.com",
		only, msg.Number(s.Strays), rows)
	for _, busy := range s.Busiest {
		if busy.Origin != "" {
			d.Examples = append(d.Examples, similarOrigins(store, busy))
		}
	}
	return []Warning{d}
}

// similarOrigins describes an origin without rules, and names the first similar origin for which there are rules, if
// any: with the other scheme, with or without "www.", or without the port.
func similarOrigins(store *engine.Store, busy engine.BusyOrigin) string {
	text := fmt.Sprintf("%s (%s)", busy.Origin, msg.Count(busy.Rows, "row"))
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
			return fmt.Sprintf("%s: -rules has %s", text, near)
		}
	}
	return text
}

// Rules returns a warning if files that were read as robots.txt are not valid; nil otherwise. noun is the noun for
// what c counts.
func Rules(c *engine.OddCount, noun string) []Warning {
	if c.Number == 0 {
		return nil
	}
	byName := map[string]int64{}
	var names []string
	for odd, n := range c.Kinds {
		name := robots.Oddity(odd).String()
		if n > 0 && byName[name] == 0 {
			names = append(names, name)
		}
		byName[name] += n
	}
	for i, name := range names {
		names[i] = name + " " + msg.Number(byName[name])
	}
	d := Warning{Code: OddRobots, Count: c.Number, Short: true}
	d.Text = fmt.Sprintf("robots.txt not valid: %s (%s)", msg.Count(c.Number, noun), strings.Join(names, ", "))
	if c.Rows > 0 {
		d.Text += ", which decided " + msg.Count(c.Rows, "row")
	}
	d.Text += "; crawlers find few or no rules in such files"
	for _, odd := range c.Worst {
		if odd.Origin == "" {
			break
		}
		text := string(odd.Origin)
		if odd.Rows > 0 {
			text += " (" + msg.Count(odd.Rows, "row") + ")"
		}
		d.Examples = append(d.Examples, text+": "+OddName(odd.Odd))
	}
	return []Warning{d}
}

// OddName says what a file is instead of a valid robots.txt, such as "an HTML page". o must be odd, and not an empty
// file.
func OddName(o robots.Oddity) string {
	switch o {
	case robots.OddHTML:
		return "an HTML page"
	case robots.OddText:
		return "text without directives"
	case robots.OddNUL:
		return "binary data"
	case robots.OddParquet:
		return "a Parquet file"
	case robots.OddUTF16, robots.OddUTF16LE, robots.OddUTF16BE, robots.OddUTF32:
		return strings.ToUpper(o.String()[:3]) + "-" + o.String()[3:]
	case robots.NotOdd, robots.OddBlank, robots.OddGzip, robots.OddZstd, robots.OddXZ, robots.OddBzip2, robots.OddZip:
	}
	return "packed with " + o.String()
}

// Senders returns warnings about the addresses from which crawler requests came, and about the lists that verify
// them; nil without address lists.
func Senders(s *engine.Stats) (all []Warning) {
	requests, unusable, anonymised := s.Census.Requests()
	network, proxied := s.Census.Proxied()
	if networks, sent := s.Census.Mixed(); networks > 0 && !proxied {
		text := fmt.Sprintf("%s of %s by crawlers came from %s, each with crawlers of three or more operators: either a proxy (name the client's address with -field client=name), or a client that sends many names",
			msg.Number(sent), msg.Count(requests, "request"), msg.Count(networks, "network"))
		all = append(all, Warning{Code: ProxiedClients, Text: text, Count: sent})
	}
	if proxied {
		text := fmt.Sprintf("%s of %s by crawlers have no public IP address", msg.Number(unusable), msg.Count(requests, "request"))
		count := unusable
		if network != 0 {
			count = s.Census.Sent(network)
			text = fmt.Sprintf("%s of %s by crawlers, of three or more operators, came from %s", msg.Number(count), msg.Count(requests, "request"), network.Prefix())
		}
		text += ": the field contains a proxy address, or text instead of an address; name the field of the client address with -field client=name"
		all = append(all, Warning{Code: ProxiedClients, Text: text, Count: count})
	}
	if n := s.Census.Texts(); n > 0 && !proxied {
		text := fmt.Sprintf("%s of %s by crawlers have text instead of an address, so they are not verified, and their violation is null: name the field of the client address with -field client=name",
			msg.Number(n), msg.Count(requests, "request"))
		all = append(all, Warning{Code: ProxiedClients, Text: text, Count: n})
	}
	if s.Census.Anonymised() {
		text := fmt.Sprintf("%s of %s by crawlers have an address that ends in 0 or x: these are anonymised and cannot be verified", msg.Number(anonymised), msg.Count(requests, "request"))
		all = append(all, Warning{Code: AnonymisedClients, Text: text, Count: anonymised})
	}
	if n := s.UntimedRows + s.UntimedLists; n > 0 {
		why := "their lists have no times: keep lists in directories named after their day"
		switch {
		case s.UntimedLists == 0:
			why = "their rows have no times: name the field with -field time=name"
		case s.UntimedRows > 0:
			why = "their rows or lists have no times: name the field with -field time=name, and keep lists in directories named after their day"
		}
		text := msg.Count(n, "request") + " by crawlers verified without a time, using all lists: " + why
		all = append(all, Warning{Code: UntimedLists, Text: text, Count: n})
	}
	return all
}

// Lists returns a warning if files with the same list name and time have different addresses.
func Lists(lists *ranges.Lists) []Warning {
	if lists == nil || len(lists.Differ) == 0 {
		return nil
	}
	n := int64(len(lists.Differ))
	d := Warning{Code: DifferingLists, Count: n, Text: msg.Count(n, "pair") + " of address lists with the same name and time, but different addresses: all of them are used; keep the right ones"}
	for _, pair := range lists.Differ[:min(n, Examples)] {
		d.Examples = append(d.Examples, msg.File(pair[0])+" and "+msg.File(pair[1]))
	}
	return []Warning{d}
}

// Formulas returns a warning if an output has cells that spreadsheets would run as formulas.
func Formulas(formulas output.Formulas) []Warning {
	if formulas.Cells == 0 {
		return nil
	}
	text := msg.Count(formulas.Cells, "cell") + " of the output may begin a formula (=, +, -, @, a tab or a carriage return), which spreadsheets run: for spreadsheets, use -csv safe"
	d := Warning{Code: FormulaCells, Text: text, Count: formulas.Cells}
	for _, cell := range formulas.First {
		d.Examples = append(d.Examples, strings.ToValidUTF8(cell[:min(len(cell), longestExample)], ""))
	}
	return []Warning{d}
}

// longestExample is the maximum number of bytes of a cell that the warning shows.
const longestExample = 100

// A Sum adds up the warnings of many inputs to one warning per code.
type Sum struct {
	sums []codeSum // in the order in which the codes came
}

type codeSum struct {
	Warning
	inputs int
}

// Add adds the warnings about an input. The sum keeps the text of the first warning with a code, and the first
// example of each of the first inputs.
func (s *Sum) Add(input string, warnings []Warning) {
	for _, d := range warnings {
		i := slices.IndexFunc(s.sums, func(sum codeSum) bool { return sum.Code == d.Code })
		if i < 0 {
			i = len(s.sums)
			s.sums = append(s.sums, codeSum{Warning: Warning{Code: d.Code, Text: d.Text}})
		}
		sum := &s.sums[i]
		sum.inputs++
		sum.Count += d.Count
		if len(sum.Examples) < Examples {
			example := msg.File(input)
			if len(d.Examples) > 0 && strings.HasPrefix(d.Examples[0], example) {
				example = d.Examples[0]
			} else if len(d.Examples) > 0 {
				example += ": " + d.Examples[0]
			}
			sum.Examples = append(sum.Examples, example)
		}
	}
}

// Warnings returns one warning per code. inputs is the number of all inputs, for the text.
func (s *Sum) Warnings(inputs int) []Warning {
	all := make([]Warning, len(s.sums))
	for i, sum := range s.sums {
		all[i] = sum.Warning
		all[i].Text = fmt.Sprintf("%s of %s, the first of them: %s", msg.Number(int64(sum.inputs)), msg.Count(int64(inputs), "input"), sum.Text)
	}
	return all
}
