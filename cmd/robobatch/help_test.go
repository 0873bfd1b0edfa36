package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// TestCommandsHaveSpecs holds that help, completion and suggestions know every command.
func TestCommandsHaveSpecs(t *testing.T) {
	var known []string
	for name := range commands {
		known = append(known, name)
	}
	slices.Sort(known)
	if got := slices.Sorted(slices.Values(subcommands())); !slices.Equal(got, known) {
		t.Errorf("the specs have %v, the commands are %v", got, known)
	}
}

// TestFlagDocs holds that a help text taken apart has each flag of its command once, with a text, and a name of its value
// where it takes one.
func TestFlagDocs(t *testing.T) {
	for _, s := range specs {
		fs := s.new()
		seen := map[string]bool{}
		for _, d := range s.flags() {
			if seen[d.name] || d.name != "h" && fs.Lookup(d.name) == nil || d.text == "" {
				t.Errorf("%s: %+v", s.title(), d)
			}
			seen[d.name] = true
			if takesValue(fs, d.name) != regexp.MustCompile(`^[a-z]+$`).MatchString(d.arg) {
				t.Errorf("%s: -%s has the value %q", s.title(), d.name, d.arg)
			}
		}
		for _, name := range flagNames(&s) {
			if !seen[name] {
				t.Errorf("%s: no text for -%s", s.title(), name)
			}
		}
	}
	d := findSpec("").flags()[slices.IndexFunc(findSpec("").flags(), func(d flagDoc) bool { return d.name == "agent-from-log" })]
	if want := "decide each row for the crawler that its User-Agent names, and add the column violation"; d.text != want {
		t.Errorf("%+v, want %q", d, want)
	}
}

// TestEnumerated holds that the values that completion knows are those that the flags take.
func TestEnumerated(t *testing.T) {
	check := map[string]func(value string) error{
		"dialect":     func(v string) error { _, err := robots.ParseDialect(v); return err },
		"format":      func(v string) error { _, err := ingest.ParseFormat(v); return err },
		"agent-chars": func(v string) error { return settled(reading{"google", v, "disallow", false, ""}) },
		"yandex-empty-allow": func(v string) error {
			return settled(reading{"yandex", "standard", v, false, ""})
		},
		"missing": func(v string) error {
			if _, ok := missingNames[v]; !ok {
				return os.ErrNotExist
			}
			return nil
		},
		"unknown-agents": func(v string) error { _, err := (&args{fromLog: true, unknown: v}).logAgents(); return err },
		"layout":         func(v string) error { _, err := output.ParseLayout(v); return err },
		"compression":    func(v string) error { _, err := output.ParseCompression(v); return err },
		"sort":           func(v string) error { _, err := output.ParseSort(v); return err },
		"progress":       func(v string) error { _, err := parseProgress(v, os.Stderr); return err },
		"out-format":     func(v string) error { _, err := output.ParseFormat(v); return err },
	}
	for name, values := range enumerated {
		if check[name] == nil || len(values) < 2 {
			t.Errorf("-%s is not checked, or has no values: %q", name, values)
			continue
		}
		if check[name]("nosuch") == nil {
			t.Errorf("-%s takes any value", name)
		}
		for _, v := range values {
			if err := check[name](v); err != nil {
				t.Errorf("-%s %s: %v", name, v, err)
			}
		}
		for _, s := range specs {
			for _, d := range s.flags() {
				if d.name == name && !slices.ContainsFunc(values, func(v string) bool { return strings.Contains(d.text, v) }) {
					t.Errorf("the help of %s -%s has none of %q", s.title(), name, values)
				}
			}
		}
	}
	_, err := robots.ParseDialect("nosuch")
	_, list, _ := strings.Cut(err.Error(), "use one of ")
	if got, want := slices.Sorted(slices.Values(dialectNames())), slices.Sorted(slices.Values(strings.Split(list, ", "))); !slices.Equal(got, want) {
		t.Errorf("dialects %q, there are %q", got, want)
	}
	if _, err := expandAgents(listed["agent"]); err != nil {
		t.Errorf("-agent: %v", err)
	}
	if w, err := output.ParseWhere(strings.Join(listed["where"], ",")); err != nil || w.String() != strings.Join(listed["where"], ",") {
		t.Errorf("-where: %s, %v", w, err)
	}
}

func settled(r reading) error {
	_, _, err := r.settle()
	return err
}

// TestColumnDocs compares what the help says of columns with the schema of an output.
func TestColumnDocs(t *testing.T) {
	fields := map[string]arrow.Field{}
	for _, opt := range []engine.StoreOptions{{Canonical: true}, {LogAgents: engine.LogAgentsStar}} {
		store, err := engine.BuildStore(func(func(robots.Response, error) bool) {}, opt)
		if err != nil {
			t.Fatal(err)
		}
		columns := slices.DeleteFunc(output.Columns(), func(name string) bool {
			return name == output.CanonicalURL && !opt.Canonical || name == output.Violation && opt.LogAgents == engine.LogAgentsOff
		})
		var file bytes.Buffer
		w, err := output.New(&file, store, output.Options{Format: output.ArrowStream, Columns: columns})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := ipc.NewReader(&file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Schema().Fields() {
			fields[f.Name] = f
		}
		r.Release()
	}
	kinds := map[arrow.Type]string{arrow.INT64: "int64", arrow.INT32: "int32", arrow.BOOL: "bool", arrow.STRING: "string", arrow.DICTIONARY: "dictionary string"}
	if len(columnDocs) != len(fields) || len(fields) != len(output.Columns()) {
		t.Errorf("%d columns described, %d written", len(columnDocs), len(fields))
	}
	for name, f := range fields {
		d, ok := columnDocs[name]
		if !ok || d.kind != kinds[f.Type.ID()] || (d.null != "") != f.Nullable || d.about == "" {
			t.Errorf("%s is described as %+v, and written as %v, null %v", name, d, f.Type, f.Nullable)
		}
	}
}

// TestTopics holds that the texts name all that there is, in lines that fit a window.
func TestTopics(t *testing.T) {
	texts := map[string]string{}
	for _, topic := range topics() {
		texts[topic.name] = topic.text()
	}
	sets := crawlers.Sets()
	wide, err := output.Options{Layout: output.Wide, Columns: []string{"url", "allowed", "rule"}}.ColumnNames([]string{"*", "GPTBot"})
	if err != nil {
		t.Fatal(err)
	}
	for name, words := range map[string][]string{
		"formats":  slices.Concat(formatNames(), keptTypeNames(), []string{".parquet", ".arrow", ".arrows"}),
		"agents":   slices.Concat(tokensOf(crawlers.Set("all")), sets),
		"columns":  slices.Concat(output.Columns(), wide, []string{"url,allowed,rule"}),
		"dialects": dialectNames(),
	} {
		for _, word := range words {
			if !hasWord(texts[name], word) {
				t.Errorf("help %s lacks %s", name, word)
			}
		}
		for line := range strings.Lines(texts[name]) {
			if len(line) > 120 {
				t.Errorf("help %s has a line of %d bytes: %s", name, len(line), line)
			}
		}
	}
	for _, f := range ingest.Formats() {
		if f.About() == "" {
			t.Errorf("nothing about the format %s", f)
		}
	}
	for r := range engine.Reason(engine.NumReasons) {
		if !hasWord(texts["columns"], r.String()) {
			t.Errorf("help columns lacks the reason %s", r)
		}
	}
	if len(aboutDialects) != len(dialects) {
		t.Errorf("%d dialects described, there are %d", len(aboutDialects), len(dialects))
	}
}

// hasWord reports whether the text has the word with no letter, digit, dot, minus or underscore next to it; a comma, a
// full stop at the end of a sentence or the like may follow.
func hasWord(text, word string) bool {
	return regexp.MustCompile(`(^|[^\w.-])` + regexp.QuoteMeta(word) + `($|[^\w.-]|[.]\s)`).MatchString(text)
}

// TestManPage holds that the page has every flag of every command, and that nothing in it is taken for a request.
func TestManPage(t *testing.T) {
	page := manPage()
	parts := regexp.MustCompile(`(?m)^\.SH "ROBOBATCH `).Split(page, -1)
	if len(parts) != len(specs) {
		t.Fatalf("%d commands in the page, want %d", len(parts), len(specs))
	}
	for i, s := range specs {
		for _, name := range flagNames(&s) {
			if want := ".B " + roff("-"+name) + " "; !strings.Contains(parts[i], "\n"+want) {
				t.Errorf("%s: no %q", s.title(), want)
			}
		}
	}
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "'") || line[0] == '.' && !regexp.MustCompile(`^\.(TH|SH|SS|TP|PP|B|br|nf|fi)( |\n)`).MatchString(line) {
			t.Errorf("a request by mistake: %s", line)
		}
	}
	if got, want := roff(".a -b\n'c \"d\\"), "\\&.a \\-b\n\\&'c \\(dqd\\e"; got != want {
		t.Errorf("roff gives %q, want %q", got, want)
	}
}

// TestManPageLint has mandoc read the page. Only the date may be missing, which a test's program does not know.
func TestManPageLint(t *testing.T) {
	mandoc, err := exec.LookPath("mandoc")
	if err != nil {
		t.Skip("there is no mandoc to ask")
	}
	cmd := exec.Command(mandoc, "-Tlint")
	cmd.Stdin = strings.NewReader(manPage())
	out, err := cmd.Output() // an exit code other than 0 says no more than the lines
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if !strings.Contains(line, "missing date") {
			t.Error(line)
		}
	}
}

// TestFold holds that folding changes nothing but spaces.
func TestFold(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "",
		"a  b":                            "a b",
		strings.Repeat("word ", 20):       strings.Repeat("word ", 13) + "word\n" + strings.Repeat("word ", 5) + "word",
		"a " + strings.Repeat("x", 100):   "a\n" + strings.Repeat("x", 100),
		strings.Repeat("x", 100) + " end": strings.Repeat("x", 100) + "\nend",
	} {
		if got := fold(text); got != want {
			t.Errorf("fold(%q) = %q, want %q", text, got, want)
		}
	}
}

// flagNames returns the names of the flags of a command, as its FlagSet has them.
func flagNames(s *spec) (names []string) {
	for _, f := range allFlags(s.new()) {
		names = append(names, f.Name)
	}
	return names
}
