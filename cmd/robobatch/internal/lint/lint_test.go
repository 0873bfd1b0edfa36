package lint

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/robots"
)

var update = flag.Bool("update", false, "write docs/RULES.md anew")

// TestCodes checks that every code of package robots is explained, and that in the dialect of the code the bad
// example has the finding and the good one does not.
func TestCodes(t *testing.T) {
	for _, name := range declared(t) {
		if _, ok := Lookup(robots.Code(name)); !ok {
			t.Errorf("%s is not explained", name)
		}
	}
	for _, c := range Codes {
		if !slices.Contains(declared(t), string(c.Name)) {
			t.Errorf("%s is no code", c.Name)
		}
		dialect := robots.Google
		if c.Dialect != "" {
			var err error
			if dialect, err = robots.ParseDialect(c.Dialect); err != nil {
				t.Fatal(err)
			}
		}
		if !has(c.badExample(), c.Name, dialect) || has(c.Good, c.Name, dialect) {
			t.Errorf("%s: the bad example has it %v, the good one %v", c.Name, has(c.badExample(), c.Name, dialect), has(c.Good, c.Name, dialect))
		}
		if other := worse(c.Good, c.Severity, dialect); other != "" {
			t.Errorf("%s: its good example has %s", c.Name, other)
		}
	}
}

// declared returns the codes that package robots declares.
func declared(t *testing.T) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "..", "..", "robots", "diagnostic.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for _, value := range spec.Values {
			name, err := strconv.Unquote(value.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
		return true
	})
	if len(names) < 40 {
		t.Fatalf("only %d codes were found", len(names))
	}
	return names
}

func has(body string, code robots.Code, d robots.Dialect) bool {
	return slices.ContainsFunc(robots.Inspect([]byte(body), d).About("https://www.example.com"), func(n robots.Diagnostic) bool { return n.Code == code })
}

// worse returns the code of a finding in the body that is at least as severe; "" if there is none.
func worse(body string, s Severity, d robots.Dialect) string {
	for _, n := range robots.Inspect([]byte(body), d).About("https://www.example.com") {
		if c, _ := Lookup(n.Code); c.Severity <= s && c.Severity != Info {
			return string(n.Code)
		}
	}
	return ""
}

// TestPage checks that docs/RULES.md lists all codes and their texts.
func TestPage(t *testing.T) {
	name := filepath.Join("..", "..", "..", "..", "docs", "RULES.md")
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	const mark = "has a bad and a good example.\n"
	front, _, ok := strings.Cut(string(page), mark)
	if !ok {
		t.Fatalf("docs/RULES.md has no list behind %q", mark)
	}
	var sb strings.Builder
	sb.WriteString(front + mark)
	for _, c := range Codes {
		kind := c.Severity.String()
		if c.Dialect != "" {
			kind += ", " + c.Dialect
		}
		sb.WriteString("\n" + cli.Fill("**`"+string(c.Name)+"`** ("+kind+"): "+c.What, 100) + "\n")
	}
	if *update {
		if err := os.WriteFile(name, []byte(sb.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if string(page) != sb.String() {
		t.Error("docs/RULES.md is not what the codes say: go generate ./cmd/robobatch/internal/lint")
	}
}

// TestLines finds lines however they end, and their columns.
func TestLines(t *testing.T) {
	body := "User-agent: *\r\nDisallow:  é #\rAllow: b\n\nx"
	var diagnostics []robots.Diagnostic
	for line := range int32(5) {
		diagnostics = append(diagnostics, robots.Diagnostic{Line: line + 1, Code: "agent_cut"})
	}
	var got []string
	for _, f := range Findings(&Place{File: "f", Origin: "o"}, []byte(body), diagnostics) {
		got = append(got, f.Source+"|"+strconv.Itoa(f.Column))
	}
	want := []string{"User-agent: *|13", "Disallow:  é #|12", "Allow: b|8", "|1", "x|1"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestBaseline checks that a baseline accepts each finding as often as it lists it.
func TestBaseline(t *testing.T) {
	f, g := Finding{Origin: "o", Code: "c", Source: " x ", Line: 1}, Finding{Origin: "o", Code: "c", Source: "x", Line: 9}
	b := Baseline{}
	b.Add(&f)
	var sb strings.Builder
	if err := b.Write(&sb); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "b.json")
	if err := os.WriteFile(name, []byte(sb.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := ReadBaseline(name)
	if err != nil {
		t.Fatal(err)
	}
	if !b.Accepts(&g) || b.Accepts(&g) {
		t.Error("the finding is not accepted once")
	}
}

// TestPlaces checks the positions and the texts of findings about ignored lines, and that misspelt Allow and Disallow
// lines are errors.
func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		line, want string
	}{
		{"User-agent: * Disallow: /x", "15 error joined_lines another directive begins inside this line: Disallow: /x"},
		{"\ufeffUser-agent: *\\nDisallow: /x", `17 error joined_lines it contains the two characters \n instead of a line break, so the rest is part of the line: Disallow: /x`},
		{"Dis allow: /x", "4 error garbled_line the line is ignored, as its key contains a blank; it means Disallow: /x"},
		{"  Disallow：/x", `11 error garbled_line the line is ignored, as it has '：' instead of a colon; it means Disallow: /x`},
		{"Disallow: /é/\u200b", "14 error garbled_line the invisible character U+200B is part of the value; it means /é/"},
		{"Disallow: \u00a0/x\u00a0", "11 error garbled_line U+00A0 instead of a space is part of the value; it means /x"},
		{"Disallwo: /x", `1 error unknown_field "Disallwo" is an unknown key; the line is ignored; did you mean disallow?`},
		{"Alow: /x", `1 error unknown_field "Alow" is an unknown key; the line is ignored; did you mean allow?`},
		{"Usr-agent: x", `1 error unknown_field "Usr-agent" is an unknown key; the line is ignored; did you mean user-agent?`},
		{"; Disallow: /x", `1 warning unknown_field "; Disallow" is an unknown key; the line is ignored; only # begins a comment`},
		{"User-agent: GPTBot, __usage_ai-training", `13 error agent_list read as "GPTBot": every name needs a line of its own`},
		{"User-agent: GPTBot __usage_ai-training", `13 error agent_list read as "GPTBot": every name needs a line of its own`},
		{"User-agent: __usage_ai-training\u00a0", "32 error garbled_line U+00A0 instead of a space is part of the value; it means __usage_ai-training"},
		{"Alow: me", `1 warning unknown_field "Alow" is an unknown key; the line is ignored; did you mean allow?`},
		{"Follow: /x", `1 warning unknown_field "Follow" is an unknown key; the line is ignored; did you mean allow?`},
		{"Sitmap: https://a.example/s", `1 warning unknown_field "Sitmap" is an unknown key; the line is ignored; did you mean sitemap?`},
		{"Disallow: \"/x\"", "11 error no_leading_slash it does not start with /, so it matches nothing; without the quotation marks it is /x"},
		{"Disallow: ^/x/.*", "11 error no_leading_slash it does not start with /, so it matches nothing; regular expressions are not supported: * matches any text, and $ the end"},
		{"Disallow: /a, /b", "11 warning space_in_rule several paths in one rule, which matches none of them: write one line for each"},
		{"Disallow: /a b", "11 warning space_in_rule URLs have %20 instead of a space, so it matches nothing: write %20"},
	} {
		body := []byte(c.line + "\nUser-agent: x\nDisallow: /y\n")
		if c.line[0] == 'D' {
			body = []byte("User-agent: x\n" + c.line + "\nDisallow: /y\n")
		}
		var got []string
		for _, f := range Findings(&Place{}, body, robots.Inspect(body, robots.Google).Diagnostics) {
			got = append(got, fmt.Sprintf("%d %s %s %s", f.Column, f.Severity, f.Code, f.Text))
		}
		if !slices.Contains(got, c.want) {
			t.Errorf("%q has %q, want %q", c.line, got, c.want)
		}
	}
}

// TestFingerprints checks that equal lines have different fingerprints, which do not change when the lines move.
func TestFingerprints(t *testing.T) {
	prints := func(body string) (all []string) {
		report := robots.Inspect([]byte(body), robots.Google)
		for _, f := range Findings(&Place{File: "robots.txt", Origin: "https://a.example"}, []byte(body), report.Diagnostics) {
			if f.Code == "unknown_field" {
				all = append(all, f.toSARIF().Fingerprints["originCodeLine/v1"])
			}
		}
		return all
	}
	const body = "Foo: 1\nFoo: 1\n Foo: 1\nFoo: 2\n"
	before, after := prints("User-agent: *\n"+body), prints("User-agent: *\nDisallow: /x\nBar: 1\n\n"+body)
	if len(before) != 4 || len(after) != 5 || !slices.Equal(before, after[1:]) {
		t.Errorf("%q became %q", before, after)
	}
	slices.Sort(before)
	if n := len(slices.Compact(before)); n != 4 {
		t.Errorf("4 findings have %d fingerprints", n)
	}
}
