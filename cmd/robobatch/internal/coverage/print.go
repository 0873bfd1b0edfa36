package coverage

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/ci"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/internal/cli"
)

// Forms are the forms that Print accepts.
var Forms = []string{"text", "json", "markdown", "github"}

// A Page holds what is printed besides the counts, such as names and time range.
type Page struct {
	Inputs []string // the names of the logs
	File   string   // name of the only robots.txt; "" if there may be several, or it has no name
	All    bool     // show all rules in text and Markdown
}

// Print prints the report in one of [Forms]. Call it after Finish. The error is a write error.
func (c *Counter) Print(w io.Writer, form string, p Page) error {
	switch form {
	case "json":
		return c.PrintJSON(w, p.Inputs)
	case "markdown":
		_, err := io.WriteString(w, c.markdown(p))
		return err
	case "github":
		// Print notices for rules that matched nothing or decided nothing.
		h, tables := c.tables(false)
		var notes []ci.Note
		for _, k := range []kind{never, onlyMatched} {
			for i := range tables[k] {
				r := &tables[k][i]
				note := ci.Note{Level: "notice", Title: r.kind().String(), Text: r.Rule}
				if p.File != "" {
					note.File, note.Line = filepath.ToSlash(p.File), r.Line
					if r.Agent != nil {
						note.Text += ", for " + *r.Agent
					}
				} else {
					note.Text = r.place("", h.several()) + " " + note.Text
				}
				if text := r.noteText(); text != "" {
					note.Text += ": " + text
				}
				note.Text += ". This covers only " + msg.Count(h.Requests, "request")
				if h.From != nil {
					note.Text += fmt.Sprintf(" from %s to %s", h.From.Format("2006-01-02"), h.To.Format("2006-01-02"))
				}
				note.Text += "; others may need the rule."
				notes = append(notes, note)
			}
		}
		p.All = false
		return ci.Report(w, notes, h.Never+h.Matched-int64(len(notes)), c.markdown(p))
	}
	return c.PrintText(w, p.Inputs, p.All)
}

// shown is the maximum number of rules of each kind in the text; -all prints every rule.
const shown = 20

// width is the maximum width of the text in columns.
const width = 80

// PrintJSON prints the head and all rules, one JSON object per line. It escapes characters that control a terminal.
// inputs are the names of the logs.
func (c *Counter) PrintJSON(w io.Writer, inputs []string) error {
	out := bufio.NewWriter(w)
	head := c.Head()
	head.Inputs = inputs
	err := msg.WriteJSON(out, head)
	for r := range c.Rules() {
		if err == nil {
			err = msg.WriteJSON(out, r)
		}
	}
	return cmp.Or(err, out.Flush())
}

// PrintText prints the head and a table for each kind of rule, with all rules of the kind or only those with the most
// requests. inputs are the names of the logs.
func (c *Counter) PrintText(w io.Writer, inputs []string, all bool) error {
	h, tables := c.tables(all)
	h.Inputs = inputs
	out := &strings.Builder{}
	for _, line := range h.sentences() {
		out.WriteString(strings.TrimRight(cli.Fill(line, width), "\n") + "\n")
	}
	for k, rows := range tables {
		total := h.numRules(kind(k))
		if total == 0 {
			continue
		}
		fmt.Fprintf(out, "\n%s: %s\n", kind(k), msg.Count(total, "rule"))
		table(out, rows, h.several())
		if left := total - int64(len(rows)); left > 0 {
			fmt.Fprintf(out, "  and %s more: -all prints them, -out writes a table\n", msg.Number(left))
		}
	}
	_, err := io.WriteString(w, msg.NoCommands(out.String()))
	return err
}

// tables returns the head and, for each kind, all rules or only the first ones, sorted by requests, most first.
func (c *Counter) tables(all bool) (h Head, tables [kinds][]Rule) {
	h = c.headWithoutRules()
	for r := range c.Rules() {
		h.addRule(r)
		k := r.kind()
		tables[k] = append(tables[k], *r)
		if !all && len(tables[k]) == 64*shown { // so that only few of very many are kept
			tables[k] = busiestRules(tables[k])
		}
	}
	for k := range tables {
		if all {
			slices.SortStableFunc(tables[k], busier)
		} else {
			tables[k] = busiestRules(tables[k])
		}
	}
	return h, tables
}

// numRules returns the number of rules of a kind.
func (h *Head) numRules(k kind) int64 { return [...]int64{h.Decided, h.Matched, h.Never}[k] }

// several reports whether rules come from several robots.txt.
func (h *Head) several() bool { return h.Origins > 1 || h.Files > 1 }

// String describes the effect of rules of a kind.
func (k kind) String() string {
	return [...]string{"decided", "matched, but never decided", "never matched"}[k]
}

// busiestRules returns at most shown of the rules, those with the most requests first. It sorts the slice, and
// returns a part of it.
func busiestRules(rows []Rule) []Rule {
	slices.SortStableFunc(rows, busier)
	return rows[:min(shown, len(rows))]
}

// busier orders rules of one kind by requests, most first.
func busier(a, b Rule) int { return cmp.Compare(b.shownCount().Requests, a.shownCount().Requests) }

// shownCount returns the count by which the text sorts a rule of this kind, and shows it.
func (r *Rule) shownCount() *Count {
	if r.kind() == decided {
		return &r.Decided
	}
	return &r.Matched
}

// noteText returns the second line about a rule: which rules took precedence over it, and when it last matched or
// decided a request; "" if neither is known.
func (r *Rule) noteText() string {
	won := winnerText(r)
	text := won + lastText(r.Matched.Last)
	if r.kind() == decided {
		text = lastText(r.Decided.Last)
		if r.Matched.Requests > 0 { // without deciding them
			by, _, _ := strings.Cut(strings.TrimPrefix(won, "; "), ":")
			text += "; matched " + msg.Number(r.Matched.Requests) + " more requests " + by
		}
	}
	return strings.TrimPrefix(text, "; ")
}

// sentences describes the log and its rules in two sentences.
func (h *Head) sentences() []string {
	name := ""
	if len(h.Inputs) > 0 {
		name = msg.File(h.Inputs[0])
	}
	if n := int64(len(h.Inputs)); n > 1 {
		name = msg.Count(n, "log")
	}
	period := "no times"
	if h.From != nil {
		period = h.From.Format(time.DateTime) + " to " + h.To.Format(time.DateTime)
	}
	log := fmt.Sprintf("%s: %s, %s", name, msg.Count(h.Requests, "request"), period)
	agents := ""
	switch n := len(h.Agents); {
	case n == 0:
		agents = " for the crawlers of the log"
	case n > 1:
		agents = fmt.Sprintf(" for %d agents, each counted separately", n)
	case h.Agents[0] != "*":
		agents = " for " + msg.Line(h.Agents[0])
	}
	text := fmt.Sprintf("%s of %s%s: %s decided, %s only matched, %s matched nothing.",
		msg.Count(h.Rules, "rule"), msg.Count(int64(h.Origins), "origin"), agents, msg.Number(h.Decided), msg.Number(h.Matched), msg.Number(h.Never))
	if h.Unmet > 0 {
		text += fmt.Sprintf(" %s with a robots.txt had no requests.", msg.Count(int64(h.Unmet), "more origin"))
	}
	text += " This covers only these requests; others may need any of the rules."
	return []string{log, text}
}

// table prints rules of one kind, at least one, each followed by its note. Lines are truncated to the width.
// several means that lines name the origin.
func table(out *strings.Builder, rows []Rule, several bool) {
	requests, urls := len("requests"), len("URLs")
	for i := range rows {
		requests = max(requests, len(msg.Number(rows[i].shownCount().Requests)))
		urls = max(urls, len(msg.Number(rows[i].shownCount().URLs)))
	}
	counted := rows[0].kind() != never
	if counted {
		fmt.Fprintf(out, "  %*s  %*s  rule\n", requests, "requests", urls, "URLs")
	}
	for i := range rows {
		r := &rows[i]
		place := fmt.Sprintf("line %d", r.Line)
		if several {
			place = fmt.Sprintf("%s:%d", r.Origin, r.Line)
		}
		if r.Agent != nil {
			place += " " + *r.Agent
		}
		place = msg.Line(place)
		lead := "  "
		if counted {
			lead = fmt.Sprintf("  %*s  %*s  ", requests, msg.Number(r.shownCount().Requests), urls, msg.Number(r.shownCount().URLs))
		}
		out.WriteString(truncate(lead+place+"  "+msg.Line(r.Rule)) + "\n")
		if text := r.noteText(); text != "" {
			out.WriteString(truncate("      "+text) + "\n")
		}
	}
}

// lastText returns the time of the last request, as "; last 2026-01-31 18:00:00"; "" if it is unknown.
func lastText(last *time.Time) string {
	if last == nil {
		return ""
	}
	return "; last " + last.Format(time.DateTime)
}

// winnerText names the rule that most often decided instead of r, after "; "; "" if there is none.
func winnerText(r *Rule) string {
	if len(r.WonBy) == 0 {
		return ""
	}
	w := r.WonBy[0]
	text := fmt.Sprintf("; decided by line %d: %s", w.Line, msg.Line(w.Rule))
	if len(r.WonBy) > 1 {
		text = fmt.Sprintf("; mostly decided by line %d: %s", w.Line, msg.Line(w.Rule))
	}
	return text
}

// truncate truncates a text to the width. A truncated text ends with "…".
func truncate(text string) string {
	columns := 0
	for i, r := range text {
		if columns += cli.Columns(string(r)); columns > width-1 && cli.Columns(text[i:]) > width-(columns-cli.Columns(string(r))) {
			return text[:i] + "…"
		}
	}
	return text
}

// markdown returns the report in Markdown, for a pull request comment or the summary of a CI step.
func (c *Counter) markdown(p Page) string {
	h, tables := c.tables(p.All)
	h.Inputs = p.Inputs
	var sb strings.Builder
	sb.WriteString("### robots.txt: rules in use\n")
	for _, line := range h.sentences() {
		sb.WriteString("\n" + ci.Markdown(line) + "\n")
	}
	for k, rows := range tables {
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(&sb, "\n<details><summary>%s: %s</summary>\n\n| rule | requests | URLs | |\n|---|--:|--:|---|\n", kind(k), msg.Count(h.numRules(kind(k)), "rule"))
		for i := range rows {
			r := &rows[i]
			n := r.shownCount()
			fmt.Fprintf(&sb, "| %s %s | %s | %s | %s |\n", ci.Markdown(r.place(p.File, h.several())), ci.Markdown(r.Rule), msg.Number(n.Requests), msg.Number(n.URLs), ci.Markdown(r.noteText()))
		}
		if left := h.numRules(kind(k)) - int64(len(rows)); left > 0 {
			fmt.Fprintf(&sb, "\nand %s more\n", msg.Number(left))
		}
		sb.WriteString("\n</details>\n")
	}
	return msg.NoCommands(sb.String())
}

// place describes where a rule is: its line, and the file name or the origin if there is one.
func (r *Rule) place(file string, several bool) string {
	place := fmt.Sprintf("line %d", r.Line)
	switch {
	case several:
		place = fmt.Sprintf("%s/robots.txt:%d", r.Origin, r.Line)
	case file != "":
		place = fmt.Sprintf("%s:%d", filepath.ToSlash(file), r.Line)
	}
	if r.Agent != nil {
		place += " " + *r.Agent
	}
	return place
}
