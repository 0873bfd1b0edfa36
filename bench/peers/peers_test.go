package main

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/robots"
)

// TestAgreement checks that robobatch and its reference agree on all lines of all workloads, and that the other
// libraries are called correctly: they agree on nearly all lines.
func TestAgreement(t *testing.T) {
	corpus, err := corpus.Find(".")
	if err != nil {
		t.Fatal(err)
	}
	works, err := workloads(corpus, 4000, 500)
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

// TestVerdicts checks that all libraries allow and disallow, and find files by any spelling of an origin.
func TestVerdicts(t *testing.T) {
	w := workload{"", "https://a.test/x/1\nhttps://A.test:443/x#/\nhttps://a.test?/x\nhttps://a.test/xy/\nhttp://a.test/x\n", nil}
	w.bodies = map[robots.Origin][]byte{"https://a.test": []byte("User-agent: *\nDisallow: /x\nAllow: /xy\n")}
	want := []verdict{denied, denied, allowed, allowed, noRules}
	for _, lib := range libraries {
		a, err := newAsker(lib, w)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range a.decideLines(w) {
			if got != want[i] {
				t.Errorf("%s: line %d is %d, want %d", lib.name, i+1, got, want[i])
			}
		}
	}
	if m := agreement(want, want); m[0].Value != 100 {
		t.Errorf("agreement of equals: %v", m)
	}
}

// TestAnswers checks that the libraries answer cases with the crawler's group.
func TestAnswers(t *testing.T) {
	var in strings.Builder
	for _, texts := range [][3]string{
		{"User-agent: Foo\nDisallow: /x\n", "Foo", "http://a.test/x"},
		{"User-agent: Foo\nDisallow: /x\n", "Bar", "http://a.test/x"},
		{"", "Bar", "http://a.test"},
	} {
		fmt.Fprintf(&in, "%x\t%x\t%x\n", texts[0], texts[1], texts[2])
	}
	for _, name := range []string{"robobatch-reference", "robobatch-rfc9309", "grobotstxt", "temoto-robotstxt", "benjaminestes-robots"} {
		var out strings.Builder
		if err := writeAnswers(strings.NewReader(in.String()), &out, name); err != nil || out.String() != "0\n1\n1\n" {
			t.Errorf("%s answers %q: %v", name, out.String(), err)
		}
	}
	for _, tt := range [][2]string{{"nobody", ""}, {"grobotstxt", "x\n"}} {
		if err := writeAnswers(strings.NewReader(tt[1]), io.Discard, tt[0]); err == nil {
			t.Errorf("%q answers %q", tt[0], tt[1])
		}
	}
}
