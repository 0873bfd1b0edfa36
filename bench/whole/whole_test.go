package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/bench/internal/madeup"
	"github.com/robobatch/robobatch/bench/internal/tool"
	"github.com/robobatch/robobatch/internal/measure"
)

// TestTrials checks that each case runs the command and reports the times, without loading the rules where documented.
func TestTrials(t *testing.T) {
	dir := t.TempDir()
	l := lab{ctx: t.Context(), dir: dir, binary: filepath.Join(dir, "robobatch"), copies: 2, spec: madeup.Spec{Origins: 100, URLs: 20_000, Aimed: 25}}
	l.wanted = regexp.MustCompile("^(Load|Whole|Files|Pack|Unpack/log=real|Repeated/log=real/.*url=true|WhatIf/log=real)")
	l.base = l.binary
	l.addTrials()
	if err := errors.Join(l.prepare(), tool.Build(t.Context(), l.binary)); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := measure.Rounds(t.Context(), &out, 1, l.cases); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Count(out.String(), "\n"), 2*(2+5*2)+1+3+1+5+6; got != want || len(l.cases) != want {
		t.Errorf("%d lines, %d cases, want %d", got, len(l.cases), want)
	}
	for name, units := range map[string][]string{
		"Load/data=real/workers=1":                                     {"cpu-ns/rule"},
		"Whole/data=madeup/order=shuffled/frames=8/url=true/workers=2": {"cpu-ns/url"},
		"Files/data=madeup/origins=100/workers=2":                      {"read-ms", "load/read", "cpu/read"},
		"Pack/data=madeup/origins=100/memory=default/workers=2":        {"ready-ms", "cpu-ns/url"},
		"Pack/data=madeup/origins=100/memory=256MiB/workers=2":         {"ready-ms", "cpu-ns/url", "cpu/none"},
		"Unpack/log=real": {"cpu-ns/url"},
		"Repeated/log=real/frames=1/url=true/workers=1/binary=base": {"cpu-ns/url", "cpu/unpack"},
		"Repeated/log=real/frames=1/url=true/workers=1":             {"cpu-ns/url", "cpu/base", "cpu/unpack"},
		"Repeated/log=real/frames=2/url=true/workers=2":             {"cpu-ns/url", "wall/alone"},
		"WhatIf/log=real/command=diff":                              {"cpu-ns/url", "least-cpu/run"},
		"WhatIf/log=real/command=coverage":                          {"cpu-ns/url", "least-cpu/run"},
		"WhatIf/log=real/command=report":                            {"cpu-ns/url", "least-cpu/run"},
	} {
		_, rest, ok := strings.Cut(out.String(), "Benchmark"+name+"\t")
		line, _, _ := strings.Cut(rest, "\n")
		for _, unit := range units {
			if !ok || !strings.Contains(line+"\t", " "+unit+"\t") {
				t.Errorf("no %s of %s in\n%s", unit, name, &out)
			}
		}
	}
	for _, c := range l.cases {
		if !strings.HasSuffix(c.Name, "/url=false/workers=2") && !strings.Contains(c.Name, "memory=none") {
			continue
		}
		s, err := c.Run()
		if pack := strings.HasPrefix(c.Name, "Pack"); err != nil || pack && s.Units != 100 || !pack && (s.Units < 20_000 || s.Bytes < 50*s.Units) {
			t.Errorf("%s: %d URLs of %d bytes: %v", c.Name, s.Units, s.Bytes, err)
		}
	}
}

// TestChosen checks that a regular expression selects cases, and that only their inputs are written.
func TestChosen(t *testing.T) {
	for expr, want := range map[string][]string{
		"Files":       {"madeup.files", "madeup.files.txt"},
		"Pack.*none":  {"madeup.rbp", "madeup.rbp.urls.zst"},
		"Load.*=real": {"data=real,order=grouped,frames=1.zst", "real.jsonl.zst"},
		"^$":          nil,
	} {
		dir := t.TempDir()
		l := lab{dir: dir, spec: madeup.Spec{Origins: 10, URLs: 100}, wanted: regexp.MustCompile(expr)}
		l.addTrials()
		if err := l.prepare(); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range entries {
			got = append(got, e.Name())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: prepared %q, want %q", expr, got, want)
		}
	}
	if err := run(t.Context(), []string{"-bench", "("}); err == nil || !strings.Contains(err.Error(), "-bench") {
		t.Errorf("error %v", err)
	}
}
