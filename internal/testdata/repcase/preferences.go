package repcase

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/robobatch/robobatch/robots"
)

// A Preferrer gives the answer of a robots.txt to an agent about the allowed uses of a path, in the form
// of [Answer].
type Preferrer func(t *testing.T, body []byte, agent, path string, d robots.Dialect) string

// Answer returns answers as the cases of preferences write them: "search=y, train-ai=n @3 | none", where
// 3 is the line of Content-Usage that counts, the second half is Content-Signal, "none" is no answer, and
// "unknown" one that says nothing.
func Answer(u robots.UsageAnswer, s robots.SignalAnswer) string {
	usage, signal := "none", "none"
	if u.Line > 0 {
		usage = u.String()
		if usage == "" {
			usage = "unknown"
		}
		usage = fmt.Sprintf("%s @%d", usage, u.Line)
	}
	if s.Line > 0 {
		signal = fmt.Sprintf("%s @%d", s, s.Line)
	}
	return usage + " | " + signal
}

// ReferencePreferences is the answer of the reference. Like all references it reads the file anew for each
// question.
func ReferencePreferences(_ *testing.T, body []byte, agent, path string, d robots.Dialect) string {
	a := robots.NewAgent(agent, d)
	usage, signals := robots.PreferencesOf(body, d).Select(a)
	normal, _ := d.Path([]byte(path), nil)
	var u robots.UsageAnswer
	rules, _ := robots.Parse(body, d).Select(a)
	if best := robots.Decide(rules, normal, d); best < 0 || rules[best].Allow || d.AlwaysAllowed(normal) {
		u = robots.DecideUsage(usage, normal)
	}
	return Answer(u, robots.DecideSignal(signals, normal))
}

// RunPreferences runs the cases of testdata/preferences. They are archives like [RunTexts]'s; a
// line of "want" is a question and its [Answer]:
//
//	agent /path | search=y, train-ai=n @3 | ai-train=no @4
func RunPreferences(t *testing.T, prefer Preferrer) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(Dir(t), "..", "preferences", "*.txtar"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no cases of preferences: %v", err)
	}
	questions := 0
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		dialects := dialectsOf(t, string(archive.Comment))
		if len(dialects) == 0 || len(archive.Files)%2 != 0 {
			t.Fatalf("%s: %d dialects, %d files, want pairs of robots.txt and want", name, len(dialects), len(archive.Files))
		}
		for i := 0; i < len(archive.Files); i += 2 {
			for line := range strings.Lines(string(archive.Files[i+1].Data)) {
				question, want, ok := strings.Cut(strings.TrimSpace(line), " | ")
				f := strings.Fields(question)
				if len(f) == 0 || strings.HasPrefix(line, "#") {
					continue
				}
				if !ok || len(f) != 2 || archive.Files[i].Name != "robots.txt" {
					t.Fatalf("%s: %q: not: agent /path | usage | signal", name, line)
				}
				for _, d := range dialects {
					questions++
					if got := prefer(t, archive.Files[i].Data, f[0], f[1], d); got != want {
						t.Errorf("%s#%d in %s: %s %s is %s, want %s", filepath.Base(name), i/2+1, d, f[0], f[1], got, want)
					}
				}
			}
		}
	}
	t.Logf("preferences: %d questions", questions)
}
