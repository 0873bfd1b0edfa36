package robots_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/internal/testdata/repcase"
	"github.com/robobatch/robobatch/robots"
)

func TestConformance(t *testing.T) { repcase.Run(t, robots.Decide) }

// TestGoogleLines compares the classification of each line with the report of google/robotstxt.
func TestGoogleLines(t *testing.T) {
	type file struct {
		ID     string              `json:"id"`
		Robots string              `json:"robots"`
		Base64 string              `json:"robots_b64"`
		Lines  [][]json.RawMessage `json:"lines"`
	}
	files, lines := repcase.Lines[file](t, "google-lines"), 0
	for _, f := range files {
		body := []byte(f.Robots)
		if f.Base64 != "" {
			body, _ = base64.StdEncoding.DecodeString(f.Base64)
		}
		got := robots.ScanLines(body, robots.Google)
		if len(got) != len(f.Lines) {
			t.Errorf("%s: %d lines, want %d", f.ID, len(got), len(f.Lines))
			continue
		}
		for i, want := range f.Lines {
			lines++
			if got, want := lineJSON(got[i]), joinJSON(want); got != want {
				t.Errorf("%s: line %d is %s, want %s", f.ID, i+1, got, want)
			}
		}
	}
	t.Logf("google-lines: %d files, %d lines", len(files), lines)
}

// unused are the keys that google/robotstxt knows and ignores. Here, they are treated as unknown.
var unused = map[string]bool{
	"clean-param": true, "content-signal": true, "content-usage": true, "crawl-delay": true, "domain": true, "host": true,
	"noarchive": true, "nofollow": true, "noindex": true, "request-rate": true, "revisit-after": true, "visit-time": true,
}

// lineJSON writes a line as the case file does: values of rules and unknown lines are escaped, and bytes that are not
// text are \xff.
func lineJSON(l robots.LineInfo) string {
	value := l.Value
	if l.Tag != "user-agent" && l.Tag != "sitemap" {
		value = robots.PatternOf(value, robots.Google)
	}
	if l.Tag == "unknown" && strings.Contains(l.Flags, "D") {
		value = l.Key + ":" + value
		if unused[strings.ToLower(l.Key)] {
			l.Tag = "unused"
		}
	}
	fields := []any{l.Num, l.Tag, l.Flags}
	if strings.Contains(l.Flags, "D") {
		fields = append(fields, backslashed(value))
	}
	parts := make([]json.RawMessage, len(fields))
	for i, f := range fields {
		parts[i], _ = json.Marshal(f)
	}
	return joinJSON(parts)
}

func backslashed(s string) string {
	var b strings.Builder
	for i, r := range s {
		if r == '\uFFFD' && s[i] != '\xef' {
			fmt.Fprintf(&b, `\x%02x`, s[i])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func joinJSON(values []json.RawMessage) string {
	var b strings.Builder
	for _, raw := range values {
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			return err.Error()
		}
		fmt.Fprintf(&b, "%q ", fmt.Sprint(v))
	}
	return b.String()
}

// TestGoogleFunctions compares three functions of google/robotstxt with ours.
func TestGoogleFunctions(t *testing.T) {
	type call struct {
		ID  string `json:"id"`
		Fn  string `json:"fn"`
		In  string `json:"in"`
		Out any    `json:"out"`
	}
	const d = robots.Google | robots.URLAsIs
	counts := map[string]int{}
	for _, c := range repcase.Lines[call](t, "google-functions") {
		counts[c.Fn]++
		var got any
		switch c.Fn {
		case "GetPathParamsQuery":
			path, _ := d.Path(repcase.PathOf([]byte(c.In)), nil)
			got = string(path)
			if u, err := robots.SplitURL([]byte(c.In)); err == nil {
				counts["SplitURL"]++
				if path, _ := d.Path(u.Path, nil); string(path) != c.Out {
					t.Errorf("%s: path of %q is %q, want %q", c.ID, c.In, path, c.Out)
				}
			}
		case "MaybeEscapePattern":
			got = robots.PatternOf(c.In, d)
		case "IsValidUserAgentToObey":
			got = robots.ProductToken(c.In).Valid()
		default:
			t.Fatalf("%s: unknown function %s", c.ID, c.Fn)
		}
		if got != c.Out {
			t.Errorf("%s: %s(%q) = %v, want %v", c.ID, c.Fn, c.In, got, c.Out)
		}
	}
	t.Logf("google-functions: %v", counts)
}

// TestOrigins checks whether the robots.txt at one URL applies to another.
func TestOrigins(t *testing.T) {
	type row struct {
		ID       string  `json:"id"`
		Robots   string  `json:"robots_url"`
		URL      string  `json:"url"`
		Applies  bool    `json:"applies"`
		Expected *string `json:"robots_url_expected"` // if there is no Robots: where the robots.txt of URL is, nil if nowhere
	}
	rows := repcase.Lines[row](t, "origins")
	for _, r := range rows {
		origin, err := originOf(r.URL)
		switch {
		case r.Robots != "":
			scope, scopeErr := robots.ParseOrigin(r.Robots)
			if got := err == nil && scopeErr == nil && scope == origin; got != r.Applies {
				t.Errorf("%s: %s applies to %s: %v, want %v (%v, %v)", r.ID, r.Robots, r.URL, got, r.Applies, err, scopeErr)
			}
		case r.Expected == nil:
			if err == nil {
				t.Errorf("%s: %s has origin %s, want none", r.ID, r.URL, origin)
			}
		case string(origin)+"/robots.txt" != *r.Expected:
			t.Errorf("%s: robots.txt of %s is at %s, want %s (%v)", r.ID, r.URL, origin, *r.Expected, err)
		}
	}
	t.Logf("origins: %d rows", len(rows))
}

func originOf(url string) (robots.Origin, error) {
	u, err := robots.SplitURL([]byte(url))
	if err != nil {
		return "", err
	}
	o, err := robots.AppendOrigin(nil, u)
	return robots.Origin(o), err
}

// TestShared checks that the project's own cases equal those of the larger collection that they were copied from.
func TestShared(t *testing.T) {
	repcase.CompareShared(t)
}

// TestPathOf checks the helper with which the conformance tests read URLs without scheme or host.
func TestPathOf(t *testing.T) {
	for _, url := range []string{"http://h/p?q#f", "http://h;p", "http://h?a/b", "http://h#f", "http://h", "http://u:p@h:1/p"} {
		u, err := robots.SplitURL([]byte(url))
		if err != nil {
			t.Fatal(err)
		}
		if got := repcase.PathOf([]byte(url)); !bytes.Equal(got, u.Path) {
			t.Errorf("PathOf(%q) = %q, SplitURL says %q", url, got, u.Path)
		}
	}
}

func TestTexts(t *testing.T) { repcase.RunTexts(t, robots.Decide) }

func TestDirectives(t *testing.T) { repcase.RunDirectives(t) }
