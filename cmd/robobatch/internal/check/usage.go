package check

import (
	"fmt"
	"strings"

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
