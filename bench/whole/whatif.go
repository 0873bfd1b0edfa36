package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/robobatch/robobatch/bench/internal/madeup"
	"github.com/robobatch/robobatch/internal/measure"
	"github.com/robobatch/robobatch/robots"
)

// A question is a command that is compared with a run of the main job on the same log.
type question struct {
	name    string
	plain   []string // of the main job
	command []string
}

// questions are the questions of docs/LOG.md. The dots are where the old rules are named.
var questions = []question{
	{"diff", []string{"-agent", "*,Googlebot,GPTBot", "-columns", "line,allowed,rule_line"}, []string{"diff", "-agent", "*,Googlebot,GPTBot", "-old", "..."}},
	{"coverage", nil, []string{"coverage"}},
	{"report", []string{"-columns", "line,input,url,origin,agent,allowed,reason,rule_line,rule,canonical_url,binding"}, []string{"report", "-out", os.DevNull}},
}

// whatIf are the questions, asked of the corpus's log and its other orders, several times in one file, or
// once with several endings of each URL, with the corpus's rules in a pack. Each tells how many times the CPU time of the main job it took:
// the least of all rounds, of either.
func (l *lab) whatIf() (all []trial) {
	rules := input{filepath.Join(l.dir, "whatif.jsonl.zst"), nil}
	rules.write = func(m *maker) error { return madeup.WriteRules(rules.path, m.corpus.Rules) }
	old := input{filepath.Join(l.dir, "whatif-old.jsonl.zst"), nil}
	old.write = func(m *maker) error {
		return madeup.WriteRules(old.path, func(yield func(robots.Response, error) bool) {
			n := 0
			for r, err := range m.corpus.Rules {
				if n++; n%50 == 7 {
					r.Body = slices.Concat([]byte("User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow: /*a*e\n\n"), r.Body)
				}
				if !yield(r, err) {
					return
				}
			}
		})
	}
	for i, order := range []string{"real", "shuffled", "synth", "distinct"} {
		isDistinct := order == "distinct"
		log := repeatedLog{order, 1, filepath.Join(l.dir, "whatif-"+order+".zst"), isDistinct}
		if isDistinct {
			i = 0
		}
		in := input{log.path, func(m *maker) error { return repeatLog(log, m.corpus.Logs[min(i, len(m.corpus.Logs)-1)], l.copies) }}
		for _, q := range questions {
			if isDistinct && q.name != "report" { // which alone does more for a URL that is new
				continue
			}
			var plain, least measure.Sample
			run := func() (s measure.Sample, err error) {
				s, err = l.ask(q.plain, rules.path, old.path, log.path)
				plain = lesser(plain, s)
				return s, err
			}
			ask := func() (s measure.Sample, err error) {
				s, err = l.ask(q.command, rules.path, old.path, log.path)
				s.Units, s.Bytes = plain.Units, plain.Bytes
				if least = lesser(least, s); err == nil {
					s.Extra = append(s.Extra, measure.Metric{Value: least.CPU.Seconds() / plain.CPU.Seconds(), Unit: "least-cpu/run"})
				}
				return s, err
			}
			inputs := []input{in, rules, old}
			all = append(all, trial{measure.Case{Name: "WhatIf/log=" + order + "/command=" + q.name + "/part=run", Unit: "url", Run: run}, inputs},
				trial{measure.Case{Name: "WhatIf/log=" + order + "/command=" + q.name, Unit: "url", Run: ask}, inputs})
		}
	}
	return all
}

// lesser returns the sample that took less CPU time; the first may be empty.
func lesser(a, b measure.Sample) measure.Sample {
	if a.CPU == 0 || b.CPU < a.CPU {
		return b
	}
	return a
}

// ask runs a command, or the main job, on packs, by one worker.
func (l *lab) ask(arguments []string, rules, old, log string) (s measure.Sample, err error) {
	packs := make([]string, 2)
	for i, captures := range []string{rules, old} {
		packs[i] = captures + ".rbp"
		if err := l.compile(l.binary, captures, packs[i]); err != nil {
			return s, err
		}
	}
	arguments = slices.Clone(arguments)
	if i := slices.Index(arguments, "..."); i >= 0 {
		arguments[i] = packs[1]
	}
	if len(arguments) == 0 || arguments[0][0] == '-' {
		s, r, err := l.exec(packs[0], log, 1, arguments...)
		s.Units, s.Bytes = r.Counts.URLs, r.Counts.URLBytes
		return s, err
	}
	cmd := exec.CommandContext(l.ctx, l.binary, append(arguments, "-rules", packs[0], "-in", log, "-workers", "1", "-progress", "off")...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	return measure.Exec(cmd)
}
