package expect

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/agents"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/explain"
	"github.com/robobatch/robobatch/internal/why"
)

// A Wanted is the answer that is expected for one use of a page.
type Wanted struct {
	Use   string // one of uses
	Value string // one of values
}

// uses are the uses of a page, as Content-Usage names them; ai-input is a name of Content-Signal.
var uses = []string{"train-ai", "search", "ai-input"}

// values are the answers: yes, no, and that nobody says.
var values = []string{"y", "n", "unknown"}

// addUsage adds a line that expects uses, such as "usage GPTBot /a train-ai=n,search=y".
func (f *File) addUsage(num int, text string, words []string) (err error) {
	if len(words) != 4 {
		return fmt.Errorf("%q: write usage, crawlers, a path or URL, and uses, as in: usage GPTBot /news/ train-ai=n,search=y", text)
	}
	l := Line{Num: num, URL: words[2]}
	if l.Agents, err = agents.ExpandBeside(f.lists, strings.Split(words[1], ",")); err != nil {
		return err
	}
	for pair := range strings.SplitSeq(words[3], ",") {
		use, value, _ := strings.Cut(pair, "=")
		if !slices.Contains(uses, use) || !slices.Contains(values, value) {
			return fmt.Errorf("%q: write one of %s, =, and one of %s", pair, strings.Join(uses, ", "), strings.Join(values, ", "))
		}
		if slices.ContainsFunc(l.Usage, func(w Wanted) bool { return w.Use == use }) {
			return errors.New(use + " comes twice")
		}
		l.Usage = append(l.Usage, Wanted{use, value})
	}
	f.Lines = append(f.Lines, l)
	return nil
}

// answerFor returns the answer for a use, by Content-Usage and Content-Signal together.
func answerFor(p *why.Preferences, use string) string {
	if p == nil {
		return "unknown"
	}
	answer := map[string]*bool{"train-ai": p.TrainAI, "search": p.Search, "ai-input": p.AIInput}[use]
	switch {
	case answer == nil:
		return "unknown"
	case *answer:
		return "y"
	}
	return "n"
}

// judgeUsage reports whether the preferences of an answer are as the line expects.
func (f *File) judgeUsage(l *Line, a *explain.Answer) Result {
	short := *a
	short.Rules, short.Dialects = nil, nil
	r := Result{File: f.Name, Line: l.Num, Expect: "usage", Pass: true, Answer: &short}
	var wanted, wrong, right []string
	for _, w := range l.Usage {
		wanted = append(wanted, w.Use+"="+w.Value)
		got := answerFor(a.Preferences, w.Use)
		if got == w.Value {
			right = append(right, w.Use+" is "+got)
			continue
		}
		r.Pass = false
		wrong = append(wrong, fmt.Sprintf("%s is %s, and shall be %s", w.Use, got, w.Value))
		if w.Value == "n" && w.Use != "ai-input" && r.add == "" {
			r.add = refusal(a, w.Use)
		}
	}
	r.Usage = strings.Join(wanted, ",")
	r.Text = strings.Join(append(wrong, right...), "; ") + linesOf(a.Preferences)
	if a.Allowed != nil && !*a.Allowed {
		r.Text += "; the page may not be fetched, so Content-Usage says nothing of it"
	}
	if p := short.Preferences; p != nil {
		less := *p
		less.Lines = nil // explain tells them
		short.Preferences = &less
	}
	return r
}

// linesOf names the first lines that count.
func linesOf(p *why.Preferences) (text string) {
	if p == nil {
		return "; no line binds the crawler"
	}
	if p.Usage != nil {
		text += fmt.Sprintf("; line %d, Content-Usage: %s", p.UsageLine, *p.Usage)
	}
	if p.Signal != nil {
		text += fmt.Sprintf("; line %d, Content-Signal: %s", p.SignalLine, *p.Signal)
	}
	return text
}

// refusal returns a line of Content-Usage that refuses a use of the path; "" if that would not count, or nobody
// knows.
func refusal(a *explain.Answer, use string) string {
	if a.Allowed == nil || !*a.Allowed || a.Path == "" || strings.ContainsAny(a.Path, "*$ ") || a.Pack {
		return ""
	}
	if p := a.Preferences; p != nil {
		for i := range p.Lines {
			if l := &p.Lines[i]; l.Counts && !l.Signal && l.Length > len(a.Path) {
				return ""
			}
		}
	}
	return "Content-Usage: " + a.Path + " " + use + "=n"
}
