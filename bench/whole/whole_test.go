package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/bench"
	"github.com/robobatch/robobatch/bench/measure"
)

// TestCases holds that each case runs the command and tells what it took, without the rules.
func TestCases(t *testing.T) {
	dir := t.TempDir()
	r := request{spec: bench.Spec{Origins: 100, URLs: 20_000, Aimed: 25}}
	if err := r.prepare(dir); err != nil {
		t.Fatal(err)
	}
	l := lab{ctx: t.Context(), dir: dir, binary: filepath.Join(dir, "robobatch")}
	if text, err := exec.Command("go", "build", "-o", l.binary, "github.com/robobatch/robobatch/cmd/robobatch").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	var out bytes.Buffer
	cases := l.cases(logs(dir))
	if err := measure.Rounds(t.Context(), &out, 1, cases); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Count(out.String(), "\n"), 2*(2+5*2); got != want || len(cases) != want {
		t.Errorf("%d lines, %d cases, want %d", got, len(cases), want)
	}
	for _, name := range []string{"Load/data=real/workers=1", "Whole/data=madeup/order=shuffled/frames=8/url=true/workers=2"} {
		if !strings.Contains(out.String(), "Benchmark"+name+"\t") {
			t.Errorf("no %s in\n%s", name, &out)
		}
	}
	for _, f := range logs(dir) {
		s, err := l.whole(f, 2, false)
		if err != nil || s.Units < 20_000 || s.Bytes < 50*s.Units {
			t.Errorf("%s: %d URLs of %d bytes: %v", f.name(), s.Units, s.Bytes, err)
		}
	}
}
