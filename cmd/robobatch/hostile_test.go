package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/testdata/repcase"
	"github.com/robobatch/robobatch/robots"
)

// columns is how wide a text may be.
const columns = 80

// hostiles are texts that would break lines, colours, annotations, XML or columns if they were printed without
// escapes.
var hostiles = []string{
	"\x1b[31mred\x07\x9b31m\u009b1m", "::error file=x,line=1::y", "::stop-commands::x", "%0A::warning::z", "a\u2028::error::b",
	strings.Repeat("::error::w ", 30), "]]><x/>&amp;\x00\x01\ufffe", "\xff\xfe\xc0", "\u202egnp.exe\u2066\u200f", strings.Repeat("long", 60), strings.Repeat("日本語", 40),
	strings.Repeat("e\u0301", 90), strings.Repeat("🤖", 50), strings.Repeat("word ", 60), "|<script>*_`[x](y)", `"quo\ted"`, "\t\v\f tab",
}

// hostileFile returns a robots.txt that contains these texts wherever a text can be.
func hostileFile() string {
	var sb strings.Builder
	for _, text := range hostiles {
		for _, line := range []string{
			"User-agent: %s", "User-agent: x%s", "Disallow: %s", "Allow: /%s*$", "Disallow: /x%s", "%s", "%s: x", "Crawl-delay: %s", "Sitemap: %s", "Host: %s",
			"Clean-param: %s", "License: %s", "Disallow: #%s", "User-agent: Googelbot %s", "Dissallow: /%s", "User-agent: Googlebot, %s", "Disallow /%s",
		} {
			fmt.Fprintf(&sb, line+"\n", text)
		}
	}
	return "\n::error::first\n" + sb.String() + "::error::last\rUser-agent: *\nDisallow: /\n"
}

// hostileRules writes hostile robots.txt files with long names, and captures. It returns the names of the files and
// the URLs, which commands print without shortening.
func hostileRules(t *testing.T) (dir string, whole []string) {
	t.Helper()
	t.Chdir(t.TempDir())
	label := strings.Repeat("x", 55)
	origins := []string{"https://a.example"}
	for n := 1; n < 8; n++ {
		origins = append(origins, fmt.Sprintf("https://%d%s.example", n, strings.Repeat("."+label, (n+1)/2)))
	}
	for _, origin := range origins {
		name := filepath.Join("rules", strings.Replace(origin, "://", "_", 1)+".txt")
		whole = append(whole, name, origin)
		text := hostileFile()
		if len(whole) == 2 { // alone, a file with NUL bytes is refused
			text = strings.ReplaceAll(text, "\x00", "")
		}
		writeFile(t, name, text)
	}
	var sb strings.Builder
	for i, text := range hostiles {
		text = strings.ToValidUTF8(text, "?")
		origin := fmt.Sprintf("https://c%d.example", i)
		for _, capture := range []map[string]any{
			{"origin": origin, "status": 301, "location": "https://moved.example/" + strings.Repeat("y", 100) + strconv.Itoa(i), "fetched_at": i},
			{"origin": origin + ":81", "error": text},
			{"origin": origin + ":82", "status": 302, "location": text},
		} {
			line, err := json.Marshal(capture)
			if err != nil {
				t.Fatal(err)
			}
			sb.Write(append(line, '\n'))
		}
		whole = append(whole, "https://moved.example/"+strings.Repeat("y", 100)+strconv.Itoa(i))
	}
	captures := filepath.Join("rules", strings.Repeat("captures", 12)+".jsonl")
	writeFile(t, captures, sb.String())
	return "rules", append(whole, captures)
}

// writeFile writes a file, and its directory.
func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o666)); err != nil {
		t.Fatal(err)
	}
}

// outputOf runs the program and returns its standard output.
func outputOf(t *testing.T, code int, stdin string, arguments ...string) string {
	t.Helper()
	dir := t.TempDir()
	in, out, messages := filepath.Join(dir, "in"), filepath.Join(dir, "out"), filepath.Join(dir, "err")
	writeFile(t, in, stdin)
	var std console.Streams
	for _, s := range []struct {
		to   **os.File
		name string
	}{{&std.In, in}, {&std.Out, out}, {&std.Err, messages}} {
		f, err := os.OpenFile(s.name, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		*s.to = f
	}
	got := run(arguments, std)
	said := readText(t, messages)
	if got != code {
		t.Fatalf("robobatch %.200q: exit code %d, want %d: %s", arguments, got, code, said)
	}
	checkLines(t, said, nil, false)
	return readText(t, out)
}

// readText returns the text of a file.
func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// checkLines checks that no line of a text moves the cursor, hides or reverses letters, or is a GitHub workflow
// command. If narrow is set, it also checks that lines fit 80 columns, except that a name or URL that is never
// shortened may be longer, if it is alone on its line or begins it. It returns the number of lines.
func checkLines(t *testing.T, text string, whole []string, narrow bool) (lines int) {
	t.Helper()
	for line := range strings.Lines(text) {
		lines++
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(strings.TrimLeft(line, " "), "::") || strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) || !utf8.ValidString(line) {
			t.Errorf("%q can be read as something else", line)
		}
		if !narrow || cli.Columns(line) <= columns {
			continue
		}
		rest := strings.TrimSpace(line)
		for _, label := range []string{"origin", "via", "source", "ok", "FAILED"} {
			rest = strings.TrimLeft(strings.TrimPrefix(rest, label+" "), " ")
		}
		if !slices.ContainsFunc(whole, func(name string) bool {
			name = filepath.ToSlash(name)
			after, ok := strings.CutPrefix(rest, name)
			return ok && cli.Columns(after) <= columns && (after == "" || strings.ContainsAny(after[:1], ",:"))
		}) {
			t.Errorf("%d columns: %q", cli.Columns(line), line)
		}
	}
	return lines
}

// TestHostileText checks that lint, check and explain print hostile files, names and URLs in lines that fit, and
// escape them.
func TestHostileText(t *testing.T) {
	rules, whole := hostileRules(t)
	urls := []string{}
	for i, text := range hostiles {
		text = strings.NewReplacer("\n", "", "\r", "").Replace(text)
		urls = append(urls, "https://a.example/x"+text, text+"x", fmt.Sprintf("https://c%d.example/", i), fmt.Sprintf("https://c%d.example:81/%s", i, text),
			fmt.Sprintf("https://c%d.example:82/%s", i, text))
		whole = append(whole, text)
	}
	for _, name := range whole {
		if strings.HasPrefix(name, "https:") {
			urls = append(urls, name+"/x")
		}
	}
	file := whole[0]
	lines := 0
	for _, dialect := range robots.Dialects() {
		for _, arguments := range [][]string{
			{"lint", "-rules", file, "-dialect", dialect},
			{"lint", "-rules", rules, "-dialect", dialect, "-origin", whole[15]},
			{"lint", "-rules", rules, "-dialect", dialect},
		} {
			lines += checkLines(t, outputOf(t, 1, "", arguments...), whole, true)
		}
		outputOf(t, 1, "", "lint", "-rules", rules, "-dialect", dialect, "-out", "all.txt")
		lines += checkLines(t, readText(t, "all.txt"), whole, true)
		for _, agent := range []string{"Googlebot", strings.Repeat("Long", 50), "日本語" + strings.Repeat("\x1b", 40)} {
			for _, all := range []string{"-all", "-quiet"} {
				text := outputOf(t, 0, strings.Join(urls, "\n"), "explain", "-rules", rules, "-dialect", dialect, "-agent", agent, all)
				lines += checkLines(t, text, whole, true)
			}
		}
	}
	expect := strings.Repeat("expect", 20) + ".txt"
	var sb strings.Builder
	for _, url := range urls {
		if url = strings.Join(strings.Fields(url), ""); strings.HasPrefix(url, "https:") {
			fmt.Fprintf(&sb, "allow %s %s rule=7\n", strings.Repeat("Long", 50), url)
		}
	}
	writeFile(t, expect, sb.String())
	lines += checkLines(t, outputOf(t, 1, "", "check", "-rules", rules, "-expect", expect), append(whole, expect), true)
	named := filepath.Join("named", "::error::x.txt")
	writeFile(t, named, "User-agent: *\nDisallow: /\n")
	writeFile(t, "closed.expect", "disallow * /a\n")
	lines += checkLines(t, outputOf(t, 1, "", "check", "-rules", named, "-base", "https://a.example", "-expect", "closed.expect"), nil, true)
	t.Chdir("named")
	lines += checkLines(t, outputOf(t, 1, "", "check", "-rules", "::error::x.txt", "-base", "https://a.example", "-expect", "../closed.expect"), nil, true)
	lines += checkLines(t, outputOf(t, 1, "", "lint", "-rules", "::error::x.txt"), nil, true)
	t.Logf("%d lines", lines)
	if lines < 10_000 {
		t.Errorf("only %d lines", lines)
	}
}

// TestHostileForms checks what lint and check print about hostile files as annotations, JUnit and SARIF.
func TestHostileForms(t *testing.T) {
	rules, _ := hostileRules(t)
	expect := filepath.Join("::error::x,y%", "e.txt")
	writeFile(t, expect, "allow * https://a.example/x::\x1b%0A|]]>\nallow * https://none.example/\n")
	for _, name := range []string{"lint", "check"} {
		base := []string{name, "-rules", rules}
		if name == "check" {
			base = append(base, "-expect", expect)
		}
		t.Setenv("GITHUB_STEP_SUMMARY", filepath.Join(t.TempDir(), "summary.md"))
		checkAnnotations(t, outputOf(t, 1, "", append(base, "-print", "github")...))
		if name == "lint" { // check has fewer than ten
			checkLines(t, readText(t, os.Getenv("GITHUB_STEP_SUMMARY")), nil, false)
		}
		checkXML(t, outputOf(t, 1, "", append(base, "-print", "junit")...))
		checkJSON(t, outputOf(t, 1, "", append(base, "-print", "json")...))
	}
	checkJSON(t, outputOf(t, 1, "", "lint", "-rules", rules, "-print", "sarif"))
}

// checkAnnotations checks that there are at most ten annotations, and no other workflow commands.
func checkAnnotations(t *testing.T, text string) {
	t.Helper()
	commands := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q has what a terminal obeys", line)
		}
		if !strings.HasPrefix(strings.TrimSpace(line), "::") {
			continue
		}
		commands++
		head, message, ok := strings.Cut(line[2:], "::")
		level, properties, _ := strings.Cut(head, " ")
		if !ok || !slices.Contains([]string{"error", "warning", "notice"}, level) || message == "" {
			t.Errorf("%q is no annotation", line)
		}
		for property := range strings.SplitSeq(properties, ",") {
			if key, value, _ := strings.Cut(property, "="); !slices.Contains([]string{"file", "line", "col", "title"}, key) || strings.Contains(value, ":") {
				t.Errorf("%q: property %q", line, property)
			}
		}
	}
	if commands == 0 || commands > 10 {
		t.Errorf("%d annotations", commands)
	}
}

// checkXML checks that a text is valid XML 1.0, without characters that control a terminal.
func checkXML(t *testing.T, text string) {
	t.Helper()
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
		t.Error("the XML has control characters")
	}
	cases := 0
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		start, ok := token.(xml.StartElement)
		switch {
		case !ok:
		case start.Name.Local == "testcase":
			cases++
		case !slices.Contains([]string{"testsuite", "failure", "system-out"}, start.Name.Local):
			t.Errorf("there is an element %s", start.Name.Local)
		}
		if data, ok := token.(xml.CharData); ok && bytes.ContainsFunc(data, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
			t.Errorf("%q has a control character behind an escape", data)
		}
	}
	if cases == 0 {
		t.Error("no cases")
	}
}

// checkJSON checks that a text is JSON values in UTF-8, without control characters of terminals.
func checkJSON(t *testing.T, text string) {
	t.Helper()
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
		t.Error("the JSON has control characters")
	}
	values := 0
	for d := json.NewDecoder(strings.NewReader(text)); ; values++ {
		var value any
		if err := d.Decode(&value); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if values == 0 {
		t.Error("no values")
	}
}

// TestWidth checks that every finding about the files of the collection fits 80 columns, in all dialects.
func TestWidth(t *testing.T) {
	if testing.Short() {
		t.Skip("all findings of the collection take 10 s of processor time, so not with -short")
	}
	collection := repcase.Collection(t)
	for _, dialect := range robots.Dialects() {
		name := filepath.Join(t.TempDir(), "all.txt")
		outputOf(t, 1, "", "lint", "-rules", collection, "-dialect", dialect, "-out", name)
		lines := 0
		for line := range strings.Lines(readText(t, name)) {
			lines++
			file, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ".txt:")
			if cli.Columns(line)-1 > columns && (!strings.HasPrefix(file, collection) || len(rest) > columns) {
				t.Errorf("%d columns: %q", cli.Columns(line)-1, line)
			}
		}
		if lines < 10_000 {
			t.Errorf("%s: only %d lines", dialect, lines)
		}
		t.Logf("%s: %d lines", dialect, lines)
	}
}

// TestHostileChanges checks what diff and coverage print about hostile files, URLs and names, with a log and without,
// in all forms.
func TestHostileChanges(t *testing.T) {
	rules, whole := hostileRules(t)
	var log strings.Builder
	for i, text := range hostiles {
		text = strings.NewReplacer("\n", "", "\r", "", "\x00", "").Replace(text)
		for _, path := range []string{"/x", "/", "/x/y/z/", "/" + strings.Repeat("long/", 30)} {
			line, err := json.Marshal(map[string]any{"url": "https://a.example" + path + text, "time": i * 86400, "status": 200 + i})
			if err != nil {
				t.Fatal(err)
			}
			log.WriteString(strings.Repeat(string(line)+"\n", 1+i%3))
		}
	}
	origins := []string{}
	for _, name := range whole {
		if strings.HasPrefix(name, "https:") && !strings.Contains(name, "moved") {
			origins = append(origins, name)
			fmt.Fprintf(&log, "{\"url\":%q}\n", name+"/")
		}
	}
	writeFile(t, "::error::log.jsonl", log.String())
	for _, origin := range origins {
		writeFile(t, filepath.Join("old", strings.Replace(origin, "://", "_", 1)+".txt"), "User-agent: *\nDisallow: /x/\n")
	}
	writeFile(t, "::error::new.txt", readText(t, whole[0]))
	writeFile(t, "::error::old.txt", "User-agent: *\nDisallow: /x/\n")
	t.Setenv("GITHUB_STEP_SUMMARY", filepath.Join(t.TempDir(), "summary.md"))
	agents := strings.ReplaceAll("Googlebot,日本語"+strings.Repeat("\x1b", 40)+",::error::x,"+strings.Repeat("Long", 50), "\x1b", "\x1b[1m")
	one := []string{"-base", "https://a.example"}
	for _, arguments := range [][]string{
		{"diff", "-old", "old", "-rules", rules, "-in", "::error::log.jsonl", "-agent", agents},
		{"diff", "-old", rules, "-rules", "old", "-in", "::error::log.jsonl", "-agent", agents},
		append(one, "diff", "-old", "::error::old.txt", "-rules", "::error::new.txt", "-in", "::error::log.jsonl"),
		append(one, "diff", "-old", "::error::new.txt", "-rules", "::error::old.txt"),
		{"coverage", "-rules", rules, "-in", "::error::log.jsonl", "-agent", agents, "-by", "agent"},
		append(one, "coverage", "-rules", "::error::new.txt", "-in", "::error::log.jsonl", "-agent", "Googlebot", "-all"),
	} {
		if arguments[0] == "-base" { // the command goes first
			arguments = append(arguments[2:], one...)
		}
		if lines := checkLines(t, outputOf(t, 0, "", arguments...), nil, true); lines < 20 {
			t.Errorf("%q: %d lines", arguments, lines)
		}
		checkJSON(t, outputOf(t, 0, "", append(arguments, "-print", "json")...))
		checkMarkdown(t, outputOf(t, 0, "", append(arguments, "-print", "markdown")...))
		checkAnnotations(t, outputOf(t, 0, "", append(arguments, "-print", "github")...))
	}
	checkMarkdown(t, readText(t, os.Getenv("GITHUB_STEP_SUMMARY")))
}

// checkMarkdown checks that a Markdown text has only the elements that robobatch writes, that table rows have the
// same number of cells as the header row, and that no GitHub user is mentioned.
func checkMarkdown(t *testing.T, text string) {
	t.Helper()
	checkLines(t, text, nil, false)
	rows, cells := 0, 0
	for line := range strings.Lines(text) {
		n := strings.Count(line, "|")
		switch {
		case !strings.HasPrefix(line, "|"):
			if cells = 0; n > 0 {
				t.Errorf("%q has a cell outside of a table", line)
			}
		case cells == 0:
			cells = n
		case n != cells:
			t.Errorf("%d cells, want %d: %q", n, cells, line)
		default:
			rows++
		}
		for _, tag := range []string{"<details>", "</details>", "<summary>", "</summary>", "<br>", "**Failed**"} {
			line = strings.ReplaceAll(line, tag, "")
		}
		if strings.ContainsAny(line, "<>@`*[]") {
			t.Errorf("%q has marks", line)
		}
	}
	if rows == 0 {
		t.Error("no rows")
	}
}
