package repcase

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// A Preferrer gives the answer of a robots.txt to an agent about the allowed uses of a path, in the form
// of [Answer].
type Preferrer func(t *testing.T, body []byte, agent, path string, d robots.Dialect) string

// Answer returns answers as the cases of preferences write them: "search=y, train-ai=n @3 | none", where
// 3 is the line of Content-Usage that counts, the second half is Content-Signal, "none" is no answer, and
// "unknown" one that says nothing.
func Answer(a *robots.Answers) string {
	var parts []string
	for s := range robots.NumSources {
		text := "none"
		if line := a.Said[s].Line; line > 0 {
			text = fmt.Sprintf("%s @%d", cmp.Or(a.Text(s), "unknown"), line)
		} else if s == robots.ByPolicy {
			continue
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " | ")
}

// ReferencePreferences is the answer of the reference. Like all references it reads the file again for each
// question.
func ReferencePreferences(_ *testing.T, body []byte, agent, path string, d robots.Dialect) string {
	a := robots.NewAgent(agent, d)
	bound := robots.PreferencesOf(body, d).Select(a)
	normal, _ := d.Path([]byte(path), nil)
	rules, _ := robots.Parse(body, d).Select(a)
	best := robots.Decide(rules, normal, d)
	answer := bound.Decide(normal, best < 0 || rules[best].Allow || d.AlwaysAllowed(normal))
	return Answer(&answer)
}

// RunPreferences runs the cases of testdata/preferences. They are archives like [RunTexts]'s; a
// line of "want" is a question and its [Answer]:
//
//	agent /path | search=y, train-ai=n @3 | ai-train=no @4
//	agent /path | none | none | train-ai=n @5
func RunPreferences(t *testing.T, prefer Preferrer) {
	t.Helper()
	questions := 0
	eachQuestion(t, filepath.Join(Dir(t), "..", "preferences"), func(where string, body []byte, dialects []robots.Dialect, line string) {
		question, want, ok := strings.Cut(line, " | ")
		f := strings.Fields(question)
		if !ok || len(f) != 2 {
			t.Fatalf("%s: %q: not: agent /path | usage | signal", where, line)
		}
		for _, d := range dialects {
			questions++
			if got := prefer(t, body, f[0], f[1], d); got != want {
				t.Errorf("%s in %s: %s %s is %s, want %s", where, d, f[0], f[1], got, want)
			}
		}
	})
	t.Logf("preferences: %d questions", questions)
}
