//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// answered returns what a run would say that reads a text as it should be read.
func answered(b *base) *result {
	res := &result{rows: append([]row(nil), b.rows...)}
	res.stats.Counts.URLs = int64(len(b.rows))
	return res
}

// TestJudgeText holds that rows that are wrong, missing, twice or out of order do not pass, nor lines
// that nobody counts; and that a warning excuses them, and what was not verified.
func TestJudgeText(t *testing.T) {
	a := &attack{ctx: context.Background(), oracle: newOracle()}
	for i := range textFormats {
		f := &textFormats[i]
		b := a.textBase(f, a.random(f.name, 0), 20)
		judge := func(change func(res *result)) judgement {
			res := answered(b)
			res.stats.Counts.HeaderLines = int64(strings.Count(f.head, "\n"))
			if f.quoted || f.name == "tsv" {
				res.stats.Counts.HeaderLines = 1
			}
			change(res)
			j, _ := a.judgeText(f, b, b.data, res)
			return j
		}
		allowed := false
		for _, tt := range []struct {
			name   string
			change func(res *result)
			want   judgement
		}{
			{"none", func(*result) {}, whole},
			{"another URL", func(res *result) { res.rows[3].URL += "x" }, wrong},
			{"another answer", func(res *result) { res.rows[3].Rule = new(int64) }, wrong},
			{"another line", func(res *result) { res.rows[3].Line++ }, wrong},
			{"a row twice", func(res *result) { res.rows = append(res.rows, res.rows[19]) }, wrong},
			{"a row is missing", func(res *result) { res.rows = append(res.rows[:3], res.rows[4:]...) }, wrong},
			{"a row that nobody wrote", func(res *result) {
				res.rows = append(res.rows, row{1000, "https://example.com/", &allowed, nil})
			}, wrong},
			{"a row is missing, with a warning", func(res *result) {
				res.rows, res.stderr = res.rows[:3], "robobatch: warning: some are missing"
			}, warned},
			{"rows before a fault", func(res *result) { res.rows, res.code = res.rows[:3], 2 }, refused},
			{"a wrong row before a fault", func(res *result) {
				res.rows, res.code = res.rows[:3], 2
				res.rows[2].URL += "x"
			}, wrong},
			{"a wrong row before a fault, said not to be verified", func(res *result) {
				res.rows, res.code, res.stderr = res.rows[:3], 2, "robobatch: nothing has verified those from line 3 on"
				res.rows[2].URL += "x"
				res.stats.Unverified = &unverified{FromLine: res.rows[2].Line}
			}, refused},
			{"a wrong row before those that are not verified", func(res *result) {
				res.rows, res.code, res.stderr = res.rows[:3], 2, "robobatch: nothing has verified those from line 3 on"
				res.rows[1].URL += "x"
				res.stats.Unverified = &unverified{FromLine: res.rows[2].Line}
			}, wrong},
		} {
			if got := judge(tt.change); got != tt.want {
				t.Errorf("%s, %s: %s, want %s", f.name, tt.name, judgements[got], judgements[tt.want])
			}
		}
		if got := judge(func(res *result) { res.stats.Counts.URLs-- }); got != wrong && !f.quoted {
			t.Errorf("%s, a line that nobody counts: %s", f.name, judgements[got])
		}
	}
}

// TestJudgeJoined holds that a part behind a text does not pass as read if its rows have no verdicts.
func TestJudgeJoined(t *testing.T) {
	a := &attack{ctx: context.Background(), oracle: newOracle()}
	b := a.textBase(&textFormats[0], a.random("joined", 0), 20)
	res := answered(b)
	res.rows = append(res.rows, row{Line: 21, URL: "\u6874\u7470"})
	if got, _ := judgeJoined(b, res, readOrSay); got != wrong {
		t.Errorf("a row without a verdict: %s", judgements[got])
	}
	res.rows[20] = b.rows[3]
	if got, reason := judgeJoined(b, res, readOrSay); got != whole {
		t.Errorf("a row more: %s: %s", judgements[got], reason)
	}
	res.rows = res.rows[:20]
	res.stderr = "robobatch: warning: another encoding"
	if got, _ := judgeJoined(b, res, readOrSay); got != warned {
		t.Errorf("no row more, and a warning: %s", judgements[got])
	}
}

// TestJudgePacked holds that damage which the strict reader sees does not pass in silence, and that
// wrong rows before it do not either.
func TestJudgePacked(t *testing.T) {
	a := &attack{ctx: context.Background(), oracle: newOracle()}
	f, p := &textFormats[0], &packings[0]
	b := a.textBase(f, a.random("gz", 0), 20)
	data, err := p.pack(pieces(b.data, 3))
	if err != nil {
		t.Fatal(err)
	}
	b.text, b.data = b.data, data
	damaged := bytes.Clone(data)
	damaged[len(damaged)-6] ^= 1 // the checksum
	for _, tt := range []struct {
		name string
		data []byte
		code int
		url  string
		want judgement
	}{
		{"no damage", data, 0, b.rows[0].URL, whole},
		{"no damage, and a wrong row", data, 0, "https://e.example/x", wrong},
		{"a wrong checksum, nothing said, and all rows true", damaged, 0, b.rows[0].URL, whole},
		{"a wrong checksum, nothing said, and a wrong row", damaged, 0, "https://e.example/x", wrong},
		{"a wrong checksum", damaged, 2, b.rows[0].URL, refused},
		{"a wrong checksum, and a wrong row", damaged, 2, "https://e.example/x", wrong},
	} {
		res := answered(b)
		res.code = tt.code
		res.rows[0] = a.oracle.decide(1, []byte(tt.url))
		if got, reason := a.judgePacked(f, p, b, tt.data, res); got != tt.want {
			t.Errorf("%s: %s, want %s: %s", tt.name, judgements[got], judgements[tt.want], reason)
		}
	}
}

// TestJudgeScene holds what a run that was disturbed may leave.
func TestJudgeScene(t *testing.T) {
	const made = "made"
	v := &victim{name: "x", outs: []string{"out/x"}, want: map[string]string{"out/x": hash([]byte(made))}}
	for _, tt := range []struct {
		name  string
		files map[string]string
		older bool
		code  int
		rule  traceRule
		want  judgement
	}{
		{"complete", map[string]string{"out/x": made}, false, 0, noTemps, whole},
		{"nothing", nil, false, 2, noTemps, refused},
		{"nothing, and no word", nil, false, 0, noTemps, wrong},
		{"a part", map[string]string{"out/x": "ma"}, false, 2, noTemps, wrong},
		{"a part, as far as it goes", map[string]string{"out/x.partial": "ma"}, false, 2, noTemps, refused},
		{"the older one", map[string]string{"out/x": oldText}, true, 2, noTemps, refused},
		{"the older one is gone", nil, true, 2, noTemps, wrong},
		{"a temporary file", map[string]string{"out/.x.tmp": "ma"}, false, -1, temps, refused},
		{"a temporary file of a run that could remove it", map[string]string{"out/.x.tmp": "ma"}, false, 143, noTemps, wrong},
	} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "out"), 0o777); err != nil {
			t.Fatal(err)
		}
		for name, text := range tt.files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got, reason := judgeScene(v, dir, tt.older, tt.code, tt.rule); got != tt.want {
			t.Errorf("%s: %s, want %s: %s", tt.name, judgements[got], judgements[tt.want], reason)
		}
	}
}

// TestMutations holds that a mutation leaves its input alone, and depends on the seed alone.
func TestMutations(t *testing.T) {
	a := &attack{ctx: context.Background(), oracle: newOracle()}
	b := a.textBase(&textFormats[3], a.random("csv", 0), 20)
	other := a.textBase(&textFormats[3], a.random("csv", 1), 20)
	before := bytes.Clone(b.data)
	for _, m := range mutations {
		changed := false
		for i := range 20 {
			one, two := m.damage(a.random(m.name, i), b.data, other.data), m.damage(a.random(m.name, i), b.data, other.data)
			if !bytes.Equal(one, two) || !bytes.Equal(b.data, before) {
				t.Fatalf("%s: not the same again, or its input is changed", m.name)
			}
			changed = changed || !bytes.Equal(one, before)
		}
		if !changed {
			t.Errorf("%s changes nothing", m.name)
		}
	}
}

// TestSaysURL holds that the path and the query of a URL may stand apart in its line, wherever the
// question mark between them is, and that neither may be missing.
func TestSaysURL(t *testing.T) {
	line := []byte("2025-10-10 01:40:17 10.0.0.1 GET /f/p11+\x1f\x8eQ?\x92\xe6q q=870&lang=de 443 - Mozilla/5.0+(bot) 200 771")
	for _, tt := range []struct {
		url  string
		want bool
	}{
		{site + "/f/p11+\x1f%8EQ?%92%E6q?q=870&lang=de", true},
		{site + "/f/p11+\x1f%8EQ?%92%E6q", true},
		{site + "/f/p11+\x1f%8EQ?%92%E6q?q=871&lang=de", false},
		{site + "/f/p12+\x1f%8EQ?%92%E6q?q=870&lang=de", false},
		{site + "/g/p11?q=870&lang=de", false},
	} {
		if got := saysURL(&textFormats[5], line, tt.url); got != tt.want {
			t.Errorf("%q: %t", tt.url, got)
		}
	}
}

// TestJudgeAlone holds that answers of commands that take rules alone do not pass if they are wrong or missing, and
// that what is not compared must be said.
func TestJudgeAlone(t *testing.T) {
	urls := []string{site + "/a", site + "/b"}
	l := &lonely{data: []byte("User-agent: *\nDisallow: /a\n"), other: []byte("User-agent: *\n")}
	l.asked, l.then = answers(l.data, urls), answers(l.other, urls)
	const a, b = `{"url": "https://www.example.com/a", "allowed": false, "rule_line": 2}`, `{"url": "https://www.example.com/b", "allowed": true, "rule_line": null}`
	for _, tt := range []struct {
		name string
		of   func(l *lonely, out []byte, code int) (judgement, string)
		out  string
		code int
		want judgement
	}{
		{"a change", judgeDiff, `{"tried": {}, "agents": [{"agent": "*", "closed": {"requests": 1}}]}`, 0, whole},
		{"another change", judgeDiff, `{"tried": {}, "agents": [{"agent": "*", "opened": {"requests": 1}}]}`, 0, wrong},
		{"no change", judgeDiff, `{"tried": {}, "agents": [{"agent": "*"}]}`, 0, wrong},
		{"not all paths", judgeDiff, `{"tried": {"cut_origins": 1}, "agents": [{"agent": "*"}]}`, 0, warned},
		{"not all crawlers", judgeDiff, `{"tried": {"agents_cut": true}, "agents": [{"agent": "*"}]}`, 0, warned},
		{"half a report", judgeDiff, `{"tried": {}, "agents": [`, 0, wrong},
		{"answers", judgeExplain, a + "\n" + b + "\n", 0, whole},
		{"answers in another order", judgeExplain, b + "\n" + a + "\n", 0, wrong},
		{"one answer", judgeExplain, a + "\n", 0, wrong},
		{"an answer too many", judgeExplain, a + "\n" + b + "\n" + b + "\n", 0, wrong},
		{"a finding", judgeLint, `{"line": 2}`, 0, whole},
		{"a finding behind the file", judgeLint, `{"line": 9}`, 0, wrong},
		{"what holds", judgeCheck, "", 0, whole},
		{"what does not hold", judgeCheck, "", 1, wrong},
		{"a rule", judgeListing, `{"item": "disallow", "line": 2}`, 0, whole},
		{"another rule", judgeListing, `{"item": "disallow", "line": 3}`, 0, wrong},
		{"no rule", judgeListing, `{"item": "group", "line": null}`, 0, wrong},
	} {
		if got, reason := tt.of(l, []byte(tt.out), tt.code); got != tt.want {
			t.Errorf("%s: %s, want %s: %s", tt.name, judgements[got], judgements[tt.want], reason)
		}
	}
}

// TestMain makes this binary the slow reader, too.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "-slowly" {
		if err := readSlowly(); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// TestPool holds that a process that stays answers one question after the other, as many processes do at once, and that
// one that ends without an answer is an error, after which another one answers.
func TestPool(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a := &attack{ctx: t.Context(), oracle: newOracle(), slow: newPool(2, t.TempDir(), self, "-slowly")}
	defer a.slow.close()
	b := a.newBase(a.random("pool", 0), 30, false)
	if b.data, err = arrowStream(b); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		rows, err := a.slowly("arrow", b.data)
		if err != nil || len(rows) != len(b.rows) || rows[7].URL != b.rows[7].URL {
			t.Fatalf("question %d: %d rows, %v", i, len(rows), err)
		}
		if _, err := a.slowly("parquet", b.data); err == nil {
			t.Fatalf("question %d: no fault", i)
		}
	}
	if n := len(a.slow.idle); n != 1 {
		t.Errorf("%d processes for one question at a time", n)
	}
	s := <-a.slow.idle
	s.cmd.Process.Kill()
	a.slow.idle <- s
	if _, err := a.slowly("arrow", b.data); err == nil || !strings.Contains(err.Error(), "ended, with exit code -1") {
		t.Errorf("the error of a process that was killed: %v", err)
	}
	if rows, err := a.slowly("arrow", b.data); err != nil || len(rows) != len(b.rows) {
		t.Errorf("after that: %d rows, %v", len(rows), err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, _, err := newPool(1, t.TempDir(), "sleep", "1000").ask(stopped, slowRun{}, new(reading)); err == nil {
		t.Error("no error, and nobody waits")
	}
}
