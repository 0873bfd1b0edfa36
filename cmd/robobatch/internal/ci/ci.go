// Package ci supports commands that run in continuous integration. It implements the gates of -fail, which compare
// counts per crawler with thresholds, and writes GitHub annotations and JUnit XML. Each command defines its own kinds
// of counts. Texts are escaped, so bytes of an input can neither end a line nor begin a workflow command. Only
// cmd/robobatch and its packages import it.
package ci

import (
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
)

// A Note is a message about a line of a file.
type Note struct {
	Level  string // "error", "warning" or "notice"
	File   string // "" means none
	Line   int32  // 1-based; 0 means none
	Column int    // 1-based; 0 means none
	Title  string
	Text   string
	Site   string // the site under which [Fold] folds the note
}

// Annotations is the number of annotations that GitHub shows for one step.
const Annotations = 10

// SummaryFile is the environment variable that contains the name of the file for a step's summary.
const SummaryFile = "GITHUB_STEP_SUMMARY"

// MaxSummary is the maximum size of a summary in bytes: GitHub rejects a step's summary above 1 MiB.
const MaxSummary = 1_000_000

// GitHub prints the first ten notes as workflow commands, and appends as many of the others as fit to the step's
// summary, if the environment variable SummaryFile is set. left is the number of further notes, which the summary
// only counts.
func GitHub(w io.Writer, notes []Note, left int64) error {
	if err := annotate(w, notes, left); err != nil || len(notes) <= Annotations && left == 0 {
		return err
	}
	// Append a Markdown table of as many of the other notes as fit. An empty line separates it from previous text.
	notes = notes[min(len(notes), Annotations):]
	var sb strings.Builder
	fmt.Fprintf(&sb, "\n%s\n\n| | location | finding |\n|---|---|---|\n", msg.Count(int64(len(notes))+left, "more finding"))
	for i, n := range notes {
		row := n.tableRow()
		if sb.Len()+len(row) > MaxSummary {
			left += int64(len(notes) - i)
			break
		}
		sb.WriteString(row)
	}
	if left > 0 {
		fmt.Fprintf(&sb, "\n%s more omitted\n", msg.Number(left))
	}
	return addSummary(sb.String())
}

// Report writes a whole report for GitHub: the first ten notes, which should be the worst, become annotations, and as
// much of the Markdown text as fits is appended to the step's summary. left is the number of further notes, which are
// only counted.
func Report(w io.Writer, notes []Note, left int64, markdown string) error {
	if err := annotate(w, notes, left); err != nil {
		return err
	}
	if len(markdown) > MaxSummary {
		end := strings.LastIndexByte(markdown[:MaxSummary], '\n') + 1
		markdown = markdown[:end] + "\nThe rest is omitted.\n"
	}
	return addSummary("\n" + markdown)
}

// annotate writes the first ten notes as workflow commands, and then the number of others. left is the number of
// further notes.
func annotate(w io.Writer, notes []Note, left int64) error {
	var sb strings.Builder
	for _, n := range notes[:min(len(notes), Annotations)] {
		sb.WriteString(n.command() + "\n")
	}
	if more := int64(len(notes)-min(len(notes), Annotations)) + left; more > 0 {
		fmt.Fprintf(&sb, "%s more\n", msg.Number(more))
	}
	_, err := io.WriteString(w, sb.String())
	return err
}

// addSummary appends a text to the step's summary, if the environment variable SummaryFile is set.
func addSummary(text string) error {
	name := os.Getenv(SummaryFile)
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("%s: %w", SummaryFile, err)
	}
	_, err = io.WriteString(f, text)
	if errClose := f.Close(); err == nil {
		err = errClose
	}
	if err != nil {
		return fmt.Errorf("%s: %w", SummaryFile, err)
	}
	return nil
}

// command returns the note as a workflow command of GitHub, without a line end.
func (n *Note) command() string {
	var at []string
	if n.File != "" {
		at = append(at, "file="+escapeProperty(n.File))
	}
	if n.Line > 0 {
		at = append(at, fmt.Sprintf("line=%d", n.Line))
	}
	if n.Column > 0 {
		at = append(at, fmt.Sprintf("col=%d", n.Column))
	}
	at = append(at, "title="+escapeProperty(n.Title))
	return "::" + n.Level + " " + strings.Join(at, ",") + "::" + strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(msg.Printable(n.Text))
}

// escapeProperty escapes the value of a property (such as file) in a GitHub workflow command.
func escapeProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(msg.Line(s))
}

// tableRow returns the note as a row of a Markdown table.
func (n *Note) tableRow() string {
	where := n.File
	if n.Line > 0 {
		where += fmt.Sprintf(":%d", n.Line)
	}
	return fmt.Sprintf("| %s | %s | %s: %s |\n", n.Level, Markdown(where), Markdown(n.Title), Markdown(n.Text))
}

// maxFold is the maximum size in bytes of the notes in a comment. GitHub accepts 65,536 characters, and a CI gate
// puts the notes of three commands into one comment.
const maxFold = 18_000

// Fold returns the notes in Markdown for a comment, as many as fit into maxFold bytes. Notes are folded by site, and
// sites are in the order of their first notes. left is the number of further notes, which the text only counts.
func Fold(notes []Note, left int64) string {
	var sites []string
	of := map[string][]*Note{}
	for i := range notes {
		n := &notes[i]
		if of[n.Site] == nil {
			sites = append(sites, n.Site)
		}
		of[n.Site] = append(of[n.Site], n)
	}
	var sb strings.Builder
	for _, site := range sites {
		const end = "\n</details>\n"
		counts := map[string]int64{}
		for _, n := range of[site] {
			counts[n.Level]++
		}
		var parts []string
		for _, level := range []string{"error", "warning", "notice"} {
			if n := counts[level]; n > 0 {
				parts = append(parts, msg.Count(n, level))
			}
		}
		head := fmt.Sprintf("\n<details><summary>%s: %s</summary>\n\n| | location | finding |\n|---|---|---|\n", Markdown(site), strings.Join(parts, ", "))
		for i, n := range of[site] {
			row := n.tableRow()
			if sb.Len()+len(head)+len(row)+len(end) > maxFold {
				left += int64(len(of[site]) - i)
				break
			}
			sb.WriteString(head + row)
			head = ""
		}
		if head == "" {
			sb.WriteString(end)
		}
	}
	if left > 0 {
		fmt.Fprintf(&sb, "\n%s more omitted\n", msg.Number(left))
	}
	return sb.String()
}

// Markdown escapes a text for a cell of a Markdown table. Line ends become spaces.
func Markdown(s string) string {
	var sb strings.Builder
	for _, r := range msg.Printable(s) {
		switch {
		case r == '\n':
			sb.WriteString(" ")
		case r < utf8.RuneSelf && strings.ContainsRune("\\`*_{}[]<>#+!|~&@", r):
			fmt.Fprintf(&sb, "&#%d;", r)
		default:
			sb.WriteRune(r)
		}
	}
	return sb.String()
}

// A Case is a JUnit test case.
type Case struct {
	Class   string // the tested file or origin
	Name    string
	Failure string // "" if the case passes
	Note    string // remark on a case that passes
}

// JUnit writes the cases as one suite in JUnit XML.
func JUnit(w io.Writer, suite string, cases []Case) error {
	type failure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	type testCase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *failure `xml:"failure"`
		Note    string   `xml:"system-out,omitempty"`
	}
	type testSuite struct {
		XMLName  xml.Name   `xml:"testsuite"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Cases    []testCase `xml:"testcase"`
	}
	s := testSuite{Name: suite, Tests: len(cases)}
	for _, c := range cases {
		out := testCase{Class: plain(c.Class), Name: plain(c.Name), Note: plain(c.Note)}
		if c.Failure != "" {
			first, _, _ := strings.Cut(c.Failure, "\n")
			out.Failure = &failure{plain(first), plain(c.Failure)}
			s.Failures++
		}
		s.Cases = append(s.Cases, out)
	}
	text, err := xml.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, xml.Header+string(text)+"\n")
	return err
}

// plain removes characters that XML forbids or that control a terminal.
func plain(s string) string { return msg.Printable(s) }
