package repcase

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/robobatch/robobatch/robots"
)

// A Text is one case of the txtar files: a robots.txt and questions about it.
//
// The files are archives of pairs "robots.txt" and "want". A line "dialects: rfc9309 google" in the comment at the top
// says where they hold. A line of "want" is a question and its answer,
//
//	agent allow|disallow /path [line N]
//
// where N is the line of the rule that wins; without it no rule may win. "#" starts a comment.
type Text struct {
	Name      string // of the file, and the number of the pair in it
	Dialects  []robots.Dialect
	Body      []byte
	Questions []Question
}

// A Question is one line of a Text.
type Question struct {
	Agent string
	Allow bool
	Path  string
	Line  int32 // 0: no rule wins
}

// RunTexts runs all txtar cases against the matcher.
func RunTexts(t *testing.T, match Matcher) {
	t.Helper()
	cases, questions := 0, 0
	for _, c := range ReadTexts(t) {
		cases++
		file := map[robots.Dialect]*robots.File{}
		for _, d := range c.Dialects {
			file[d] = robots.Parse(c.Body, d)
			for _, q := range c.Questions {
				questions++
				allow, line := Ask(file[d], q.Agent, []byte("https://example.com"+q.Path), d, match)
				if allow != q.Allow || line != q.Line {
					t.Errorf("%s: %s: %s on %s: %s by line %d, want %s by line %d", c.Name, d, q.Agent, q.Path, verdict(allow), line, verdict(q.Allow), q.Line)
				}
			}
		}
	}
	t.Logf("texts: %d cases, %d questions", cases, questions)
}

// ReadTexts returns the cases of the txtar files.
func ReadTexts(tb testing.TB) []Text {
	tb.Helper()
	names, err := filepath.Glob(filepath.Join(Dir(tb), "*.txtar"))
	if err != nil || len(names) == 0 {
		tb.Fatalf("no txtar cases in %s: %v", Dir(tb), err)
	}
	var texts []Text
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		cases, err := parseTexts(filepath.Base(name), archive)
		if err != nil {
			tb.Fatalf("%s: %v", name, err)
		}
		texts = append(texts, cases...)
	}
	return texts
}

func parseTexts(name string, a *txtar.Archive) ([]Text, error) {
	dialects, err := parseDialects(string(a.Comment))
	if err != nil {
		return nil, err
	}
	if len(a.Files)%2 != 0 {
		return nil, fmt.Errorf("%d files, want pairs of robots.txt and want", len(a.Files))
	}
	var texts []Text
	for i := 0; i < len(a.Files); i += 2 {
		body, want := a.Files[i], a.Files[i+1]
		if body.Name != "robots.txt" || want.Name != "want" {
			return nil, fmt.Errorf("files %s and %s, want robots.txt and want", body.Name, want.Name)
		}
		questions, err := parseQuestions(string(want.Data))
		if err != nil {
			return nil, err
		}
		texts = append(texts, Text{fmt.Sprintf("%s#%d", name, i/2+1), dialects, body.Data, questions})
	}
	return texts, nil
}

func parseDialects(comment string) ([]robots.Dialect, error) {
	var dialects []robots.Dialect
	for line := range strings.Lines(comment) {
		list, ok := strings.CutPrefix(line, "dialects:")
		if !ok {
			continue
		}
		for name := range strings.FieldsSeq(list) {
			d, err := robots.ParseDialect(name)
			if err != nil {
				return nil, err
			}
			dialects = append(dialects, d)
		}
	}
	if len(dialects) == 0 {
		return nil, errors.New("no line of dialects")
	}
	return dialects, nil
}

func parseQuestions(text string) ([]Question, error) {
	var questions []Question
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if len(f) != 3 && (len(f) != 5 || f[3] != "line") || f[1] != "allow" && f[1] != "disallow" {
			return nil, fmt.Errorf("%q is not: agent allow|disallow /path [line N]", line)
		}
		q := Question{Agent: f[0], Allow: f[1] == "allow", Path: f[2]}
		if len(f) == 5 {
			n, err := strconv.ParseInt(f[4], 10, 32)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
			q.Line = int32(n)
		}
		questions = append(questions, q)
	}
	return questions, nil
}
