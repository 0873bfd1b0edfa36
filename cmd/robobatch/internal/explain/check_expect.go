package explain

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/internal/why"
	"github.com/robobatch/robobatch/robots"
)

// expectations holds the contents of a file of expectations.
type expectations struct {
	Name    string
	Lines   []expectation
	Waivers map[string]int // line numbers by code

	lists *os.Root // open while the file is read
}

// An expectation states the expected answer for some crawlers.
type expectation struct {
	Num    int // 1-based
	Allow  bool
	Agents []string
	URL    string // or a path
	Rule   int32  // line of the rule that must decide; 0 means any

	Usage []wantedUse // the expected answers to these uses of the page; if empty, Allow is expected
}

// Codes of problems that, like a failed expectation, make a check fail. A waive line can accept them.
const (
	AllClosed = "all_closed" // a search engine is blocked from the whole site, but no line expects that
	NoRobots  = "no_robots"  // the origin of an expectation has no rules
	OddRobots = "odd_robots" // a file is not a valid robots.txt

	// UnclearAgent ends the check with an error: an expectation about a misspelt crawler name tests nothing.
	UnclearAgent = "unclear_agent"
)

// problemCodes lists the codes above.
var problemCodes = []string{AllClosed, NoRobots, OddRobots, UnclearAgent}

// Stdin is the file name that stands for standard input.
const Stdin = "standard input"

// parseExpectations reads expectations. It reports all faults at once, each with its line. Files of crawler names,
// such as @./list.txt, must be in the directory lists or below it; if lists is nil, they are not allowed.
func parseExpectations(r io.Reader, name string, lists *os.Root) (*expectations, error) {
	f := &expectations{Name: name, Waivers: map[string]int{}, lists: lists}
	defer func() { f.lists = nil }()
	lines := msg.NewLines(r)
	var errs []error
	num := 0
	for lines.Scan() {
		num++
		text := strings.Trim(strings.TrimPrefix(lines.Text(), "\ufeff"), blanks)
		if at := comment.FindStringIndex(text); at != nil {
			text = text[:at[0]]
		}
		if text == "" {
			continue
		}
		if err := f.addLine(num, text); err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", name, num, err))
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, num+1, err)
	}
	if len(errs) == 0 && len(f.Lines) == 0 {
		errs = append(errs, fmt.Errorf("%s: contains no expectations: write lines such as: allow Googlebot /", name))
	}
	return f, errors.Join(errs...)
}

// blanks separate the words of a line, and surround the URLs in a list. All other characters belong to the URL.
const blanks = " \t"

// comment matches a comment: # at the beginning of a line or after blanks. Any other # belongs to a URL.
var comment = regexp.MustCompile(`(^|[ \t]+)#.*`)

// addLine adds a line without comment, which must not be empty: an expectation to Lines, or a waiver to Waivers. num
// is its number, from 1. The error does not name the line.
func (f *expectations) addLine(num int, text string) error {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(blanks, r) })
	switch words[0] {
	case "waive":
		if len(words) != 2 || !slices.Contains(problemCodes, words[1]) {
			return fmt.Errorf("%q: write waive and one of %s", text, strings.Join(problemCodes, ", "))
		}
		f.Waivers[words[1]] = num
		return nil
	case "usage":
		// Add a line that expects uses, such as "usage GPTBot /a train-ai=n,search=y".
		var err error
		if len(words) != 4 {
			return fmt.Errorf("%q: write usage, crawlers, a path or URL, and uses, for example: usage GPTBot /news/ train-ai=n,search=y", text)
		}
		l := expectation{Num: num, URL: words[2]}
		if l.Agents, err = flags.ExpandAgentsBeside(f.lists, strings.Split(words[1], ",")); err != nil {
			return err
		}
		for pair := range strings.SplitSeq(words[3], ",") {
			use, value, _ := strings.Cut(pair, "=")
			if !slices.Contains(uses, use) || !slices.Contains(values, value) {
				return fmt.Errorf("%q: write one of %s, =, and one of %s", pair, strings.Join(uses, ", "), strings.Join(values, ", "))
			}
			if slices.ContainsFunc(l.Usage, func(w wantedUse) bool { return w.Use == use }) {
				return errors.New(use + " comes twice")
			}
			l.Usage = append(l.Usage, wantedUse{use, value})
		}
		f.Lines = append(f.Lines, l)
		return nil
	case "allow", "disallow":
	default:
		return fmt.Errorf("%q: begin each line with allow, disallow, usage or waive", text)
	}
	if len(words) < 3 || len(words) > 4 {
		return fmt.Errorf("%q: write allow or disallow, crawlers, and a path or URL, for example: disallow @ai /private/", text)
	}
	l := expectation{Num: num, Allow: words[0] == "allow", URL: words[2]}
	var err error
	if l.Agents, err = flags.ExpandAgentsBeside(f.lists, strings.Split(words[1], ",")); err != nil {
		return err
	}
	if len(words) == 4 {
		value, ok := strings.CutPrefix(words[3], "rule=")
		n, err := strconv.ParseInt(value, 10, 32)
		if !ok || err != nil || n < 1 {
			return fmt.Errorf("%q: after the URL, write rule= and a line number of robots.txt, or nothing", words[3])
		}
		l.Rule = int32(n)
	}
	f.Lines = append(f.Lines, l)
	return nil
}

// A result is the result of one expectation for one crawler, or another problem.
type result struct {
	File     string `json:"file"`
	Line     int    `json:"line"` // 1-based; 0 for a problem
	Expect   string `json:"expect,omitempty"`
	WantRule int32  `json:"want_rule,omitempty"`
	Usage    string `json:"want_usage,omitempty"` // "train-ai=n" if uses are expected
	Pass     bool   `json:"pass"`
	Problem  string `json:"problem,omitempty"` // code of the problem; "" for an expectation
	Text     string `json:"text"`              // the reason
	*Answer

	add string // a line of robots.txt that would meet an expectation about uses; "" if unknown
}

// Judge compares an answer with the expectation, and returns the result. Without expected uses, a disallowing or
// allowing answer passes only if it is defined in the dialect and, with l.Rule, if that line decides. The result has
// a copy of the answer without the parts that only explain prints.
func (f *expectations) Judge(l *expectation, a *Answer) result {
	if len(l.Usage) > 0 {
		// Compare the preferences in the answer with the expected ones.
		short := *a
		short.Rules, short.Dialects = nil, nil
		r := result{File: f.Name, Line: l.Num, Expect: "usage", Pass: true, Answer: &short}
		var wanted, wrong, right []string
		for _, w := range l.Usage {
			wanted = append(wanted, w.Use+"="+w.Value)
			got := [...]string{robots.Unstated: "unknown", robots.Refused: "n", robots.Permitted: "y"}[a.Preferences.Use(robots.Use(slices.Index(uses, w.Use)))]
			if got == w.Value {
				right = append(right, w.Use+" is "+got)
				continue
			}
			r.Pass = false
			wrong = append(wrong, fmt.Sprintf("%s is %s, but should be %s", w.Use, got, w.Value))
			if w.Value == "n" && w.Use != "ai-input" && r.add == "" {
				r.add = refusal(a, w.Use)
			}
		}
		r.Usage = strings.Join(wanted, ",")
		r.Text = strings.Join(append(wrong, right...), "; ") + linesOf(a.Preferences)
		if a.Allowed != nil && !*a.Allowed {
			r.Text += "; the crawler may not fetch the page, so Content-Usage does not apply to it"
		}
		if p := short.Preferences; p != nil {
			less := *p
			less.Lines = nil // for explain only
			short.Preferences = &less
		}
		return r
	}
	short := *a
	short.Rules, short.Dialects = nil, nil // for explain only
	r := result{File: f.Name, Line: l.Num, Expect: "disallow", WantRule: l.Rule, Text: a.Why(0), Answer: &short}
	if l.Allow {
		r.Expect = "allow"
	}
	r.Pass = a.Allowed != nil && *a.Allowed == l.Allow && a.Reason != "undefined"
	if r.Pass && l.Rule > 0 && a.RuleLine != l.Rule {
		r.Pass = false
		r.Text += r.otherRule()
	}
	return r
}

// otherRule returns the message that another line than the expected one decided; "" if the expected line decided, or
// the expectation does not name a line.
func (r *result) otherRule() string {
	if r.WantRule == 0 || r.WantRule == r.RuleLine || r.Allowed == nil || *r.Allowed != (r.Expect == "allow") {
		return ""
	}
	return fmt.Sprintf(" (expected: line %d)", r.WantRule)
}

// NewProblem returns a result about a file, not about an expectation.
func (f *expectations) NewProblem(code, text string) result {
	return result{File: f.Name, Problem: code, Text: text}
}

// A wantedUse is the expected answer for one use of a page.
type wantedUse struct {
	Use   string // one of uses
	Value string // one of values
}

// uses are the uses of a page by their names in Content-Usage; ai-input is a name in Content-Signal.
var uses = []string{"train-ai", "search", "ai-input"}

// values are the answers: yes, no and unknown.
var values = []string{"y", "n", "unknown"}

// linesOf names the lines that decide about the uses, as "; line 3, Content-Usage: train-ai=n"; it says so if no line
// applies.
func linesOf(p *why.Preferences) (text string) {
	if p == nil {
		return "; no line applies to the crawler"
	}
	p.EachStated(func(s *robots.SourceSpec, line int32, said string) {
		text += fmt.Sprintf("; line %d, %s%s", line, s.Key, said)
		if s.Rules && strings.HasSuffix(said, "=y") {
			text += ", from an Allow line, which grants only what the other lines also permit"
		}
	})
	return text
}

// refusal returns a Content-Usage line to add, so that the file refuses a use of the path; "" if such a line would
// have no effect, or if its effect is unknown.
func refusal(a *Answer, use string) string {
	if a.Allowed == nil || !*a.Allowed || a.Path == "" || strings.ContainsAny(a.Path, "*$ ") || a.Pack {
		return ""
	}
	if p := a.Preferences; p != nil {
		for i := range p.Lines {
			if l := &p.Lines[i]; l.Counts && l.Source == robots.ByUsage && l.Length > len(a.Path) {
				return ""
			}
		}
	}
	return "Content-Usage: " + a.Path + " " + use + "=n"
}
