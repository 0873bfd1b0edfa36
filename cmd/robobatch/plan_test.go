package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
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
