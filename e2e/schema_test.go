package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestExplainSchema checks answers of explain for many URLs, from files and from a pack, against
// their schema.
func TestExplainSchema(t *testing.T) {
	schema := compileSchema(t, "explain.schema.json")
	pack := filepath.Join(t.TempDir(), "x.rbp")
	runOK(t, nil, "compile", "-quiet", "-rules", quickstart(t, "rules"), "-out", pack)
	urls := bytes.Join([][]byte{
		[]byte("https://arc.gov/wp/wp-admin/x"), []byte("https://arc.gov/robots.txt"), []byte("no url"), []byte("https://none.example/?a=%ff\xff"),
	}, []byte("\n"))
	for _, rules := range []string{quickstart(t, "rules"), pack} {
		for _, dialect := range []string{"google", "rfc9309", "google-2010", "yandex"} {
			if rules == pack && dialect != "google" {
				continue // it is compiled for one dialect
			}
			out := runOK(t, urls, "explain", "-rules", rules, "-dialect", dialect, "-agent", "Googlebot-News,AdsBot-Google,*", "-print", "json")
			answers := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
			if len(answers) != 4*3 {
				t.Errorf("%d answers, want 12", len(answers))
			}
			for _, answer := range answers {
				validate(t, schema, answer)
			}
		}
	}
	if err := schema.Validate(map[string]any{"url": "x"}); err == nil {
		t.Error("the schema takes an answer without a verdict")
	}
}

// TestLintSchema checks findings against their schema, and SARIF against that of OASIS.
func TestLintSchema(t *testing.T) {
	schema := compileSchema(t, "lint.schema.json")
	findings := bytes.Split(bytes.TrimSpace(runFails(t, "lint", "-rules", quickstart(t, "rules"), "-print", "json")), []byte("\n"))
	if len(findings) < 1000 {
		t.Errorf("only %d findings", len(findings))
	}
	for _, finding := range findings {
		validate(t, schema, finding)
	}
	sarif, err := jsonschema.NewCompiler().Compile(filepath.Join("testdata", "sarif-schema-2.1.0.json"))
	if err != nil {
		t.Fatal(err)
	}
	log := runFails(t, "lint", "-rules", quickstart(t, "rules"), "-print", "sarif")
	validate(t, sarif, log)
	if err := sarif.Validate(map[string]any{"version": "2.1.0"}); err == nil {
		t.Error("the schema takes a log without runs")
	}
}

// TestHostileSchema checks what is printed of a hostile robots.txt, and of its lines as URLs, against the
// schemas.
func TestHostileSchema(t *testing.T) {
	dir := t.TempDir()
	texts := []string{
		"\x1b[31m\x07\x9b1m\u009b", "::error::x", "]]><x/>&\ufffe", "\xff\xfe\xc0", "\u202egnp.exe", "long" + strings.Repeat("x", 20_000), "\"quo\\ted\t%0A", "日本語 e\u0301 🤖",
	}
	var body strings.Builder
	for _, text := range texts {
		for _, line := range []string{"User-agent: %s", "User-agent: x %s", "Disallow: %s", "Allow: /%s*$", "%s", "%s: x", "Sitemap: %s", "Disallow: #%s", "Crawl-delay: %s"} {
			fmt.Fprintf(&body, line+"\n", text)
		}
	}
	name := filepath.Join(dir, "rules", "https_a.example.txt")
	if err := errors.Join(os.Mkdir(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(body.String()), 0o666)); err != nil {
		t.Fatal(err)
	}
	sarif, err := jsonschema.NewCompiler().Compile(filepath.Join("testdata", "sarif-schema-2.1.0.json"))
	if err != nil {
		t.Fatal(err)
	}
	finding, answer := compileSchema(t, "lint.schema.json"), compileSchema(t, "explain.schema.json")
	lines := 0
	for _, dialect := range []string{"google", "rfc9309", "google-2010", "yandex"} {
		validate(t, sarif, runOK(t, nil, "lint", "-rules", name, "-dialect", dialect, "-print", "sarif", "-write-baseline", filepath.Join(dir, "b.json")))
		out := runOK(t, nil, "lint", "-rules", name, "-dialect", dialect, "-print", "json", "-write-baseline", filepath.Join(dir, "b.json"))
		for line := range bytes.SplitSeq(bytes.TrimSpace(out), []byte("\n")) {
			validate(t, finding, line)
			lines++
		}
		urls := []byte("https://a.example/" + strings.Join(texts, "\nhttps://a.example/") + "\n" + strings.Join(texts, "\n"))
		for line := range bytes.SplitSeq(bytes.TrimSpace(runOK(t, urls, "explain", "-rules", filepath.Dir(name), "-dialect", dialect, "-print", "json")), []byte("\n")) {
			validate(t, answer, line)
			lines++
		}
	}
	if lines < 200 {
		t.Errorf("only %d lines were checked", lines)
	}
}

// TestCheckSchema checks results against their schema.
func TestCheckSchema(t *testing.T) {
	schema := compileSchema(t, "check.schema.json")
	name := filepath.Join(t.TempDir(), "robots.expect")
	text := "allow @search https://arc.gov/\nallow * https://arc.gov/wp/wp-admin/ rule=9\ndisallow * https://none.example/\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	results := bytes.Split(bytes.TrimSpace(runFails(t, "check", "-rules", quickstart(t, "rules"), "-expect", name, "-print", "json")), []byte("\n"))
	if len(results) < 5 {
		t.Errorf("only %d results", len(results))
	}
	for _, result := range results {
		validate(t, schema, result)
	}
	if !bytes.Contains(results[len(results)-1], []byte(`"problem":"no_robots"`)) {
		t.Errorf("the last result is %s", results[len(results)-1])
	}
}

// TestStatsSchema checks statistics against their schema.
func TestStatsSchema(t *testing.T) {
	schema := compileSchema(t, "stats.schema.json")
	dir := t.TempDir()
	log := filepath.Join(dir, "access.log")
	line := `1.2.3.4 - - [05/Jan/2026:12:00:00 +0000] "GET /wp/wp-admin/ HTTP/1.1" 200 5 "-" "Mozilla/5.0 (compatible; bingbot/2.0)"` + "\nno line\n"
	if err := os.WriteFile(log, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	stats := filepath.Join(dir, "s.json")
	for _, flags := range [][]string{
		{"-in", quickstart(t, "urls.zst")},
		{"-in", quickstart(t, "urls.zst"), "-agent", "@search", "-layout", "wide", "-where", "disallowed"},
		{"-in", log, "-base", "https://arc.gov", "-format", "combined", "-agent-from-log", "-keep", "status"},
	} {
		runOK(t, nil, append(flags, "-quiet", "-rules", quickstart(t, "rules"), "-out", filepath.Join(dir, "x.csv"), "-stats", stats)...)
		text, err := os.ReadFile(stats)
		if err != nil {
			t.Fatal(err)
		}
		validate(t, schema, text)
	}
	if err := schema.Validate(map[string]any{"version": "1"}); err == nil {
		t.Error("the schema takes statistics without counts")
	}
}

// TestCoverageSchema checks the log and the rules of coverage against their schema.
func TestCoverageSchema(t *testing.T) {
	schema := compileSchema(t, "coverage.schema.json")
	dir := t.TempDir()
	log := filepath.Join(dir, "access.log")
	line := `1.2.3.4 - - [05/Jan/2026:12:00:00 +0000] "GET /wp/wp-admin/ HTTP/1.1" 200 5 "-" "Mozilla/5.0 (compatible; bingbot/2.0)"` + "\n"
	if err := os.WriteFile(log, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{
		{"-in", quickstart(t, "urls.zst")},
		{"-in", quickstart(t, "urls.zst"), "-agent", "Googlebot,GPTBot", "-by", "agent"},
		{"-in", log, "-base", "https://arc.gov", "-agent-from-log"},
	} {
		flags = append([]string{"coverage", "-quiet", "-print", "json", "-rules", quickstart(t, "rules")}, flags...)
		lines := bytes.Split(bytes.TrimSpace(runOK(t, nil, flags...)), []byte("\n"))
		if len(lines) < 2 {
			t.Errorf("%v: %d lines", flags, len(lines))
		}
		for _, line := range lines {
			validate(t, schema, line)
		}
	}
	if err := schema.Validate(map[string]any{"kind": "rule"}); err == nil {
		t.Error("the schema takes a rule without counts")
	}
}

// TestConductSchema checks what is said of crawlers, of changes and of the log against their schema.
func TestConductSchema(t *testing.T) {
	schema := compileSchema(t, "conduct.schema.json")
	log := filepath.Join("..", "testdata", "conduct")
	captures := filepath.Join(t.TempDir(), "captures.jsonl")
	text := `{"url":"https://site.example/robots.txt","status":200,"fetched_at":"2026-08-01T00:00:00Z","body":"User-agent: *\nAllow: /\n"}` + "\n" +
		`{"url":"https://site.example/robots.txt","status":200,"fetched_at":"2026-08-05T00:00:00Z","body":"User-agent: *\nDisallow: /\nCrawl-delay: 1.5\n"}` + "\n"
	if err := os.WriteFile(captures, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, flags := range [][]string{
		{"-ranges", filepath.Join(log, "ranges"), "-ranges-age", "90d", "-fail", "violations=100%"},
		{"-by", "agent", "-as-of", "log"},
	} {
		flags = append([]string{"conduct", "-quiet", "-print", "json", "-rules", captures, "-base", "https://site.example", "-in", filepath.Join(log, "access.log")}, flags...)
		for _, line := range bytes.Split(bytes.TrimSpace(runOK(t, nil, flags...)), []byte("\n")) {
			validate(t, schema, line)
			kinds[string(line[:len(`{"kind":"log`)])]++
		}
	}
	if len(kinds) != 3 {
		t.Errorf("kinds %v", kinds)
	}
	if err := schema.Validate(map[string]any{"kind": "crawler"}); err == nil {
		t.Error("the schema takes a crawler without counts")
	}
}

// runFails runs the command, which finds something, and returns its standard output.
func runFails(t *testing.T, arguments ...string) []byte {
	t.Helper()
	cmd := exec.Command(command, arguments...)
	out, err := cmd.Output()
	if cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("%v: %v", cmd, err)
	}
	return out
}

// compileSchema reads a schema of docs.
func compileSchema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// validate checks a JSON text against a schema.
func validate(t *testing.T, schema *jsonschema.Schema, text []byte) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

// runOK runs the command and returns its standard output.
func runOK(t *testing.T, stdin []byte, arguments ...string) []byte {
	t.Helper()
	cmd := exec.Command(command, arguments...)
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	return out
}
