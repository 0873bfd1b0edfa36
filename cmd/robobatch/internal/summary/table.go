package summary

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/output"
)

// skippedShown is how many of the rules files that are not used the summary lists.
const skippedShown = 10

// A table is lines of a label, a value and maybe a note, which print aligns. An empty line
// separates.
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

// String returns the summary as a table.
func (r *Report) String() string {
	var t table
	c := &r.Counts
	t.line("URLs", say.Number(c.URLs), "")
	t.line("origins", say.Number(c.Origins), "")
	if r.AgentFromLog {
		t.line("violations", say.Number(c.Violations), say.Percent(c.Violations, c.Rows))
		if c.Skipped > 0 {
			t.line("left out", say.Number(c.Skipped), "their User-Agent is unknown")
		}
	} else if len(r.Agents) > 1 {
		t.line(r.verdicts(), say.Number(c.Rows), fmt.Sprintf("%d agents", len(r.Agents)))
	}
	t.line("allowed", say.Number(c.Allowed), say.Percent(c.Allowed, c.Rows))
	t.line("disallowed", say.Number(c.Disallowed), say.Percent(c.Disallowed, c.Rows))
	t.line("null", say.Number(c.Null), say.Percent(c.Null, c.Rows))
	if r.Where != "" {
		t.line("written", say.Number(c.Written), "rows: -where "+r.Where)
	}
	t.gap()
	for i := range engine.NumReasons {
		reason := engine.Reason(i).String()
		if n := c.Reasons[reason]; n > 0 {
			t.line("reason "+reason, say.Number(n), say.Percent(n, c.Rows))
		}
	}
	if r.ByRow() {
		t.line("rows without a time", say.Number(c.Undated), "decided by the newest captures")
		t.line("rows too old", say.Number(c.Early), "before the first capture of their origin")
	}
	t.line("sum of rule_line", say.Number(c.RuleLineSum), "to compare outputs by")
	t.gap()
	r.printForm(&t)
	t.line("empty lines", say.Number(c.EmptyLines), "without a row")
	t.line("lines over 64 KiB", say.Number(c.LongLines), "without their URL")
	t.line("bytes not UTF-8", say.Number(r.Invalid), "written as %XX")
	t.gap()
	r.printRules(&t)
	t.gap()
	t.line("wall", fmt.Sprintf("%.2f s", r.Run.Seconds), fmt.Sprintf("%.2f s of it for the rules", r.Run.RulesSeconds))
	t.line("CPU", fmt.Sprintf("%.2f s", r.Run.CPUSeconds), "")
	t.line("rate", say.Number(int64(r.Run.URLsPerSecond)), "URLs/s, without the rules")
	t.line("peak memory", say.Bytes(r.Run.PeakMemory), "")
	return r.title() + "\n\n" + t.String() + Skipped(r.Rules.Skipped, "; -stats lists all") + "\n"
}

// printRules adds what is known of the rules.
func (r *Report) printRules(t *table) {
	files := "rules files"
	if r.Rules.pack {
		files = "rule packs"
	}
	t.line(files, say.Number(int64(r.Rules.Files)), say.Count(int64(r.Rules.Origins), "origin"))
	t.line("patterns", say.Number(int64(r.Rules.Patterns)), say.Bytes(r.Rules.TableBytes+r.Rules.TextBytes)+" compiled")
	if !r.Rules.pack { // which knows of no other files
		t.line("other files there", say.Number(int64(len(r.Rules.Skipped))), "not used")
	}
	if r.Rules.Broken > 0 {
		t.line("broken records", say.Number(r.Rules.Broken), "of captures; -stats has them")
	}
}

// verdicts returns what one for each URL and agent is called.
func (r *Report) verdicts() string {
	if r.Layout == output.Wide.String() || r.Where != "" {
		return "verdicts"
	}
	return "rows"
}

// printForm adds what the lines of the logs were, where they were more than URLs, and what came of
// those without one.
func (r *Report) printForm(t *table) {
	c := &r.Counts
	refused := Sum(c.Refused)
	if formats := r.Formats(); formats != "" && formats != "urls" {
		how := "guessed"
		if r.Format != ingest.Auto.String() {
			how = "as -format says"
		}
		if n := 1 + strings.Count(formats, ", "); n > 1 { // a list would widen the column of numbers
			t.line("formats", strconv.Itoa(n), how+": "+formats)
		} else {
			t.line("format", formats, how)
		}
		t.line("header lines", say.Number(c.HeaderLines), "and comments")
		t.line("refused lines", say.Number(refused), kindsText(c.Refused))
		t.line("odd requests", say.Number(Sum(c.OddRequests)), kindsText(c.OddRequests))
	}
}

// kindsText lists counts by kind.
func kindsText(counts map[string]int64) string {
	list := make([]string, 0, len(counts))
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, kind+" "+say.Number(counts[kind]))
	}
	return strings.Join(list, ", ")
}

// title says what went where.
func (r *Report) title() string {
	from := r.Inputs[0].Name
	if from == say.Std {
		from = "standard input"
	}
	if n := len(r.Inputs); n > 1 {
		from = say.Count(int64(n), "log")
	}
	if r.Output == "" {
		return from + ": nothing written"
	}
	return from + " -> " + say.File(r.Output)
}

// Skipped lists the rules files that are not used, or says how many they are, and where the others
// stand.
func Skipped(skipped []string, others string) string {
	var sb strings.Builder
	for i, s := range skipped {
		if i == 0 {
			sb.WriteString("\n  not used as rules:\n")
		}
		if i == skippedShown {
			fmt.Fprintf(&sb, "    and %s more%s\n", say.Number(int64(len(skipped)-i)), others)
			break
		}
		fmt.Fprintf(&sb, "    %s\n", filepath.ToSlash(s))
	}
	return sb.String()
}

// Formats returns the formats of the inputs, each once.
func (r *Report) Formats() string {
	var formats []string
	for _, in := range r.Inputs {
		if !slices.Contains(formats, in.Format) && in.Format != ingest.Auto.String() {
			formats = append(formats, in.Format)
		}
	}
	return strings.Join(formats, ", ")
}
