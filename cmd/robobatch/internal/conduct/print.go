package conduct

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/ci"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/conduct"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/times"
)

// Forms are the forms in which the findings are printed.
var Forms = []string{"text", "json", "markdown"}

// width is the maximum width of the text in columns.
const width = 80

// print prints the findings in the form of -print. The error is a write error.
func (f *findings) print() error {
	f.worst, f.changes = worstRows(f.worst), slowestChanges(f.changes)
	switch f.form {
	case "json":
		if f.failed == nil {
			f.failed = msg.WriteJSON(f.json, f.newHead())
		}
		return cmp.Or(f.failed, f.json.Flush())
	case "markdown":
		var sb strings.Builder
		sb.WriteString("### robots.txt: what crawlers knew\n")
		for _, line := range f.sentences() {
			sb.WriteString("\n" + ci.Markdown(line) + "\n")
		}
		for _, failure := range ci.Failures(f.verdicts) {
			fmt.Fprintf(&sb, "\n**Failed**: %s\n", ci.Markdown(failure.String()))
		}
		if len(f.worst) > 0 {
			sb.WriteString("\n| crawler | requests | robots.txt | disallowed | violations | |\n|---|--:|--:|--:|--:|---|\n")
		}
		for i := range f.worst {
			r := &f.worst[i]
			fmt.Fprintf(&sb, "| %s | %s | %s | %s | %s | %s |\n", ci.Markdown(crawlerAtOrigin(r)), msg.Number(r.Requests), msg.Number(r.Robots), msg.Number(r.Disallowed), msg.Number(r.Violations), ci.Markdown(f.sentence(r)))
		}
		if left := f.rows - int64(len(f.worst)); left > 0 {
			sb.WriteString("\nand " + msg.Number(left) + " more\n")
		}
		if len(f.changes) > 0 {
			sb.WriteString("\nChanges of robots.txt:\n\n")
			for i := range f.changes {
				sb.WriteString("- " + ci.Markdown(describeChange(&f.changes[i])) + "\n")
			}
		}
		_, err := io.WriteString(f.out, msg.NoCommands(sb.String()))
		return err
	}
	var sb strings.Builder
	fill := func(text, indent string) {
		for line := range strings.Lines(cli.Fill(msg.Line(text), width-len(indent))) {
			sb.WriteString(indent + strings.TrimRight(line, "\n") + "\n")
		}
	}
	for _, line := range f.sentences() {
		fill(line, "")
	}
	for i := range f.worst {
		r := &f.worst[i]
		sb.WriteString("\n" + msg.Line(crawlerAtOrigin(r)) + "\n")
		fill(f.sentence(r), "  ")
	}
	if left := f.rows - int64(len(f.worst)); left > 0 {
		sb.WriteString("\nand " + msg.Number(left) + " more: -out writes all of them\n")
	}
	if len(f.changes) > 0 {
		sb.WriteString("\nChanges of robots.txt\n")
		for i := range f.changes {
			fill(describeChange(&f.changes[i]), "  ")
		}
		if left := f.changed - int64(len(f.changes)); left > 0 {
			sb.WriteString("  and " + msg.Number(left) + " more: -changes writes all of them\n")
		}
	}
	for _, failure := range ci.Failures(f.verdicts) {
		fill("FAILED "+failure.String(), "")
	}
	_, err := io.WriteString(f.out, msg.NoCommands(sb.String()))
	return err
}

// A head describes the log in JSON.
type head struct {
	Kind     string       `json:"kind"` // "log"
	Inputs   []string     `json:"inputs"`
	Requests int64        `json:"requests"` // all rows of the logs
	Rejected int64        `json:"rejected"` // rejected lines, and rows with an invalid URL
	Crawlers int          `json:"crawlers"`
	Rows     int64        `json:"rows"`
	Changes  int64        `json:"changes"`
	From     *time.Time   `json:"from"` // first request of a crawler
	To       *time.Time   `json:"to"`
	Gates    []ci.Verdict `json:"gates"`
}

// newHead returns the description of the log, with the verdicts of the gates.
func (f *findings) newHead() head {
	return head{
		Kind: "log", Inputs: f.about.inputs, Requests: f.about.requests, Rejected: f.about.rejected, Crawlers: len(f.agents), Rows: f.rows, Changes: f.changed,
		From: timeOf(f.total.First), To: timeOf(f.total.Last), Gates: f.verdicts,
	}
}

// timeOf returns a moment; nil if there is none.
func timeOf(micros int64) *time.Time {
	if micros == conduct.NoTime {
		return nil
	}
	t := time.UnixMicro(micros).UTC()
	return &t
}

// sentences describes the log in sentences: its requests, and the disallowed ones by what crawlers knew.
func (f *findings) sentences() (all []string) {
	names := f.about.inputs
	log := msg.Count(int64(len(names)), "log")
	switch {
	case len(names) == 1 && names[0] == msg.Std:
		log = "standard input"
	case len(names) == 1:
		log = msg.File(names[0])
	}
	period := ""
	if h := f.newHead(); h.From != nil {
		period = ", " + h.From.Format(time.DateTime) + " to " + h.To.Format(time.DateTime)
	} else if f.total.Requests > 0 {
		period = ", without times"
	}
	text := fmt.Sprintf("%s: %s, %s of %s", log, msg.Count(f.about.requests, "request"), msg.Number(f.total.Requests-f.total.Impostors), msg.Count(int64(len(f.agents)), "crawler"))
	if f.total.Impostors > 0 {
		text += " and " + msg.Number(f.total.Impostors) + " from impostors"
	}
	all = append(all, text+period)
	var parts []string
	for c := range conduct.NumConducts {
		if n := f.total.Conducts[c]; n > 0 {
			parts = append(parts, msg.Number(n)+" "+strings.ReplaceAll(c.String(), "_", " "))
		}
	}
	text = msg.Count(f.total.Disallowed, "disallowed request") + " by crawlers"
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	text += "; " + msg.Count(f.total.Violations, "violation") + "."
	if f.total.Untimed > 0 {
		text += " In addition, " + msg.Were(f.total.Untimed, "untimed request") + " disallowed."
	}
	if f.about.rejected > 0 {
		text += " " + msg.Were(f.about.rejected, "line") + " rejected: robobatch -rejects lists them."
	}
	if !f.about.verified {
		text += " Some may be from impostors: verify the senders with -ranges."
	}
	return append(all, text)
}

// crawlerAtOrigin names the crawler of a row, with its operator and origin if they are known.
func crawlerAtOrigin(r *conduct.Row) string {
	name := r.Agent
	if r.Operator != "" {
		name += " (" + r.Operator + ")"
	}
	if r.Origin != "" {
		name += " at " + r.Origin
	}
	return name
}

// sentence describes the requests of a row: how often the crawler requested robots.txt, and what it knew when it made
// disallowed requests.
func (f *findings) sentence(r *conduct.Row) string {
	parts := []string{msg.Count(r.Requests, "request")}
	switch {
	case r.Requests > 0 && r.Impostors == r.Requests:
		return "All " + msg.Count(r.Requests, "request") + " with its name came from impostors."
	case r.Impostors > 0:
		parts[0] += ", " + msg.Number(r.Impostors) + " of them from impostors, not counted below"
	}
	if f.about.verified && r.Verified < r.Requests-r.Impostors {
		parts = append(parts, msg.Number(r.Requests-r.Impostors-r.Verified)+" not verified")
	}
	parts = append(parts, askedText(r))
	var knew []string
	for _, c := range []struct {
		c    conduct.Conduct
		text string
	}{
		{conduct.Knew, "despite the robots.txt that it had fetched"},
		{conduct.Held, "while it may have held an older copy"},
		{conduct.Outdated, "with an expired copy"},
		{conduct.Shared, "while another crawler of its operator had fetched robots.txt"},
		{conduct.NeverAsked, "without ever requesting robots.txt"},
		{conduct.Unseen, "which it may have known about before the log begins"},
	} {
		if c.c == conduct.NeverAsked && r.Robots > 0 {
			c.text = "before it received a valid response"
		}
		if n := slices.IndexFunc(f.mismatches, func(m conduct.Mismatch) bool { return m.Origin == r.Origin || r.Origin == "" }); n >= 0 && f.mismatches[n].IsUnlike() {
			switch none := f.mismatches[n].Denied > 0; {
			case c.c == conduct.Held && none:
				c.text = "allowed by the last response it received"
			case c.c == conduct.Unseen && none:
				c.text = "after a response without a robots.txt"
			case c.c == conduct.Unseen:
				c.text = "after a response with a different robots.txt"
			}
		}
		if c.c == conduct.Unseen && slices.ContainsFunc(f.mismatches, func(m conduct.Mismatch) bool { return m.Hidden > 0 && !m.IsUnlike() && m.Origin == r.Origin }) {
			c.text = "which it may have known about: the log lacks requests for robots.txt"
		}
		if n := r.Conducts[c.c]; n > 0 {
			knew = append(knew, msg.Number(n)+" "+c.text)
		}
	}
	if len(knew) > 0 {
		parts = append(parts, msg.Were(r.Disallowed, "request")+" disallowed: "+strings.Join(knew, ", "))
	} else if r.Untimed == 0 {
		parts = append(parts, "none disallowed")
	}
	if r.Untimed > 0 {
		parts = append(parts, msg.Were(r.Untimed, "untimed request")+" disallowed")
	}
	if r.Gaps > 0 {
		delay := "its Crawl-delay"
		if r.Delay != conduct.NoDelay {
			delay += " of " + inSeconds(r.Delay)
		}
		parts = append(parts, fmt.Sprintf("%s of %s shorter than %s", msg.Number(r.ShortGaps), msg.Count(r.Gaps, "gap"), delay))
	}
	return strings.Join(parts, "; ") + "."
}

// askedText says how often a crawler requested robots.txt.
func askedText(r *conduct.Row) string {
	text := "it requested robots.txt " + timesText(r.Robots)
	switch {
	case r.Robots == 0:
		return "it never requested robots.txt"
	case r.Answers == 0:
		return text + " without a valid response"
	case r.AnswerGaps > 0:
		text += " at intervals of at most " + formatDuration(r.AnswerMost, true)
	}
	return text
}

// timesText returns a count in words: "once".
func timesText(n int64) string {
	if n == 1 {
		return "once"
	}
	return msg.Number(n) + " times"
}

// formatDuration formats a duration in whole units, such as "3 h", rounded down, or rounded up if up is true. Less
// than two minutes are formatted in seconds, unrounded.
func formatDuration(micros int64, up bool) string {
	l := times.Length(micros)
	in := func(unit times.Length) string {
		if up {
			return msg.Number(l.Begun(unit))
		}
		return msg.Number(int64(l / unit))
	}
	switch {
	case l >= 3*times.Day:
		return in(times.Day) + " days"
	case l >= 2*times.Hour:
		return in(times.Hour) + " h"
	case l >= 2*times.Minute:
		return in(times.Minute) + " min"
	}
	return inSeconds(micros)
}

// inSeconds returns a span of time in seconds.
func inSeconds(micros int64) string {
	return strconv.FormatFloat(float64(micros)/1e6, 'f', -1, 64) + " s"
}

// describeChange describes a change of a robots.txt and the crawler's reaction.
func describeChange(c *conduct.Change) string {
	name := c.Agent
	text := fmt.Sprintf("%s: changed %s; %s ", c.Origin, time.UnixMicro(c.At).UTC().Format(time.DateTime), name)
	if c.Answer == conduct.NoTime {
		text += "has not fetched the new version"
	} else {
		text += "fetched the new version after " + formatDuration(c.Answer-c.At, false)
	}
	if c.Before+c.After == 0 {
		return text + "."
	}
	text += ". The new version disallows " + msg.Count(c.Before+c.After, "request")
	if c.Answer != conduct.NoTime {
		text += fmt.Sprintf(": %s before the fetch, %s after", msg.Number(c.Before), msg.Number(c.After))
	}
	return text + "."
}
