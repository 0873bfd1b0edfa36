package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/output"
)

// skippedShown is how many of the rules files that are not used the summary lists.
const skippedShown = 10

// A table is lines of a label, a value and maybe a note, which print aligns. An empty line separates.
type table [][3]string

func (t *table) line(label, value, note string) { *t = append(*t, [3]string{label, value, note}) }
func (t *table) gap()                           { *t = append(*t, [3]string{}) }

// String returns the table: labels to the left, values to the right.
func (t table) String() string {
	var widths [2]int
	for _, line := range t {
		for i := range widths {
			widths[i] = max(widths[i], utf8.RuneCountInString(line[i]))
		}
	}
	var sb strings.Builder
	for _, line := range t {
		text := fmt.Sprintf("  %-*s  %*s  %s", widths[0], line[0], widths[1], line[1], line[2])
		sb.WriteString(strings.TrimRight(text, " "))
		sb.WriteByte('\n')
	}
	return sb.String()
}

// print prints the summary.
func (r *report) print(w io.Writer) {
	var t table
	c := &r.Counts
	t.line("URLs", group(c.URLs), "")
	t.line("origins", group(c.Origins), "")
	if r.AgentFromLog {
		t.line("violations", group(c.Violations), share(c.Violations, c.Rows))
		if c.Skipped > 0 {
			t.line("left out", group(c.Skipped), "their User-Agent is unknown")
		}
	} else if len(r.Agents) > 1 {
		t.line(r.verdicts(), group(c.Rows), fmt.Sprintf("%d agents", len(r.Agents)))
	}
	t.line("allowed", group(c.Allowed), share(c.Allowed, c.Rows))
	t.line("disallowed", group(c.Disallowed), share(c.Disallowed, c.Rows))
	t.line("null", group(c.Null), share(c.Null, c.Rows))
	if r.Where != "" {
		t.line("written", group(c.Written), "rows: -where "+r.Where)
	}
	t.gap()
	for i := range engine.NumReasons {
		reason := engine.Reason(i).String()
		if n := c.Reasons[reason]; n > 0 {
			t.line("reason "+reason, group(n), share(n, c.Rows))
		}
	}
	if r.byRow() {
		t.line("rows without a time", group(c.Undated), "decided by the newest captures")
		t.line("rows too old", group(c.Early), "before the first capture of their origin")
	}
	t.line("sum of rule_line", group(c.RuleLineSum), "to compare outputs by")
	t.gap()
	r.printForm(&t)
	t.line("empty lines", group(c.EmptyLines), "without a row")
	t.line("lines over 64 KiB", group(c.LongLines), "without their URL")
	t.line("bytes not UTF-8", group(r.Invalid), "written as %XX")
	t.gap()
	r.printRules(&t)
	t.gap()
	t.line("wall", fmt.Sprintf("%.2f s", r.Run.Seconds), fmt.Sprintf("%.2f s of it for the rules", r.Run.RulesSeconds))
	t.line("CPU", fmt.Sprintf("%.2f s", r.Run.CPUSeconds), "")
	t.line("rate", group(int64(r.Run.URLsPerSecond)), "URLs/s, without the rules")
	t.line("peak memory", bytesText(r.Run.PeakMemory), "")
	io.WriteString(w, r.title()+"\n\n"+t.String()+skippedText(r.Rules.Skipped, "; -stats lists all")+"\n") //nolint:errcheck // there is nowhere left to say it
}

// printRules adds what is known of the rules.
func (r *report) printRules(t *table) {
	files := "rules files"
	if r.Rules.pack {
		files = "rule packs"
	}
	t.line(files, group(int64(r.Rules.Files)), plural(int64(r.Rules.Origins), "origin"))
	t.line("patterns", group(int64(r.Rules.Patterns)), bytesText(r.Rules.TableBytes+r.Rules.TextBytes)+" compiled")
	if !r.Rules.pack { // which knows of no other files
		t.line("other files there", group(int64(len(r.Rules.Skipped))), "not used")
	}
	if r.Rules.Broken > 0 {
		t.line("broken records", group(r.Rules.Broken), "of captures; -stats has them")
	}
}

// verdicts returns what one for each URL and agent is called.
func (r *report) verdicts() string {
	if r.Layout == output.Wide.String() || r.Where != "" {
		return "verdicts"
	}
	return "rows"
}

// printForm adds what the lines of the logs were, where they were more than URLs, and what came of those without one.
func (r *report) printForm(t *table) {
	c := &r.Counts
	refused := sum(c.Refused)
	if formats := r.formats(); formats != "" && formats != "urls" {
		how := "guessed"
		if r.Format != ingest.Auto.String() {
			how = "as -format says"
		}
		if n := 1 + strings.Count(formats, ", "); n > 1 { // a list would widen the column of numbers
			t.line("formats", strconv.Itoa(n), how+": "+formats)
		} else {
			t.line("format", formats, how)
		}
		t.line("header lines", group(c.HeaderLines), "and comments")
		t.line("refused lines", group(refused), kindsText(c.Refused))
		t.line("odd requests", group(sum(c.OddRequests)), kindsText(c.OddRequests))
	}
}

// noteTimes tells where the captures are of another time than the log.
func (j *job) noteTimes(r *report) {
	c := &r.Counts
	switch {
	case c.Early > 0 && c.Reasons[engine.ReasonNoRobots.String()] == c.Rows:
		j.note("no row is as new as the first capture of its origin, so that -as-of log found no rules")
	case c.Undated > 0 && c.Undated == c.URLs:
		j.note("no row has a time that is understood, so that the newest captures decided: name the field of the time with -time-field")
	}
}

// kindsText lists counts by kind.
func kindsText(counts map[string]int64) string {
	list := make([]string, 0, len(counts))
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, kind+" "+group(counts[kind]))
	}
	return strings.Join(list, ", ")
}

// title says what went where.
func (r *report) title() string {
	from := r.Inputs[0].Name
	if from == stdName {
		from = "standard input"
	}
	if n := len(r.Inputs); n > 1 {
		from = plural(int64(n), "log")
	}
	if r.Output == "" {
		return from + ": nothing written"
	}
	return from + " -> " + display(r.Output)
}

// skippedText lists the rules files that are not used, or says how many they are, and where the others stand.
func skippedText(skipped []string, others string) string {
	var sb strings.Builder
	for i, s := range skipped {
		if i == 0 {
			sb.WriteString("\n  not used as rules:\n")
		}
		if i == skippedShown {
			fmt.Fprintf(&sb, "    and %s more%s\n", group(int64(len(skipped)-i)), others)
			break
		}
		fmt.Fprintf(&sb, "    %s\n", filepath.ToSlash(s))
	}
	return sb.String()
}

// group returns n with commas between the thousands.
func group(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plural returns "1 row" or "2 rows".
func plural(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return group(n) + " " + noun
}

// share returns n as a percentage of all.
func share(n, all int64) string {
	if all == 0 {
		return ""
	}
	return fmt.Sprintf("%5.1f %%", 100*float64(n)/float64(all))
}

// bytesText returns n in the unit that suits it.
func bytesText(n int64) string {
	switch {
	case n < 10_000:
		return group(n) + " B"
	case n < 10_000_000:
		return group(n/1000) + " kB"
	}
	return group(n/1_000_000) + " MB"
}
