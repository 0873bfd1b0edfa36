package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/bench/internal/madeup"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/measure"
	"github.com/robobatch/robobatch/robots"
)

// files measures loading a directory with one file per origin in wall time, compared with reading the same files one by
// one.
func (l *lab) files(spec madeup.Spec) []trial {
	dir := filepath.Join(l.dir, "madeup.files")
	in := input{dir, func(m *maker) error { return madeup.WriteRules(dir, m.made.Responses()) }}
	one := input{dir + ".txt", func(*maker) error { return os.WriteFile(dir+".txt", []byte("https://www.example.com/\n"), 0o600) }}
	name := fmt.Sprintf("Files/data=madeup/origins=%d/workers=2", spec.Origins)
	run := func() (measure.Sample, error) {
		// Read the files, have cat read them if that command exists, and run the command on one URL. The metrics are
		// the times of each, and the ratios of the command's wall and CPU time.
		var s measure.Sample
		var err error
		names, err := filepath.Glob(filepath.Join(dir, "*")) // in the order of a shell
		if err != nil {
			return s, err
		}
		read, err := measure.Here(func() (measure.Work, error) { return measure.Work{}, readFiles(names) })()
		if err != nil {
			return s, err
		}
		cat, err := l.cat(names)
		if err != nil {
			return s, err
		}
		s, r, err := l.exec(dir, one.path, 2)
		s.Units = r.Rules.Patterns
		for _, other := range []struct {
			name string
			took measure.Sample
		}{{"read", read}, {"cat", cat}} {
			if wall := other.took.Wall; wall > 0 {
				s.Extra = append(s.Extra, measure.Metric{Value: wall.Seconds() * 1e3, Unit: other.name + "-ms"},
					measure.Metric{Value: s.Wall.Seconds() / wall.Seconds(), Unit: "load/" + other.name})
			}
			if cpu := other.took.CPU; cpu > 0 {
				s.Extra = append(s.Extra, measure.Metric{Value: s.CPU.Seconds() / cpu.Seconds(), Unit: "cpu/" + other.name})
			}
		}
		return s, err
	}
	return []trial{{measure.Case{Name: name, Unit: "rule", Run: run}, []input{in, one}}}
}

// readFiles opens, reads and closes each of the files.
func readFiles(names []string) error {
	buf := make([]byte, 128<<10)
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		for err == nil {
			_, err = f.Read(buf)
		}
		f.Close() //nolint:errcheck // only read
		if err != io.EOF {
			return err
		}
	}
	return nil
}

// cat reads the files with the command cat. Without files it takes no time.
func (l *lab) cat(names []string) (s measure.Sample, err error) {
	for _, tool := range []string{"xargs", "cat"} {
		if _, err := exec.LookPath(tool); err != nil {
			return s, nil //nolint:nilerr // what it takes is left out of the results
		}
	}
	cmd := exec.CommandContext(l.ctx, "xargs", "-0", "cat") // its output is discarded
	cmd.Stdin = strings.NewReader(strings.Join(names, "\x00") + "\x00")
	return measure.Exec(cmd)
}

// memories are the memory limits of runs with packs: none, robobatch's default, and a small one. The others are
// compared with the first.
var memories = []string{"none", "", "256MiB"}

// packs are runs with the rules of a pack on a log that has each origin once in random order, which is the hardest case
// with a memory limit.
func (l *lab) packs(spec madeup.Spec) (all []trial) {
	path := filepath.Join(l.dir, "madeup.rbp")
	in := input{path, func(m *maker) error { return writePack(path, m.made) }}
	log := input{path + ".urls.zst", func(m *maker) error {
		each := m.spec
		each.URLs, each.Even = int64(each.Origins), true
		g, err := madeup.New(m.corpus, each)
		if err != nil {
			return err
		}
		return madeup.WriteFile(path+".urls.zst", func(w io.Writer) error { return g.WriteLog(w, madeup.Shuffled, 1) })
	}}
	for _, memory := range memories {
		name := fmt.Sprintf("Pack/data=madeup/origins=%d/memory=%s/workers=2", spec.Origins, cmp.Or(memory, "default"))
		run := func() (measure.Sample, error) { return l.pack(path, log.path, memory) }
		all = append(all, trial{measure.Case{Name: name, Unit: "url", Run: run}, []input{in, log}})
	}
	return all
}

// writePack compiles the generated rules in the command's default dialect.
func writePack(path string, g *madeup.Generator) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = engine.WritePack(context.Background(), f, g.Responses(), engine.PackOptions{Dialect: robots.Google, TempDir: filepath.Dir(path)})
	return err
}

// pack runs the command with the rules of a pack and a memory limit. It reports the time until the pack was ready, and
// the ratio of the CPU time to that of the run without a limit.
func (l *lab) pack(rules, log, memory string) (measure.Sample, error) {
	var limit []string
	if memory != "" {
		limit = []string{"-max-memory", memory}
	}
	s, r, err := l.exec(rules, log, 2, limit...)
	s.Units, s.Bytes = r.Counts.URLs, r.Counts.URLBytes
	s.Extra = []measure.Metric{{Value: r.Run.RulesSeconds * 1e3, Unit: "ready-ms"}, {Value: r.Run.RulesCPU * 1e3, Unit: "ready-cpu-ms"}}
	if memory == memories[0] {
		l.unlimited = s.CPU
	} else if l.unlimited > 0 {
		s.Extra = append(s.Extra, measure.Metric{Value: s.CPU.Seconds() / l.unlimited.Seconds(), Unit: "cpu/none"})
	}
	return s, err
}

// A question is a command that is compared with a run on the same log.
type question struct {
	name    string
	plain   []string // flags of the run
	command []string
}

// questions are the questions of docs/LOG.md. The dots stand for the old rules.
var questions = []question{
	{"diff", []string{"-agent", "*,Googlebot,GPTBot", "-columns", "line,allowed,rule_line"}, []string{"diff", "-agent", "*,Googlebot,GPTBot", "-old", "..."}},
	{"coverage", nil, []string{"coverage"}},
	{"report", []string{"-columns", "line,input,url,origin,agent,allowed,reason,rule_line,rule,canonical_url,binding"}, []string{"report", "-out", os.DevNull}},
}

// whatIf runs the questions on the corpus's log and its other orders, several times in one file, or once with several
// endings of each URL, with the corpus's rules in a pack. Each reports the ratio of its CPU time to that of the run,
// both the least of all rounds.
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
			if isDistinct && q.name != "report" { // only report does more work for a distinct URL
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

// lesser returns the sample with less CPU time. The first may be empty.
func lesser(a, b measure.Sample) measure.Sample {
	if a.CPU == 0 || b.CPU < a.CPU {
		return b
	}
	return a
}

// ask runs a question's command, or the run that it is compared with, with packs and one worker.
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
