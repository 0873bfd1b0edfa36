package summary

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/output"
)

// Sizes of the short summary.
const (
	shortLines  = 14 // including the title, and the empty line below it
	shortWidth  = 80 // for lines with a rule
	shortAgents = 3
	shortRules  = 5

	shortViolators = 10 // crawlers with violations, each with an additional line
)

// Text returns the full or the short summary.
func (r *Report) Text(verbose bool) string {
	if verbose {
		return r.Full()
	}
	return r.Short()
}

// Short returns the short summary: at most twelve lines with the main numbers, plus lines for crawlers with
// violations and for the rules that they broke. If a fault ended the run before the first URL, it is the full
// summary.
func (r *Report) Short() string {
	if r.Fault != "" && r.Counts.URLs == 0 {
		return r.Full()
	}
	c := &r.Counts
	note := c.originsText(func(n int64) string { return msg.Count(n, "origin") })
	if note != "" {
		note = "of " + note
	}
	if r.isForSeveral() {
		note = strings.TrimPrefix(note+fmt.Sprintf(", for %d agents", len(r.Agents)), ", ")
	}
	if c.Skipped > 0 {
		note += "; " + msg.Number(c.Skipped) + " from unknown agents skipped"
	}
	bad := r.perURL(c.Reasons[engine.ReasonBadURL.String()]) + Sum(c.Refused)
	rest := table{{"no verdict", msg.Number(bad), "lines: -rejects lists them", bad > 0}}
	if r.AgentFromLog { // rows that cannot be violations
		rest = slices.Insert(rest, 0,
			line{"other clients", msg.Number(r.Others.Disallowed), "disallowed of " + msg.Count(r.Others.Rows, "row") + ": browsers and others", r.Others.Rows > 0},
			line{"not bound", msg.Number(r.Unbound.Disallowed), "disallowed of " + msg.Count(r.Unbound.Rows, "row") + ": crawlers that are exempt, or might be", r.Unbound.Rows > 0})
	}
	head, rows := table{
		{"URLs", msg.Number(c.URLs), note, true},
		{"allowed", msg.Number(c.Allowed), msg.Percent(c.Allowed, c.Rows), true},
		{"disallowed", msg.Number(c.Disallowed), msg.Percent(c.Disallowed, c.Rows), true},
		{"violations", msg.Number(c.Violations), msg.Percent(c.Violations, c.Rows), r.AgentFromLog},
	}.visibleLines(), r.rows().visibleLines()
	rest = rest.visibleLines()
	var text string
	if r.AgentFromLog {
		var t table
		all := slices.DeleteFunc(r.agentsWorstFirst(), func(a AgentCount) bool { return *a.Violations == 0 })
		for _, a := range all[:min(shortViolators, len(all))] {
			t = append(t, line{a.Agent, msg.Number(*a.Violations), "violations in " + msg.Count(a.Rows, "row"), true})
		}
		if left := len(all) - len(t); left > 0 {
			t = append(t, line{"others", "", "-v prints " + msg.Count(int64(left), "more crawler") + " with violations", true})
		}
		for _, rule := range r.Busiest.Violated[:min(shortRules, len(r.Busiest.Violated))] {
			t = append(t, line{"violated", msg.Number(rule.Rows), rule.place(), true})
		}
		text = slices.Concat(head, t, r.verifiedLines().visibleLines(), rows, rest).String()
	} else {
		room := shortLines - 3 - len(head) - len(rows) - len(rest)
		agents := r.shortAgentLines(min(shortAgents, room))
		most := min(shortRules, room-len(agents))
		var t table
		for _, rule := range r.Busiest.Rules {
			if !rule.allow && len(t) < most {
				t = append(t, line{"disallowed by", msg.Number(rule.Rows), rule.place(), true})
			}
		}
		text = slices.Concat(head, rows, agents, t, rest).String()
	}
	lines := strings.SplitAfter(text, "\n")
	for i, text := range lines {
		if runes := []rune(text); len(runes) > shortWidth+1 { // including the end of line
			lines[i] = string(runes[:shortWidth-1]) + "…\n"
		}
	}
	end := fmt.Sprintf("%.2f s, %.2f s of CPU, %s; -v prints more\n", r.Run.Seconds, r.Run.CPUSeconds, msg.Bytes(r.Run.PeakMemory))
	if n := int64(len(r.Rules.Skipped)); n > 0 {
		end = msg.Count(n, "other file") + " in -rules; " + end
	}
	return r.title() + "\n\n" + strings.Join(lines, "") + "  " + end + "\n"
}

// rows returns the lines about rows without rules, rows without a verdict, and written rows.
func (r *Report) rows() table {
	c := &r.Counts
	without := r.perURL(c.Reasons[engine.ReasonNoRobots.String()])
	note := "rows: no robots.txt for their origin"
	if c.Early > 0 {
		note += ", or only newer ones"
	}
	return table{
		{"no rules", msg.Number(without), note + "; " + missing[r.Missing], without > 0},
		{"null", msg.Number(c.Null), msg.Percent(c.Null, c.Rows), c.Null > 0},
		{"written", msg.Number(c.Written), "rows: -where " + r.Where, r.Where != ""},
	}
}

// missing describes the effect of a value of -missing.
var missing = map[string]string{"allow": "allowed", "disallow": "disallowed", "null": "null"}

// perURL converts a number of verdicts to a number of URLs, if each URL has one verdict per agent.
func (r *Report) perURL(n int64) int64 {
	if r.isForSeveral() {
		return n / int64(len(r.Agents))
	}
	return n
}

// isForSeveral reports whether each URL is evaluated for several agents.
func (r *Report) isForSeveral() bool { return !r.AgentFromLog && len(r.Agents) > 1 }

// shortAgentLines returns at most that many lines about the agents with the most disallowed rows; nil if URLs are
// evaluated for one agent, or with -agent-from-log.
func (r *Report) shortAgentLines(most int) (t table) {
	if !r.isForSeveral() {
		return nil
	}
	all := r.agentsWorstFirst()
	for i, a := range all[:max(0, min(most, len(all)))] {
		note := msg.Percent(a.Disallowed, a.Rows) + " disallowed"
		if left := len(all) - most; i == most-1 && left > 0 {
			note += fmt.Sprintf("; -v prints %d more", left)
		}
		t = append(t, line{a.Agent, msg.Number(a.Disallowed), note, true})
	}
	return t
}

// visibleLines returns the lines of the table that the summary shows.
func (t table) visibleLines() (shown table) {
	for _, l := range t {
		if l.shown {
			shown = append(shown, l)
		}
	}
	return shown
}

// skippedShown is the maximum number of unused rules files in the summary.
const skippedShown = 10

// A line of the summary has a label, a value and an optional note. An empty line is a separator.
type line struct {
	label, value, note string
	shown              bool
}

// A table is lines in columns.
type table []line

// gap is an empty line.
var gap = table{{shown: true}}

// String formats the lines that are shown: labels on the left, values on the right. It changes the table.
func (t table) String() string {
	t = slices.DeleteFunc(t, func(l line) bool { return !l.shown })
	var labels, values int
	for _, l := range t {
		labels = max(labels, utf8.RuneCountInString(l.label))
		values = max(values, utf8.RuneCountInString(l.value))
	}
	var sb strings.Builder
	for _, l := range t {
		text := fmt.Sprintf("  %-*s  %*s  %s", labels, l.label, values, l.value, l.note)
		sb.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	return sb.String()
}

// Full returns the full summary as a table. It has no lines about verdicts if the run ended before the first URL, and
// no lines at all if it ended before the first line of the logs.
func (r *Report) Full() string {
	c, several := &r.Counts, !r.AgentFromLog && len(r.Agents) > 1
	rows := "rows"
	if r.Layout == output.Wide.String() || r.Where != "" {
		rows = "verdicts"
	}
	t := slices.Concat(table{
		{"URLs", msg.Number(c.URLs), "", true},
		{"origins", c.originsText(msg.Number), "", c.Origins != nil},
		{"violations", msg.Number(c.Violations), msg.Percent(c.Violations, c.Rows), r.AgentFromLog},
		{"left out", msg.Number(c.Skipped), "unknown User-Agent", r.AgentFromLog && c.Skipped > 0},
		{rows, msg.Number(c.Rows), fmt.Sprintf("%d agents", len(r.Agents)), several},
		{"allowed", msg.Number(c.Allowed), msg.Percent(c.Allowed, c.Rows), true},
		{"disallowed", msg.Number(c.Disallowed), msg.Percent(c.Disallowed, c.Rows), true},
		{"null", msg.Number(c.Null), msg.Percent(c.Null, c.Rows), true},
		{"written", msg.Number(c.Written), "rows: -where " + r.Where, r.Where != ""},
	}, r.verifiedLines().visibleLines(), gap, r.agents(), r.reasonLines(), gap, r.busiestLines(), r.logLines(), gap, r.ruleLines(), gap, r.timeLines())
	switch {
	case r.Fault != "" && (r.Counts.Lines()+r.Counts.EmptyLines+r.Counts.HeaderLines) == 0:
		return ""
	case r.Fault != "" && r.Counts.URLs == 0:
		t = slices.Concat(r.logLines().nonZeroLines(), gap, r.ruleLines().nonZeroLines(), gap, r.timeLines().nonZeroLines())
	}
	return r.title() + "\n\n" + t.String() + SkippedText(r.Rules.Skipped, "; -stats lists all") + "\n"
}

// nonZeroLines returns the lines of a table whose value is not 0. It changes the table.
func (t table) nonZeroLines() table {
	return slices.DeleteFunc(t, func(l line) bool { return l.value == "0" })
}

// agents returns one line per agent about its verdicts, and a gap; nil for a single agent without
// -agent-from-log.
func (r *Report) agents() (t table) {
	for _, a := range r.agentsWorstFirst() {
		note := msg.Percent(a.Disallowed, a.Rows) + " disallowed of " + msg.Count(a.Rows, "row")
		value := a.Disallowed
		if r.AgentFromLog {
			value, note = *a.Violations, "violations, "+msg.Number(a.Disallowed)+" disallowed of "+msg.Count(a.Rows, "row")
			if a.Verified != nil {
				note += ": " + a.Verified.String()
			}
		}
		t = append(t, line{"agent " + a.Agent, msg.Number(value), note, true})
	}
	if len(t) < 2 && !r.AgentFromLog {
		return nil
	}
	return append(t, gap...)
}

// busiestLines returns the lines about the rules and origins with the most rows, and a gap; nil if there are none.
func (r *Report) busiestLines() (t table) {
	b := &r.Busiest
	for _, rule := range b.Rules {
		t = append(t, line{"busiest rule", msg.Number(rule.Rows), rule.place(), true})
	}
	for _, rule := range b.Violated {
		t = append(t, line{"violated rule", msg.Number(rule.Rows), rule.place(), true})
	}
	for _, o := range b.Origins {
		t = append(t, line{"busiest origin", msg.Number(o.Rows), o.Origin, true})
	}
	if off := max(b.RulesOff, b.OriginsOff); off > 0 {
		t = append(t, line{"busiest", "", "each has at most " + msg.Count(off, "row") + " more than shown: there are too many to count exactly", true})
	}
	if len(t) == 0 {
		return nil
	}
	return append(t, gap...)
}

// place returns a rule and its place.
func (b *BusyRule) place() string {
	others := ""
	if b.Others {
		others = " and others"
	}
	return fmt.Sprintf("%s:%d%s  %s", b.Origin, b.Line, others, b.Rule)
}

// reasonLines returns the lines about reasons, about rows for which there are no rules at their time, and about the
// checksum of rule lines.
func (r *Report) reasonLines() (t table) {
	c := &r.Counts
	for i := range engine.NumReasons {
		reason := engine.Reason(i).String()
		n := c.Reasons[reason]
		t = append(t, line{"reason " + reason, msg.Number(n), msg.Percent(n, c.Rows), n > 0})
	}
	return append(t, table{
		{"rows without a time", msg.Number(c.Undated), "decided by the newest captures", r.ByRow()},
		{"rows too old", msg.Number(c.Early), "before the first capture of their origin", r.ByRow()},
		{"rows without rules then", msg.Number(c.Early), "all captures of their origin are newer than -as-of", !r.ByRow() && c.Early > 0},
		{"sum of rule_line", msg.Number(c.RuleLineSum), "a checksum to compare outputs", true},
	}...)
}

// logLines returns the lines about the logs: their format, if it is not a list of URLs, lines without a URL, and
// warnings.
func (r *Report) logLines() table {
	c, formats := &r.Counts, r.Formats()
	label, value, how := "format", formats, "detected"
	if r.Format != ingest.Auto.String() {
		how = "as -format says"
	}
	if n := 1 + strings.Count(formats, ", "); n > 1 { // a list would widen the column of numbers
		label, value, how = "formats", strconv.Itoa(n), how+": "+formats
	}
	formatted := formats != "" && formats != "urls"
	list := make([]string, len(r.Warnings))
	for i, d := range r.Warnings {
		list[i] = string(d.Code)
	}
	return table{
		{label, value, how, formatted},
		{"header lines", msg.Number(c.HeaderLines), "and comments", formatted},
		{"refused lines", msg.Number(Sum(c.Refused)), kindsText(c.Refused), formatted},
		{"odd requests", msg.Number(Sum(c.OddRequests)), kindsText(c.OddRequests), formatted},
		{"empty lines", msg.Number(c.EmptyLines), "without a row", true},
		{"lines over 64 KiB", msg.Number(c.LongLines), "without their URL", true},
		{"bytes not UTF-8", msg.Number(r.Invalid), "written as %XX", true},
		{"warnings", strconv.Itoa(len(r.Warnings)), strings.Join(list, ", "), len(r.Warnings) > 0},
	}
}

// ruleLines returns the lines about rules. For a pack, unused files are unknown.
func (r *Report) ruleLines() table {
	files := "rules files"
	if r.Rules.pack {
		files = "rule packs"
	}
	compiled := msg.Bytes(r.Rules.TableBytes+r.Rules.TextBytes) + " compiled"
	return table{
		{files, msg.Number(int64(r.Rules.Files)), msg.Count(int64(r.Rules.Origins), "origin"), true},
		{"patterns", msg.Number(int64(r.Rules.Patterns)), compiled, true},
		{"other files there", msg.Number(int64(len(r.Rules.Skipped))), "not used", !r.Rules.pack},
		{"broken records", msg.Number(r.Rules.Broken), "in captures; -stats lists them", r.Rules.Broken > 0},
	}
}

// timeLines returns the lines about time and memory.
func (r *Report) timeLines() table {
	rules := fmt.Sprintf("%.2f s of it for the rules", r.Run.RulesSeconds)
	return table{
		{"wall", fmt.Sprintf("%.2f s", r.Run.Seconds), rules, true},
		{"CPU", fmt.Sprintf("%.2f s", r.Run.CPUSeconds), "", true},
		{"rate", msg.Number(int64(r.Run.URLsPerSecond)), "URLs/s, without the rules", true},
		{"peak memory", msg.Bytes(r.Run.PeakMemory), "", true},
	}
}

// kindsText formats counts by kind.
func kindsText(counts map[string]int64) string {
	list := make([]string, 0, len(counts))
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, kind+" "+msg.Number(counts[kind]))
	}
	return strings.Join(list, ", ")
}

// title returns the heading or, without one, names inputs and output; then there must be at least one input.
func (r *Report) title() string {
	if r.Heading != "" {
		return r.Heading
	}
	from := r.Inputs[0].Name
	if from == msg.Std {
		from = "standard input"
	}
	if n := len(r.Inputs); n > 1 {
		from = msg.Count(int64(n), "log")
	}
	if r.Output == "" {
		return from + ": nothing written"
	}
	return from + " -> " + msg.File(r.Output)
}

// SkippedText lists the first skippedShown unused rules files; "" if there are none. For the rest, it gives their
// number, followed by the text others.
func SkippedText(skipped []string, others string) string {
	var sb strings.Builder
	for i, s := range skipped {
		if i == 0 {
			sb.WriteString("\n  not used as rules:\n")
		}
		if i == skippedShown {
			fmt.Fprintf(&sb, "    and %s more%s\n", msg.Number(int64(len(skipped)-i)), others)
			break
		}
		fmt.Fprintf(&sb, "    %s\n", filepath.ToSlash(s))
	}
	return sb.String()
}

// Formats returns the formats of the inputs, separated by commas and without duplicates; "" if none is known.
func (r *Report) Formats() string {
	var formats []string
	for _, in := range r.Inputs {
		if !slices.Contains(formats, in.Format) && in.Format != ingest.Auto.String() {
			formats = append(formats, in.Format)
		}
	}
	return strings.Join(formats, ", ")
}
