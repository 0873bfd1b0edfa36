package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
)

// TestFlagsDoc holds that docs/FLAGS.md is what the table of flags makes. With -update it writes
// the file.
func TestFlagsDoc(t *testing.T) {
	const name = "../../docs/FLAGS.md"
	page := program(new(args)).Markdown()
	if *update {
		if err := os.WriteFile(name, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if doc, err := os.ReadFile(name); err != nil || string(doc) != page {
		t.Errorf("%s is not up to date: run go generate ./cmd/robobatch; %v", name, err)
	}
}

// TestRulesDoc holds that docs/RULES.md has every code of a diagnostic, and no other.
func TestRulesDoc(t *testing.T) {
	doc, err := os.ReadFile("../../docs/RULES.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("../../robots/diagnostic.go")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(doc), "## Diagnostics")
	table, _, _ = strings.Cut(table, "## Examples")
	var known, shown []string
	for _, m := range regexp.MustCompile(`Code = "([a-z0-9_]+)"`).FindAllStringSubmatch(string(source), -1) {
		known = append(known, m[1])
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)`").FindAllStringSubmatch(table, -1) {
		shown = append(shown, m[1])
	}
	if len(known) < 20 || !slices.Equal(shown, known) {
		t.Errorf("the page has\n%v, the code\n%v", shown, known)
	}
}

// TestStopWhileLoading stops a run when the rules are being read.
func TestStopWhileLoading(t *testing.T) {
	dir := t.TempDir()
	a := args{
		Asked: summary.Asked{Missing: "allow", Reading: summary.Reading{Dialect: "google", AgentChars: "standard", EmptyAllow: "disallow"}},
		rules: "../../testdata/quickstart/rules", in: []string{"../../testdata/quickstart/urls.zst"},
		out: filepath.Join(dir, "x.parquet"), progress: "off", quiet: true,
	}
	p, err := newPlan(&a, console.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newJob(p).Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("run returns %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v left, %v", left, err)
	}
}
