package diff

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/internal/cli"
)

// width is the width of the text in columns.
const width = 80

// How many items text and Markdown show.
const (
	shownRules = 10
	shownParts = 5
	shownDays  = 7

	shownFamilies = 8 // if there are more, first directories are shown instead
)

// text returns the report for people.
func (r *Report) text() string {
	out := new(strings.Builder)
	for _, text := range r.caveats() {
		out.WriteString(cli.Fill(text, width) + "\n\n")
	}
	r.printTable(out, false)
	if r.Unit == unitRequest {
		out.WriteString("\n")
		r.printTable(out, true)
	}
	for i := range r.Agents {
		for k := range r.Agents[i].Changes {
			if names, first := r.agentsWithChange(i, k); first {
				out.WriteString("\n")
				r.printChange(out, names, &r.Agents[i].Changes[k])
			}
		}
	}
	// Print the changes of preferences for people.
	r.eachPreferences(func(names []string, changes []PreferenceChange) {
		out.WriteString("\n" + fit("preferences for "+r.crawlers(names)+" (drafts)", width) + "\n")
		for i := range changes {
			c := &changes[i]
			counts := r.counts(c.Count)
			fmt.Fprintf(out, "  %-*s%s\n", width-2-cli.Columns(counts), c.label(), counts)
			for _, p := range c.Families[:min(len(c.Families), shownParts)] {
				out.WriteString(r.partLine(p.Name, p.Count, ""))
			}
			if rest := max(0, len(c.Families)-shownParts) + c.MoreFamilies; rest > 0 {
				out.WriteString("      and " + msg.Number(int64(rest)) + " more\n")
			}
		}
	})
	for _, line := range r.notes() {
		out.WriteString("\n" + cli.Fill(line, width) + "\n")
	}
	return msg.NoCommands(out.String())
}

// unitRequest is the unit of a report on a log.
const unitRequest = "request"

// notes returns the sentences after all tables; nil if there are none.
func (r *Report) notes() (notes []string) {
	if t := r.Tried; t != nil {
		text := fmt.Sprintf("No difference found for %s of %s, generated from the patterns of both sides", msg.Count(t.Paths, "path"), msg.Count(t.Origins, "origin"))
		if r.Changed() {
			text = fmt.Sprintf("Compared: %s of %s, generated from the patterns of both sides", msg.Count(t.Paths, "path"), msg.Count(t.Origins, "origin"))
		}
		switch {
		case t.Origins == 0:
			text = "No difference: the robots.txt files are identical"
		case t.Paths == 0:
			text = "No difference: the robots.txt files have the same rules"
		case t.Equal > 0:
			text += fmt.Sprintf("; %s have identical robots.txt files", msg.Count(t.Equal, "more origin"))
		}
		notes = append(notes, text+".")
	}
	notes = append(notes, r.approved.notes()...)
	if r.BadURLs > 0 {
		notes = append(notes, msg.Count(r.BadURLs, "row")+" without a valid URL skipped.")
	}
	if r.Refused > 0 {
		notes = append(notes, msg.Count(r.Refused, "line")+" of the logs rejected, because they are not requests.")
	}
	return notes
}

// printTable prints a line for each agent with its numbers of requests or, if distinct is true, of distinct URLs. The
// failed gates are below the numbers of requests. There are no distinct URLs of unchanged requests, because they are
// not counted.
func (r *Report) printTable(out *strings.Builder, distinct bool) {
	line := func(cells ...any) {
		out.WriteString(strings.TrimRight(fmt.Sprintf("%-23s%13s%13s%13s%13s", cells...), " ") + "\n")
	}
	number := func(c Count) string {
		if distinct {
			return msg.Number(c.URLs)
		}
		return msg.Number(c.Requests)
	}
	if distinct {
		line("distinct URLs", "closed", "opened", "other rule", "")
	} else {
		line(r.Unit+"s", "closed", "opened", "other rule", "same")
	}
	for i := range r.Agents {
		a := &r.Agents[i]
		names, first := r.agentsCountedAs(i)
		if !first {
			continue
		}
		name := r.crawlers([]string{a.Agent})
		if more := len(names) - 1; more > 0 {
			name = fit(name, 15) + fmt.Sprintf(" +%d", more)
		}
		same := ""
		if !distinct {
			same = msg.Number(a.Same.Requests)
		}
		line("  "+fit(name, 20), number(a.Closed), number(a.Opened), number(a.OtherRule), same)
		for _, v := range r.Gates {
			if !distinct && v.Agent == a.Agent && !v.Passed {
				out.WriteString("    FAILED " + fit(msg.Line(v.Gate), width-11) + "\n           " + v.Text + "\n")
			}
		}
	}
}

// manyAgents is the minimum number of agents for which the table has one line per group of agents with the same
// numbers, instead of one line per agent.
const manyAgents = 12

// agentsCountedAs returns the agents with the same numbers and failed gates as agent i, and whether agent i is the
// first of them; nil if it is not. If there are at most manyAgents, each agent is returned separately.
func (r *Report) agentsCountedAs(i int) (names []string, first bool) {
	if len(r.Agents) <= manyAgents {
		return []string{r.Agents[i].Agent}, true
	}
	failed := func(agent string) (gates []string) {
		for _, v := range r.Gates {
			if v.Agent == agent && !v.Passed {
				gates = append(gates, v.Gate, v.Text)
			}
		}
		return gates
	}
	a := &r.Agents[i]
	gates := failed(a.Agent)
	return r.agentsLike(i, func(b *Agent) bool {
		return a.Closed == b.Closed && a.Opened == b.Opened && a.OtherRule == b.OtherRule && a.Same == b.Same && slices.Equal(gates, failed(b.Agent))
	})
}

// agentsLike returns the agents for which isLike is true, including agent i, and whether agent i is the first of them;
// nil if it is not.
func (r *Report) agentsLike(i int, isLike func(*Agent) bool) (names []string, first bool) {
	for k := range r.Agents {
		if !isLike(&r.Agents[k]) {
			continue
		}
		if k < i {
			return nil, false
		}
		names = append(names, r.Agents[k].Agent)
	}
	return names, true
}

// agentsWithChange returns the agents that have a change equal to one of agent i, which is given by its index, and
// whether agent i is the first of them; nil if it is not.
func (r *Report) agentsWithChange(i, change int) (names []string, first bool) {
	return r.agentsLike(i, func(a *Agent) bool {
		return slices.ContainsFunc(a.Changes, func(c Change) bool { return reflect.DeepEqual(c, r.Agents[i].Changes[change]) })
	})
}

// printChange prints a change for the named crawlers: the responsible rules with examples, the families of paths, the
// origins, the status codes in the log, and the requests of the latest days.
func (r *Report) printChange(out *strings.Builder, agents []string, c *Change) {
	out.WriteString(fit(r.title(agents, c), width) + "\n")
	for i := range c.Rules[:min(len(c.Rules), shownRules)] {
		rule := &c.Rules[i]
		head, counts := "  "+msg.Line(r.place(rule)+"  "+rule.label()), r.counts(rule.Count)
		if room := width - cli.Columns(head) - len(counts); room >= 3 {
			out.WriteString(head + strings.Repeat(" ", room) + counts + "\n")
		} else {
			out.WriteString(fit(head, width) + "\n" + strings.Repeat(" ", width-len(counts)) + counts + "\n")
		}
		verb := "was: "
		if rule.Of == "old" {
			verb = "now: "
		}
		for i := range rule.Examples {
			e := &rule.Examples[i]
			other := verb + e.label()
			url := e.URL
			if !r.severalOrigins() {
				url = path(url)
			}
			other = fit(msg.Line(other), 34)
			out.WriteString("      " + excerpt(msg.Line(url), rule.Rule, width-6-2-cli.Columns(other)) + "  " + other + "\n")
		}
	}
	if more := len(c.Rules) - shownRules; more > 0 || c.MoreRules > 0 {
		out.WriteString("  and " + msg.Count(int64(max(0, more)+c.MoreRules), "more rule") + "\n")
	}
	if len(c.Families) > shownFamilies {
		r.printParts(out, "paths", c.Directories, c.MoreDirectories)
	} else {
		r.printParts(out, "paths", c.Families, c.MoreFamilies)
	}
	if len(c.Origins) > 1 {
		r.printParts(out, "origins", c.Origins, c.MoreOrigins)
	}
	if len(c.Statuses) > 0 {
		out.WriteString("  status codes in the log\n")
		for i := range c.Statuses[:min(len(c.Statuses), shownParts)] {
			s := &c.Statuses[i]
			name := "no status"
			if s.Status != nil {
				name = strconv.FormatInt(*s.Status, 10)
			}
			out.WriteString(r.partLine(name, s.Count, s.remark(c.Change)))
		}
	}
	if len(c.Days)+c.MoreDays > 1 {
		// Print the requests of the latest days.
		out.WriteString("  days\n")
		if rest := max(0, len(c.Days)-shownDays) + c.MoreDays; rest > 0 {
			out.WriteString("      " + msg.Number(int64(rest)) + " earlier\n")
		}
		for _, day := range c.Days[max(0, len(c.Days)-shownDays):] {
			counts := msg.Count(day.Requests, unitRequest)
			fmt.Fprintf(out, "      %-*s%s\n", width-6-len(counts), day.Day, counts)
		}
	}
}

// remark returns a note if the status code in the log contradicts the change: a success for paths that it closes, or
// an error for paths that it opens; "" otherwise.
func (s *Status) remark(change string) string {
	switch {
	case s.Status == nil:
	case change == "closed" && *s.Status >= 200 && *s.Status < 300:
		return "closed, but returned " + strconv.FormatInt(*s.Status, 10)
	case change == "opened" && *s.Status >= 400:
		return "opened, but returned " + strconv.FormatInt(*s.Status, 10)
	}
	return ""
}

// title names a change and its crawler.
func (r *Report) title(agents []string, c *Change) string {
	return strings.ReplaceAll(c.Change, "_", " ") + " for " + r.crawlers(agents)
}

// severalOrigins reports whether one of the changes affects several origins.
func (r *Report) severalOrigins() bool {
	for i := range r.Agents {
		for k := range r.Agents[i].Changes {
			if len(r.Agents[i].Changes[k].Origins) > 1 {
				return true
			}
		}
	}
	return false
}

// path returns the part of a URL after its origin; the whole URL if it has no such part.
func path(url string) string {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		return url
	}
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[i:]
	}
	return url
}

// counts returns requests and URLs in words.
func (r *Report) counts(c Count) string {
	if r.Unit != unitRequest {
		return msg.Count(c.Requests, r.Unit)
	}
	return msg.Count(c.URLs, "URL") + ", " + msg.Count(c.Requests, r.Unit)
}

// place returns where a rule is: the file name or the origin, and the line.
func (r *Report) place(rule *Rule) string {
	side := &r.New
	if rule.Of == "old" {
		side = &r.Old
	}
	if rule.Line == 0 {
		return rule.Of + " rules"
	}
	name := rule.Origin + "/robots.txt"
	if side.File != "" {
		name = filepath.ToSlash(side.File)
	}
	name += fmt.Sprintf(":%d", rule.Line)
	if rule.Several && side.File == "" {
		name += " (and others)"
	}
	if r.Old.File == r.New.File {
		name = rule.Of + " " + name
	}
	return name
}

// label names the responsible rule.
func (r *Rule) label() string {
	text := describe(r.Rule, 0, r.Reason)
	if r.Of == "old" && r.Line > 0 {
		text += "  (removed)"
	}
	return text
}

// label describes the rule, or the reason, that decides the URL on the other side.
func (e *Example) label() string { return describe(e.Rule, e.Line, e.Reason) }

// describe returns a rule with its line number, or the reason in words if no rule decides.
func describe(rule string, line int, reason string) string {
	switch {
	case rule != "" && line > 0:
		return fmt.Sprintf("line %d, %s", line, rule)
	case rule != "":
		return rule
	}
	switch reason {
	case "default", "no_group":
		return "no rule"
	case "no_robots":
		return "no robots.txt"
	case "robots_txt":
		return "robots.txt itself"
	}
	return "robots.txt " + strings.ReplaceAll(reason, "_", " ")
}

// printParts prints a title, at most shownParts parts, and how many others there are. more is the number of parts
// that are not in parts.
func (r *Report) printParts(out *strings.Builder, title string, parts []Part, more int) {
	out.WriteString("  " + title + "\n")
	for _, p := range parts[:min(len(parts), shownParts)] {
		out.WriteString(r.partLine(p.Name, p.Count, ""))
	}
	if rest := max(0, len(parts)-shownParts) + more; rest > 0 {
		out.WriteString("      and " + msg.Number(int64(rest)) + " more\n")
	}
}

// partLine formats a line with the name of a part (a family of paths, or an origin), its count and a remark.
func (r *Report) partLine(name string, c Count, remark string) string {
	counts := r.counts(c)
	if remark != "" {
		name += "  " + remark
	}
	room := width - 6 - 2 - cli.Columns(counts)
	name = fit(msg.Line(name), room)
	return "      " + name + strings.Repeat(" ", room-cli.Columns(name)) + "  " + counts + "\n"
}

// fit truncates a text to n columns. A truncated text ends with "…".
func fit(s string, n int) string {
	if cli.Columns(s) <= n {
		return s
	}
	columns := 0
	for i, r := range s {
		if columns += cli.Columns(string(r)); columns > n-1 {
			return s[:i] + "…"
		}
	}
	return s
}
