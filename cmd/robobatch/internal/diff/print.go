package diff

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/ci"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/robots"
)

// Forms are the forms in which a report is printed.
var Forms = []string{"text", "json", "markdown", "github"}

// Print prints the report in one form. Annotations are the only GitHub commands in it. The error is a write error.
func (r *Report) Print(w io.Writer, form string) error {
	switch form {
	case "json":
		// Print the report as one JSON object. It escapes characters that control a terminal.
		text, err := msg.IndentJSON(r)
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	case "markdown":
		_, err := io.WriteString(w, r.markdown())
		return err
	case "github":
		return ci.Report(w, r.annotations(), 0, r.markdown())
	}
	_, err := io.WriteString(w, r.text())
	return err
}

// annotations returns the rules responsible for changes as GitHub annotations. Failed gates and the rules responsible
// for them are errors; other rules are warnings if they closed URLs, and notices if they opened URLs.
func (r *Report) annotations() (notes []ci.Note) {
	failed := ci.Failures(r.Gates)
	var errs []ci.Note
	for _, kind := range []struct{ change, level string }{{"closed", "warning"}, {"opened", "notice"}, {"other_rule", ""}} {
		for i := range r.Agents {
			for k := range r.Agents[i].Changes {
				c := &r.Agents[i].Changes[k]
				names, first := r.agentsWithChange(i, k)
				if c.Change != kind.change || !first {
					continue
				}
				isFailed := slices.ContainsFunc(failed, func(f ci.Failure) bool { // for one of these crawlers
					return (f.Kind == c.Change || f.Kind == "changed") && slices.ContainsFunc(names, func(name string) bool { return slices.Contains(f.Names, name) })
				})
				for n := range c.Rules {
					if rule := &c.Rules[n]; isFailed {
						errs = append(errs, r.annotation("error", names, c, rule))
					} else if kind.level != "" {
						notes = append(notes, r.annotation(kind.level, names, c, rule))
					}
				}
			}
		}
	}
	for _, f := range failed {
		errs = append(errs, ci.Note{Level: "error", File: filepath.ToSlash(r.New.File), Title: "robots.txt: " + f.Gate, Text: r.crawlers(f.Names) + ": " + f.Text})
	}
	return append(errs, notes...)
}

// annotation returns the annotation about a rule that is responsible for change c of the named crawlers. It has a
// line only for a new rule in a known file; otherwise its text says where the rule is.
func (r *Report) annotation(level string, names []string, c *Change, rule *Rule) ci.Note {
	file := r.New.File
	if file == "" && r.New.files != nil {
		file = r.New.files.NameOf(robots.Origin(rule.Origin))
	}
	note := ci.Note{Level: level, File: filepath.ToSlash(file), Title: r.title(names, c), Site: rule.Origin}
	note.Text = r.counts(rule.Count) + " by " + rule.label()
	if rule.Of == "new" && note.File != "" {
		note.Line = int32(rule.Line)
	} else if rule.Of != "new" {
		note.Text = r.counts(rule.Count) + "; before: " + describe(rule.Rule, rule.Line, rule.Reason)
	}
	if note.File == "" && rule.Line > 0 {
		note.Text += " (" + r.place(rule) + ")"
	}
	if rule.Several {
		note.Text += ", and at other sites"
	}
	for i := range rule.Examples {
		note.Text += "\n" + msg.Line(rule.Examples[i].URL)
	}
	return note
}

// markdown returns the report in Markdown, for a comment on a pull request.
func (r *Report) markdown() string {
	out := new(strings.Builder)
	out.WriteString("### robots.txt: changes\n\n")
	for _, text := range r.caveats() {
		out.WriteString(ci.Markdown(text) + "\n\n")
	}
	for _, f := range ci.Failures(r.Gates) {
		fmt.Fprintf(out, "**Failed**: %s, %s\n\n", ci.Markdown(r.crawlers(f.Names)), ci.Markdown(f.Text))
	}
	urls := func(c Count) string {
		if r.Unit != unitRequest || c.Requests == 0 {
			return msg.Number(c.Requests)
		}
		noun := " URLs)"
		if c.URLs == 1 {
			noun = " URL)"
		}
		return msg.Number(c.Requests) + " (" + msg.Number(c.URLs) + noun
	}
	fmt.Fprintf(out, "| %ss | closed | opened | other rule | same |\n|---|--:|--:|--:|--:|\n", r.Unit)
	for i := range r.Agents {
		a := &r.Agents[i]
		names, first := r.agentsCountedAs(i)
		if !first {
			continue
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s |\n", ci.Markdown(r.crawlers(names)), urls(a.Closed), urls(a.Opened), urls(a.OtherRule), msg.Number(a.Same.Requests))
	}
	notes := slices.DeleteFunc(r.annotations(), func(n ci.Note) bool { return n.Site == "" })
	several := slices.ContainsFunc(notes, func(n ci.Note) bool { return n.Site != notes[0].Site })
	if several { // readers look for a site, then for its changes
		out.WriteString(ci.Fold(notes, 0))
	}
	for i := range r.Agents {
		for k := range r.Agents[i].Changes {
			if names, first := r.agentsWithChange(i, k); first && !several {
				r.printMarkdownChange(out, names, &r.Agents[i].Changes[k])
			}
		}
	}
	// Print the changes of preferences for a comment.
	r.eachPreferences(func(names []string, changes []PreferenceChange) {
		fmt.Fprintf(out, "\n| preferences for %s (drafts) | %ss | paths |\n|---|--:|---|\n", ci.Markdown(r.crawlers(names)), r.Unit)
		for i := range changes {
			c := &changes[i]
			var paths []string
			for _, p := range c.Families[:min(len(c.Families), shownParts)] {
				paths = append(paths, p.Name)
			}
			if rest := len(c.Families) - len(paths) + c.MoreFamilies; rest > 0 {
				paths = append(paths, "and "+msg.Number(int64(rest))+" more")
			}
			fmt.Fprintf(out, "| %s | %s | %s |\n", c.label(), ci.Markdown(r.counts(c.Count)), ci.Markdown(strings.Join(paths, ", ")))
		}
	})
	for _, note := range r.notes() {
		out.WriteString("\n" + ci.Markdown(note) + "\n")
	}
	return msg.NoCommands(out.String())
}

// printMarkdownChange prints a change of the named crawlers as a folded table of the responsible rules.
func (r *Report) printMarkdownChange(out *strings.Builder, names []string, c *Change) {
	fmt.Fprintf(out, "\n<details><summary>%s</summary>\n\n| rule | %ss | examples |\n|---|--:|---|\n", ci.Markdown(r.title(names, c)), r.Unit)
	for i := range c.Rules[:min(len(c.Rules), shownRules)] {
		rule := &c.Rules[i]
		var examples []string
		for k := range rule.Examples {
			e := &rule.Examples[k]
			verb := "was: "
			if rule.Of == "old" {
				verb = "now: "
			}
			examples = append(examples, ci.Markdown(excerpt(e.URL, rule.Rule, 100))+" ("+ci.Markdown(verb+e.label())+")")
		}
		fmt.Fprintf(out, "| %s %s | %s | %s |\n", ci.Markdown(r.place(rule)), ci.Markdown(rule.label()), ci.Markdown(r.counts(rule.Count)), strings.Join(examples, "<br>"))
	}
	if more := max(0, len(c.Rules)-shownRules) + c.MoreRules; more > 0 {
		out.WriteString("\nand " + msg.Count(int64(more), "more rule") + "\n")
	}
	out.WriteString("\n</details>\n")
}

// excerpt shortens a URL to n columns around the last literal text of a rule that matches it: for "Disallow:
// /*admin*", readers look for "admin". If the URL does not contain the literal texts of the rule, excerpt returns the
// beginning of the URL.
func excerpt(url, rule string, n int) string {
	from, to := lastMatch(url, rule)
	if n < 8 || cli.Columns(url[:to]) < n {
		return fit(url, n)
	}
	runes, most := []rune(url), n
	if cli.Columns(url) > len(runes) { // wide letters
		n /= 2
	}
	start, end := utf8.RuneCountInString(url[:from]), utf8.RuneCountInString(url[:to])
	head := n / 3
	room := n - head - 1 // columns for the text after the first "…"
	switch {
	case end-start >= room: // show its beginning
		end = start + room
	default: // show as much after it as before it
		end = min(len(runes), end+(room-(end-start))/2)
		start = end - room
	}
	if start <= head+1 {
		return fit(url, n)
	}
	tail := string(runes[start:])
	if end < len(runes) {
		tail = string(runes[start:end-1]) + "…"
	}
	return fit(string(runes[:head])+"…"+tail, most)
}

// lastMatch returns the range of bytes at which the last literal text of a rule matches a URL. It returns zeros if
// the URL does not contain all literal texts of the rule in order.
func lastMatch(url, rule string) (from, to int) {
	_, pattern, _ := strings.Cut(rule, ": ")
	at := 0
	if _, rest, ok := strings.Cut(url, "://"); ok {
		at = len(url) - len(rest)
		at += max(0, strings.IndexByte(rest, '/'))
	}
	toEnd := strings.HasSuffix(pattern, "$")
	for i, text := range strings.Split(strings.TrimSuffix(pattern, "$"), "*") {
		if text == "" {
			continue
		}
		found := strings.Index(url[at:], text)
		if found < 0 || i == 0 && found > 0 {
			return 0, 0
		}
		from, to = at+found, at+found+len(text)
		at = to
	}
	if toEnd && strings.HasSuffix(url, url[from:to]) {
		return len(url) - (to - from), len(url)
	}
	return from, to
}
