package main

import (
	"testing"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/robots"
)

// TestAgreement holds that robobatch and its reference agree on all lines of all workloads, and
// that the others are asked rightly: they agree on nearly all.
func TestAgreement(t *testing.T) {
	corpus, err := corpus.Find(".")
	if err != nil {
		t.Fatal(err)
	}
	works, err := workloads(corpus, sizes{lines: 4000, origins: 500})
	if err != nil {
		t.Fatal(err)
	}
	cases, err := allCases(works, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if want := len(works) * (2 + len(libraries)); len(cases) != want {
		t.Fatalf("%d cases, want %d", len(cases), want)
	}
	exact := map[string]bool{}
	for _, w := range works {
		exact["Peer/w="+w.name+"/lib=robobatch"], exact["Peer/w="+w.name+"/lib=robobatch-reference"] = true, true
	}
	for _, c := range cases {
		s, err := c.Run()
		if err != nil || s.Units == 0 {
			t.Fatalf("%s: %d lines: %v", c.Name, s.Units, err)
		}
		for _, m := range s.Extra {
			if m.Unit == "agree-%" && (m.Value < 98 || exact[c.Name] && m.Value != 100) {
				t.Errorf("%s agrees on %g %% of the lines", c.Name, m.Value)
			}
		}
	}
}

// TestVerdicts holds that all libraries tell allowed from denied, and find files by any spelling of
// an origin.
func TestVerdicts(t *testing.T) {
	w := workload{"", "https://a.test/x/1\nhttps://A.test:443/x#/\nhttps://a.test?/x\nhttps://a.test/xy/\nhttp://a.test/x\n", nil}
	w.bodies = map[robots.Origin][]byte{"https://a.test": []byte("User-agent: *\nDisallow: /x\nAllow: /xy\n")}
	want := []verdict{denied, denied, allowed, allowed, noRules}
	for _, lib := range libraries {
		a, err := newAsker(lib, w)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range a.verdicts(w) {
			if got != want[i] {
				t.Errorf("%s: line %d is %d, want %d", lib.name, i+1, got, want[i])
			}
		}
	}
	if m := agreement(want, want); m[0].Value != 100 {
		t.Errorf("agreement of equals: %v", m)
	}
}
