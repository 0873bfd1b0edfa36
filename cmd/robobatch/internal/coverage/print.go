package coverage

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/internal/cli"
)

// Forms are the forms that Print takes.
var Forms = []string{"text", "json"}

// shown is how many rules of a kind the text has, unless all are asked for.
const shown = 20

// width is that of the text.
const width = 80

// PrintJSON prints the head, and all rules, an object a line.
func (c *Counter) PrintJSON(w io.Writer, inputs []string) error {
	out := bufio.NewWriter(w)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	head := c.Head()
	head.Inputs = inputs
	err := encoder.Encode(head)
	for r := range c.Rules() {
		if err == nil {
			err = encoder.Encode(r)
		}
	}
	return cmp.Or(err, out.Flush())
}

// PrintText prints the head, and tables of rules: of each kind those with the most requests, or all.
func (c *Counter) PrintText(w io.Writer, inputs []string, all bool) error {
	h := c.head()
	h.Inputs = inputs
	var tables [kinds][]Rule
	for r := range c.Rules() {
		h.add(r)
		k := r.kind()
		tables[k] = append(tables[k], *r)
		if !all && len(tables[k]) == 64*shown { // so that few are kept of very many
			tables[k] = most(tables[k])
		}
	}
	out := &strings.Builder{}
	h.print(out)
	for k, rows := range tables {
		total := [...]int64{h.Decided, h.Matched, h.Never}[k]
		if total == 0 {
			continue
		}
		fmt.Fprintf(out, "\n%s: %s\n", [...]string{"decided", "matched, and decided no request", "matched no request"}[k], say.Count(total, "rule"))
		if all {
			slices.SortStableFunc(rows, busier)
		} else {
			rows = most(rows)
		}
		table(out, rows, h.Origins > 1 || h.Files > 1)
		if left := total - int64(len(rows)); left > 0 {
			fmt.Fprintf(out, "  and %s more: -all prints them, -out writes a table\n", say.Number(left))
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// most returns those of the rules that are shown, in their order.
func most(rows []Rule) []Rule {
	slices.SortStableFunc(rows, busier)
	return rows[:min(shown, len(rows))]
}

// busier orders rules of one kind: those with more requests come first.
func busier(a, b Rule) int { return cmp.Compare(b.shown().Requests, a.shown().Requests) }

// shown returns the count that the text has of a rule.
func (r *Rule) shown() *Count {
	if r.kind() == decided {
		return &r.Decided
	}
	return &r.Matched
}

// note returns what the text has of a rule apart from that.
func (r *Rule) note() string {
	text := wonBy(r) + until(r.Matched.Last)
	if r.kind() == decided {
		text = until(r.Decided.Last) + matchedToo(r)
	}
	return strings.TrimPrefix(text, "; ")
}

// print prints the head.
func (h *Head) print(out *strings.Builder) {
	name := ""
	if len(h.Inputs) > 0 {
		name = say.File(h.Inputs[0])
	}
	if n := int64(len(h.Inputs)); n > 1 {
		name = say.Count(n, "log")
	}
	period := "no times"
	if h.From != nil {
		period = h.From.Format(time.DateTime) + " to " + h.To.Format(time.DateTime)
	}
	fill(out, fmt.Sprintf("%s: %s, %s", name, say.Count(h.Requests, "request"), period))
	agents := ""
	switch n := len(h.Agents); {
	case n == 0:
		agents = " for the crawlers of the log"
	case n > 1:
		agents = fmt.Sprintf(" for %d agents, each of which counts", n)
	case h.Agents[0] != "*":
		agents = " for " + h.Agents[0]
	}
	text := fmt.Sprintf("%s of %s%s: %s decided, %s only matched, %s matched nothing.",
		say.Count(h.Rules, "rule"), say.Count(int64(h.Origins), "origin"), agents, say.Number(h.Decided), say.Number(h.Matched), say.Number(h.Never))
	if h.Unmet > 0 {
		text += fmt.Sprintf(" %s more with a robots.txt had no request.", say.Count(int64(h.Unmet), "origin"))
	}
	text += " That is so in these requests; others may need any of the rules."
	if !h.Exact {
		text += " Numbers of URLs are estimates."
	}
	fill(out, text)
}

// fill prints a text in lines of the width.
func fill(out *strings.Builder, text string) {
	out.WriteString(strings.TrimRight(cli.Fill(text, width), "\n") + "\n")
}

// table prints rules of one kind, each in a line, and what there is to note in a line below.
func table(out *strings.Builder, rows []Rule, several bool) {
	requests, urls := len("requests"), len("URLs")
	for i := range rows {
		requests = max(requests, len(say.Number(rows[i].shown().Requests)))
		urls = max(urls, len(rows[i].shown().urls()))
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
		lead := "  "
		if counted {
			lead = fmt.Sprintf("  %*s  %*s  ", requests, say.Number(r.shown().Requests), urls, r.shown().urls())
		}
		out.WriteString(cut(lead+place+"  "+say.Line(r.Rule)) + "\n")
		if text := r.note(); text != "" {
			out.WriteString(cut(strings.Repeat(" ", len(lead)+2)+text) + "\n")
		}
	}
}

// urls returns the number of distinct URLs, with a mark if it is an estimate.
func (n *Count) urls() string {
	if n.Error > 0 {
		return "~" + say.Number(n.URLs)
	}
	return say.Number(n.URLs)
}

// until returns the time of the last request.
func until(last *time.Time) string {
	if last == nil {
		return ""
	}
	return "; last " + last.Format(time.DateTime)
}

// matchedToo returns how many requests a rule matched beside those that it decided.
func matchedToo(r *Rule) string {
	if r.Matched.Requests == 0 {
		return ""
	}
	by, _, _ := strings.Cut(strings.TrimPrefix(wonBy(r), "; "), ":")
	return "; matched " + say.Number(r.Matched.Requests) + " more, " + by
}

// wonBy returns what decided in place of a rule most often.
func wonBy(r *Rule) string {
	if len(r.WonBy) == 0 {
		return ""
	}
	w := r.WonBy[0]
	text := fmt.Sprintf("; decided by line %d: %s", w.Line, say.Line(w.Rule))
	if len(r.WonBy) > 1 {
		text = fmt.Sprintf("; mostly decided by line %d: %s", w.Line, say.Line(w.Rule))
	}
	return text
}

// cut cuts a line to the width.
func cut(text string) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width-1]) + "…"
}
