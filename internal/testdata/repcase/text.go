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

// RunTexts runs all txtar cases against the matcher.
//
// The files are archives of pairs "robots.txt" and "want". A line "dialects: rfc9309 google" in the
// comment at the top says where they hold. A line of "want" is a question and its answer,
//
//	agent allow|disallow /path [line N]
//
// where N is the line of the rule that wins; without it no rule may win. "#" starts a comment.
func RunTexts(t *testing.T, match Matcher) {
	t.Helper()
	questions := 0
	cases := eachQuestion(t, Dir(t), func(where string, body []byte, dialects []robots.Dialect, line string) {
		row, check, err := parseQuestion(strings.Fields(line))
		if err != nil {
			t.Fatalf("%s: %q: %v", where, line, err)
		}
		row.ID, row.RobotsB64 = where, body
		for _, check.Dialect = range dialects {
			questions++
			check.check(t, &row, match)
		}
	})
	t.Logf("texts: %d cases, %d questions", cases, questions)
}

// eachQuestion calls ask with each line that is not a comment of what is wanted in the archives of a directory, which are pairs of
// a robots.txt and a file "want", and with where that is. It returns the number of pairs.
func eachQuestion(t *testing.T, dir string, ask func(where string, body []byte, dialects []robots.Dialect, line string)) (pairs int) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no txtar cases in %s: %v", dir, err)
	}
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
			body, want := archive.Files[i], archive.Files[i+1]
			if body.Name != "robots.txt" || want.Name != "want" {
				t.Fatalf("%s: files %s and %s, want robots.txt and want", name, body.Name, want.Name)
			}
			pairs++
			for line := range strings.Lines(string(want.Data)) {
				if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
					ask(fmt.Sprintf("%s#%d", filepath.Base(name), i/2+1), body.Data, dialects, line)
				}
			}
		}
	}
	return pairs
}

// dialectsOf returns the dialects that a comment names.
func dialectsOf(t *testing.T, comment string) (all []robots.Dialect) {
	t.Helper()
	for line := range strings.Lines(comment) {
		list, ok := strings.CutPrefix(line, "dialects:")
		if !ok {
			continue
		}
		for name := range strings.FieldsSeq(list) {
			d, err := robots.ParseDialect(name)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, d)
		}
	}
	return all
}

// parseQuestion returns the question of the words, and the answer.
func parseQuestion(f []string) (row Row, c Check, err error) {
	if len(f) != 3 && (len(f) != 5 || f[3] != "line") || f[1] != "allow" && f[1] != "disallow" {
		return row, c, errors.New("not: agent allow|disallow /path [line N]")
	}
	row.Agent, row.URL = f[0], "https://example.com"+f[2]
	c = Check{Want: verdict(f[1] == "allow"), Why: "what the text says", exact: true}
	if len(f) == 5 {
		n, err := strconv.ParseInt(f[4], 10, 32)
		c.Line = int32(n)
		return row, c, err
	}
	return row, c, nil
}
