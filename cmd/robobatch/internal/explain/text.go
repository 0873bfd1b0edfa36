package explain

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/why"
	"github.com/robobatch/robobatch/robots"
)

// Columns of the text.
const (
	width  = 80
	indent = 10 // indent of all lines of an item except the first
)

// A Style sets the length of the text.
type Style struct {
	All   bool // show all rules that do not match, not only the nearest
	Title bool // a heading already names the URL and the crawler
}

// nearest is the number of rules that do not match but are shown, because they are similar to the path.
const nearest = 10

// longName is the maximum width of a name with other text after it on the line.
const longName = 30

// Text returns the answer in lines of at most 80 columns. File names, origins and URLs of redirects are not wrapped,
// so that they can be copied.
func (a *Answer) Text(s Style) string {
	var t text
	if s.Title {
		agent := name(a.Agent)
		t.sb.WriteString("# " + cli.Fit(msg.Line(a.URL), width-len("#   ")-cli.Columns(agent)) + "  " + agent + "\n")
	}
	t.sb.WriteString(a.verdict())
	if a.Origin != "" {
		t.addItem("origin", msg.Line(a.Origin))
	}
	if a.Source != nil {
		for i := range a.Source.Redirects {
			// Name the URL that redirects and its target, and the file if it differs from source.
			s := msg.Line(a.Source.Redirects[i].URL)
			if a.Source.Redirects[i].FetchedAt != nil {
				s += ", fetched " + a.Source.Redirects[i].FetchedAt.Format(time.DateTime) + " UTC"
			}
			s += ", status " + strconv.Itoa(a.Source.Redirects[i].Status) + " to " + msg.Line(a.Source.Redirects[i].Location)
			if a.Source.Redirects[i].Name != a.Source.Name {
				s += ", in " + msg.Line(filepath.ToSlash(a.Source.Redirects[i].Name))
			}
			t.addItem("via", s)
		}
	}
	t.addItem("source", a.Source.text())
	t.addItem("agent", agentText(a.Group, a.Agent))
	t.addItem("group", groupText(a.Group))
	t.addItem("operator", a.documented)
	if a.Path != "" {
		t.addItem("path", cli.Fit(msg.Line(a.Path), width-indent))
	}
	// Add the list of rules.
	rules := a.Rules
	rows := make([]candidate, len(rules))
	for i := range rules {
		r := &rules[i]
		rows[i] = candidate{r.Line, r.Text, effectOf(r), r.Matches, r.Decides != ""}
	}
	t.addCandidates("rules", rows, s.All)
	t.addPreferences(a.Preferences, a.Allowed, s.All)
	t.addItem("dialects", a.opinions())
	if a.Pack {
		t.addItem("pack", "a pack does not contain groups, other rules or other dialects: name its source files with -rules")
	}
	return msg.NoCommands(t.sb.String())
}

// A text is lines with labels.
type text struct{ sb strings.Builder }

// addItem adds a label and a text, wrapped into lines at spaces. It adds nothing if the text is empty.
func (t *text) addItem(label, value string) {
	if value == "" {
		return
	}
	line := fmt.Sprintf("  %-*s", indent-2, label)
	if len(label) >= indent-2 {
		line += "  "
	}
	for i, word := range strings.Split(value, " ") {
		if i > 0 && cli.Columns(line)+1+cli.Columns(word) > width {
			t.sb.WriteString(strings.TrimRight(line, " ") + "\n")
			line = strings.Repeat(" ", indent) + word
			continue
		}
		if i > 0 {
			line += " "
		}
		line += word
	}
	t.sb.WriteString(strings.TrimRight(line, " ") + "\n")
}

// A candidate is a line of robots.txt that might decide.
type candidate struct {
	line    int32
	text    string
	effect  string // whether it matches, and why not
	matches bool
	decides bool
}

// addCandidates adds the rules that match, which come first in rows, and at most nearest of the others, or all of
// them. If it leaves out rules, it adds their number.
func (t *text) addCandidates(label string, rows []candidate, all bool) {
	matching := slices.IndexFunc(rows, func(r candidate) bool { return !r.matches })
	left := 0
	if last := matching + nearest; matching >= 0 && len(rows) > last && !all {
		left, rows = len(rows)-last, rows[:last]
	}
	digits, longest, widest := 1, 0, 0
	for _, r := range rows {
		digits = max(digits, len(strconv.Itoa(int(r.line))))
		longest = max(longest, cli.Columns(msg.Line(r.text)))
		widest = max(widest, len(r.effect))
	}
	longest = min(longest, width-indent-len("> ")-digits-len("    ")-widest)
	for _, r := range rows {
		mark := " "
		if r.decides {
			mark = ">"
		}
		rule := cli.Fit(msg.Line(r.text), longest)
		rule += strings.Repeat(" ", longest-cli.Columns(rule))
		fmt.Fprintf(&t.sb, "  %-*s%s %*d  %s  %s\n", indent-2, label, mark, digits, r.line, rule, r.effect)
		label = ""
	}
	if left > 0 {
		fmt.Fprintf(&t.sb, "%*s%s more: -all lists them\n", indent+2, "", msg.Number(int64(left)))
	}
}

// addPreferences adds the usage preferences in effect, the lines of robots.txt that state them (if all is true, also those that
// do not match), and the license. allowed is the verdict; nil if there is none.
func (t *text) addPreferences(p *why.Preferences, allowed *bool, all bool) {
	if p == nil {
		return
	}
	var lines [robots.NumSources][]candidate
	for i := range p.Lines {
		l := &p.Lines[i]
		lines[l.Source] = append(lines[l.Source], candidate{l.Line, l.Text, preferenceEffect(l), l.Matches, l.Counts})
	}
	for s := range lines {
		t.addCandidates(robots.Sources[s].Short, lines[s], all)
	}
	if p.License != nil {
		t.addItem("license", msg.Line(*p.License))
	}
	if len(lines[robots.ByUsage]) > 0 && allowed != nil && !*allowed {
		t.addItem("use", "Content-Usage does not apply to a disallowed URL")
	}
	if p.Stated() {
		t.addItem("use", fmt.Sprintf("train AI: %s; search: %s; AI input: %s (drafts, %s: a preference is not a permission)",
			answerNames[p.Use(robots.TrainAI)], answerNames[p.Use(robots.Search)], answerNames[p.Use(robots.AIInput)], p.Draft))
	}
}

// answerNames describe the answers about a use.
var answerNames = [...]string{robots.Unstated: "not stated", robots.Permitted: "yes", robots.Refused: "no"}

// preferenceEffect returns the effect of a line of preferences: where it stops matching, or the length of its pattern
// and whether it counts.
func preferenceEffect(l *why.PreferenceLine) string {
	switch {
	case !l.Matches:
		return "no match at byte " + strconv.Itoa(l.StopsAt)
	case l.Counts && l.Pattern == "":
		return "every path, counts"
	case l.Counts:
		return msg.Count(int64(l.Length), "byte") + ", counts"
	case l.Pattern == "":
		return "every path"
	}
	return strconv.Itoa(l.Length)
}

// effectOf returns the effect of a rule: where it stops matching, or its length and why it decides.
func effectOf(r *why.Rule) string {
	if !r.Matches {
		return "no match at byte " + strconv.Itoa(r.StopsAt)
	}
	n := strconv.Itoa(r.Length)
	if r.Decides != "" {
		n = msg.Count(int64(r.Length), "byte")
	}
	switch r.Decides {
	case "only":
		return n + ", no other matches"
	case "longest":
		return n + ", the longest that matches"
	case "allow":
		return n + ", Allow wins a tie"
	case "first":
		return n + ", the first of its length"
	}
	return n
}

// Why returns the rule or reason that follows the verdict, in one or two lines. The first line has at most a given
// number of columns; 0 means no limit.
func (a *Answer) Why(columns int) string {
	fit := func(s string, n int) string {
		if columns == 0 {
			return s
		}
		return cli.Fit(s, n)
	}
	file := "the robots.txt"
	if a.Source != nil {
		file = msg.Line(filepath.ToSlash(a.Source.Name))
	}
	with := func(rest string) string { // the file name gets the columns that rest leaves
		file = fit(file, max(longName, columns-cli.Columns(rest)))
		return file + fit(rest, columns-cli.Columns(file))
	}
	switch a.Reason {
	case "rule", "undefined":
		rest := ":" + strconv.Itoa(int(a.RuleLine)) + "  " + msg.Line(a.Rule)
		s := with(rest)
		if a.Pack {
			s = fit("line "+rest[1:], columns)
		}
		if a.Reason == "undefined" {
			s += "\n  " + a.Dialect + " leaves this undefined: a rule with a * has the opposite effect"
		}
		return s
	case "default":
		return with(": no rule of the group matches")
	case "no_group":
		return with(": no group for this crawler")
	case "no_robots":
		return "-rules has no robots.txt for this origin, or none from that time"
	case "robots_txt":
		return "/robots.txt itself is always allowed in " + a.Dialect
	case "bad_url":
		const text = "not a URL with a scheme and a host: "
		return text + fit(msg.Line(a.URL), columns-len(text))
	}
	return with(": " + outcomes[a.Reason])
}

// name returns the name of a crawler, truncated if very long.
func name(agent string) string { return cli.Fit(msg.Line(agent), longName) }

// outcomes describes the result of a fetch that gave no rules, by the reason of the verdict.
var outcomes = map[string]string{
	"status_4xx":          "a client error, or redirect without a target",
	"unreachable":         "a server or network error",
	"unreachable_expired": "a server or network error for over 30 days",
	"redirect_limit":      "more than 5 redirects",
	"too_large":           "over 500 KiB",
}

// text describes the response in force: its file, time, status and URL; "" if s is nil.
func (s *Source) text() string {
	if s == nil {
		return ""
	}
	parts := []string{msg.Line(filepath.ToSlash(s.Name))}
	switch {
	case s.File && s.FetchedAt != nil:
		parts = append(parts, "last changed "+s.FetchedAt.Format(time.DateTime)+" UTC")
	case s.FetchedAt != nil:
		parts = append(parts, "fetched "+s.FetchedAt.Format(time.DateTime)+" UTC")
	case !s.File:
		parts = append(parts, "fetched at an unknown time")
	}
	if s.AgeSeconds != nil {
		parts = append(parts, age(*s.AgeSeconds)+" before -as-of")
	}
	if !s.File {
		parts = append(parts, s.answer())
	}
	if s.URL != "" {
		parts = append(parts, "of "+msg.Line(s.URL))
	}
	if s.Truncated {
		parts = append(parts, "only the first 500 KiB are read")
	}
	return strings.Join(parts, ", ")
}

// age formats a number of seconds in the largest suitable unit.
func age(seconds int64) string {
	for _, unit := range []struct {
		seconds int64
		name    string
	}{{86_400, "day"}, {3_600, "hour"}, {60, "minute"}} {
		if seconds >= unit.seconds {
			return msg.Count(seconds/unit.seconds, unit.name)
		}
	}
	return msg.Count(seconds, "second")
}

// maxError is the maximum width of a fetch error in columns, summed over its lines.
const maxError = 200

// answer describes the server's response: the error, or the status and the target of a redirect.
func (s *Source) answer() string {
	switch {
	case s.Error != "":
		return "failed: " + cli.FitWords(cli.Fit(msg.Line(s.Error), maxError), width-indent)
	case s.Status == 0:
		return "no answer"
	case s.Location != "":
		return "status " + strconv.Itoa(s.Status) + " to " + msg.Line(s.Location)
	}
	return "status " + strconv.Itoa(s.Status)
}

// agentText describes how the crawler's group was found: the names that have no group, and the name whose group binds
// the crawler.
func agentText(g *why.Group, agent string) string {
	if g == nil || len(g.Names) == 0 {
		return ""
	}
	last := g.Names[len(g.Names)-1]
	var without []string
	for _, n := range g.Names {
		if !n.Found {
			without = append(without, name(n.Name))
		}
	}
	s := name(agent)
	if g.Names[0].Name == "*" && agent != "*" {
		s += " (it does not begin with a letter, so only -agent-chars extended reads it as a name)"
	}
	switch {
	case len(without) == 0 && last.Name == "*":
		return s + ": only a group for * can apply"
	case len(without) == 0:
		return s + ": has its own group"
	case last.Found:
		return s + ": no group for " + strings.Join(without, ", nor for ") + "; the group for " + name(last.Name) + " binds it"
	}
	return s + ": no group for " + strings.Join(without, ", nor for ")
}

// maxSpans is the maximum number of groups that the text lists one by one.
const maxSpans = 10

// groupText describes the group that binds the crawler: its lines, and its other names.
func groupText(g *why.Group) string {
	if g == nil || len(g.Parts) == 0 {
		return ""
	}
	var spans []string
	for _, part := range g.Parts {
		span := strconv.Itoa(int(part.First))
		if part.Last != part.First {
			span = fmt.Sprintf("%d-%d", part.First, part.Last)
		}
		spans = append(spans, span)
	}
	noun := "line "
	if len(spans) > 1 || strings.Contains(spans[0], "-") {
		noun = "lines "
	}
	left := ""
	if n := len(spans) - maxSpans; n > 0 {
		spans, left = spans[:maxSpans], " and "+msg.Number(int64(n))+" more"
	}
	s := noun + strings.Join(spans, " and ") + left
	if len(g.Parts) > 1 {
		s += ", which are merged"
	}
	if g.Shared > 0 {
		by := name(g.Names[len(g.Names)-1].Name)
		s += fmt.Sprintf(", shared by %s and %s: no Allow or Disallow line separates their names", by, msg.Count(int64(g.Shared), "other name"))
	}
	return s
}

// opinions lists the dialects that give the same answer as the requested one, and the answers of the others; "" if
// other dialects are unknown.
func (a *Answer) opinions() string {
	if len(a.Dialects) == 0 {
		return ""
	}
	agree := []string{a.Dialects[0].Dialect}
	var others []string
	for _, o := range a.Dialects[1:] {
		switch {
		case same(o.Allowed, a.Allowed) && (o.Reason == "undefined") == (a.Reason == "undefined"):
			agree = append(agree, o.Dialect)
		case o.Reason == "undefined":
			others = append(others, o.Dialect+" does not define it")
		case o.Allowed == nil:
			others = append(others, o.Dialect+" has no verdict")
		case *o.Allowed:
			others = append(others, o.Dialect+" allows it")
		default:
			others = append(others, o.Dialect+" disallows it")
		}
	}
	if len(agree) == 1 {
		return strings.Join(others, "; ")
	}
	if len(others) == 0 {
		return "all four agree"
	}
	return strings.Join(agree, ", ") + " agree; " + strings.Join(others, "; ")
}

// same reports whether both are unknown or equal.
func same(a, b *bool) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// mostWhole is the maximum number of crawlers for which complete answers are printed. With more crawlers, those with
// the same result share a line.
const mostWhole = 3

// An outcome is a verdict on a URL with its preferences, and the crawlers for which they are the same.
type outcome struct {
	text   string
	agents []string
}

// addResult adds an answer to the results for a URL: its crawler to the result with the same text, or a new result at
// the end.
func addResult(results []outcome, a *Answer) []outcome {
	text := a.verdict()
	if p := a.Preferences; p.Stated() { // add the preferences in effect, and the lines of robots.txt that state them
		var uses, from []string
		for use, name := range []string{"train AI", "search", "AI input"} {
			if answer := p.Use(robots.Use(use)); answer != robots.Unstated {
				uses = append(uses, name+": "+answerNames[answer])
			}
		}
		p.EachStated(func(_ *robots.SourceSpec, line int32, _ string) { from = append(from, strconv.Itoa(int(line))) })
		noun := "lines"
		if len(from) == 1 {
			noun = "line"
		}
		text += indented(cmp.Or(strings.Join(uses, "; "), "unknown") + " (drafts, " + noun + " " + strings.Join(from, " and ") + ")")
	}
	for i := range results {
		if results[i].text == text {
			results[i].agents = append(results[i].agents, a.Agent)
			return results
		}
	}
	return append(results, outcome{text, []string{a.Agent}})
}

// indented returns a text as lines below a verdict.
func indented(text string) string {
	var sb strings.Builder
	for line := range strings.Lines(cli.Fill(text, width-len(verdictIndent))) {
		sb.WriteString(verdictIndent + strings.TrimRight(line, "\n") + "\n")
	}
	return sb.String()
}

// verdictIndent indents all lines of a verdict except the first.
const verdictIndent = "             "

// verdict returns the first line of the text: "allowed" or "disallowed", and then the rule or reason.
func (a *Answer) verdict() string {
	word := "unknown"
	if a.Allowed != nil {
		word = map[bool]string{true: "allowed", false: "disallowed"}[*a.Allowed]
	}
	return fmt.Sprintf("%-*s%s\n", len(verdictIndent), word, a.Why(width-len(verdictIndent)))
}
