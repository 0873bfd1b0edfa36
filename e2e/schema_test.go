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
	"time"

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

// TestHostileSchema checks the output for a hostile robots.txt, and for its lines as URLs, against the
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
		validate(t, sarif, runOK(t, nil, "lint", "-rules", name, "-dialect", dialect, "-print", "sarif", "-approve", filepath.Join(dir, "b.json")))
		out := runOK(t, nil, "lint", "-rules", name, "-dialect", dialect, "-print", "json", "-approve", filepath.Join(dir, "b.json"))
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

// TestCensusSchema checks the counts of census against their schema, at several times and with weights.
func TestCensusSchema(t *testing.T) {
	schema := compileSchema(t, "census.schema.json")
	weights := filepath.Join(t.TempDir(), "weights.csv")
	if err := os.WriteFile(weights, []byte("arc.gov,0.5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{{"-agent", "@ai"}, {"-as-of", "2026-01-01,2026-02-01"}, {"-weights", weights}} {
		flags = append([]string{"census", "-quiet", "-print", "json", "-rules", quickstart(t, "rules")}, flags...)
		for line := range bytes.Lines(runOK(t, nil, flags...)) {
			validate(t, schema, line)
		}
	}
	if err := schema.Validate(map[string]any{"kind": "crawler", "agent": "x"}); err == nil {
		t.Error("the schema takes a crawler without counts")
	}
}

// TestConductSchema checks the output about crawlers, changes and the log against its schema.
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

// TestReportSchema checks findings against their schema, for a log in which robots.txt fails, a directory is down and a crawler is blocked.
func TestReportSchema(t *testing.T) {
	schema := compileSchema(t, "report.schema.json")
	dir := t.TempDir()
	var log bytes.Buffer
	begin := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	for minute := range 10 * 24 * 60 {
		at, hour := begin.Add(time.Duration(minute)*time.Minute), minute/60
		for n, client := range []string{"Mozilla/5.0 Firefox/140.0", "Googlebot/2.1", "bingbot/2.0", "GPTBot/1.1"} {
			path, status := fmt.Sprintf("/%c/%d", 'a'+minute%3, minute%97), 200
			switch {
			case n > 0 && minute%(7*n) > 0:
				continue
			case n > 0 && minute%(180+n) < 14:
				path = "/robots.txt"
			}
			switch {
			case path == "/robots.txt" && hour >= 100 && hour < 120:
				status = 500
			case minute%3 == 0 && hour >= 60 && hour < 64:
				status = 502
			case n == 2 && hour >= 150:
				status = 403
			}
			fmt.Fprintf(&log, "192.0.2.%d - - [%s] \"GET %s HTTP/1.1\" %d 900 \"-\" \"%s\"\n", n, at.Format("02/Jan/2006:15:04:05 -0700"), path, status, client)
		}
	}
	for name, text := range map[string]string{"access.log": log.String(), "robots.txt": "User-agent: *\nDisallow: /admin/\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	flags := []string{
		"report", "-quiet", "-rules", filepath.Join(dir, "robots.txt"), "-base", "https://site.example", "-in", filepath.Join(dir, "access.log"), "-agent-from-log",
		"-out", filepath.Join(dir, "x.html"), "-print",
	}
	out := runOK(t, nil, append(flags, "json", "-fail", "site_closed")...)
	validate(t, schema, out)
	for _, code := range []string{"robots_txt_failed", "outage", "crawler_refused"} {
		if n := bytes.Count(out, []byte(`{"code":"`+code+`","class"`)); n != 1 {
			t.Errorf("%d findings %s in\n%s", n, code, out)
		}
	}
	out = runOK(t, nil, append(flags, "json", "-previous", "2026-03-07")...)
	if validate(t, schema, out); !bytes.Contains(out, []byte(`"periods":{"change":"2026-03-07 00:00:00 UTC","before":"2026-03-02 to 2026-03-06","after":"2026-03-07 to 2026-03-11"`)) {
		t.Errorf("two periods are missing in\n%s", out)
	}
	text := runFails(t, append(flags, "markdown", "-fail", "crawler_refused,outage")...)
	if !bytes.Contains(text, []byte("1. ")) || !bytes.Contains(text, []byte(" Fix: ")) {
		t.Errorf("markdown: %s", text)
	}
	if err := schema.Validate(map[string]any{"findings": []any{map[string]any{"code": "outage"}}, "limits": []any{}}); err == nil {
		t.Error("the schema takes a finding without a time")
	}
}
