package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/bench/internal/madeup"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/measure"
	"github.com/robobatch/robobatch/robots"
)

// addFiles adds loading a directory with one file per origin, also as ratios to the wall and CPU time of reading the
// same files one by one.
func (l *lab) addFiles() {
	dir := input{filepath.Join(l.dir, "madeup.files"), func(path string, _ *corpus.Corpus, made *madeup.Generator) error {
		return madeup.WriteRules(path, made.Responses())
	}}
	one := input{dir.path + ".txt", func(path string, _ *corpus.Corpus, _ *madeup.Generator) error {
		return os.WriteFile(path, []byte("https://www.example.com/\n"), 0o600)
	}}
	l.addCase(fmt.Sprintf("Files/data=madeup/origins=%d/workers=2", l.spec.Origins), "rule", []input{dir, one}, func() (s measure.Sample, err error) {
		names, err := filepath.Glob(filepath.Join(dir.path, "*")) // in the order of a shell
		if err != nil {
			return s, err
		}
		read, err := measure.Here(func() (work measure.Work, err error) {
			buf := make([]byte, 128<<10)
			for _, name := range names {
				f, err := os.Open(name)
				if err != nil {
					return work, err
				}
				for err == nil {
					_, err = f.Read(buf)
				}
				f.Close() //nolint:errcheck // only read
				if err != io.EOF {
					return work, err
				}
			}
			return work, nil
		})()
		if err != nil {
			return s, err
		}
		s, r, err := l.runCommand(dir.path, one.path, 2)
		s.Units, s.Bytes = r.Rules.Patterns, 0
		s.Extra = []measure.Metric{{Value: read.Wall.Seconds() * 1e3, Unit: "read-ms"}, {Value: ratio(s.Wall, read.Wall), Unit: "load/read"}, {Value: ratio(s.CPU, read.CPU), Unit: "cpu/read"}}
		return s, err
	})
}

func ratio(a, b time.Duration) float64 { return a.Seconds() / b.Seconds() }

// addPacks adds runs with the rules of a pack on a log that has each origin once in random order, which is the hardest
// case with a memory limit: without a limit, with robobatch's default, and with a small one. They report the time until
// the pack was ready, and the ratio of the CPU time to that of the run without a limit.
func (l *lab) addPacks() {
	pack := input{filepath.Join(l.dir, "madeup.rbp"), func(path string, _ *corpus.Corpus, made *madeup.Generator) error {
		return madeup.WritePack(path, made.Responses())
	}}
	log := input{pack.path + ".urls.zst", func(path string, src *corpus.Corpus, _ *madeup.Generator) error {
		each := l.spec
		each.URLs, each.Even = int64(each.Origins), true
		g, err := madeup.New(src, each)
		if err != nil {
			return err
		}
		return madeup.WriteFile(path, func(w io.Writer) error { return g.WriteLog(w, madeup.Shuffled, 1) })
	}}
	var unlimited time.Duration // CPU time of the last run without a limit
	for _, memory := range []string{"none", "", "256MiB"} {
		name := fmt.Sprintf("Pack/data=madeup/origins=%d/memory=%s/workers=2", l.spec.Origins, cmp.Or(memory, "default"))
		l.addCase(name, "url", []input{pack, log}, func() (measure.Sample, error) {
			var limit []string
			if memory != "" {
				limit = []string{"-max-memory", memory}
			}
			s, r, err := l.runCommand(pack.path, log.path, 2, limit...)
			s.Extra = []measure.Metric{{Value: r.Run.RulesSeconds * 1e3, Unit: "ready-ms"}, {Value: r.Run.RulesCPU * 1e3, Unit: "ready-cpu-ms"}}
			if memory == "none" {
				unlimited = s.CPU
			} else if unlimited > 0 {
				s.Extra = append(s.Extra, measure.Metric{Value: ratio(s.CPU, unlimited), Unit: "cpu/none"})
			}
			return s, err
		})
	}
}

// addRepeated adds runs on copies of the corpus's log and its other orders, with one and two workers and the rules in a
// pack. Their CPU and wall times are also reported as ratios to runs of the same round: that only decompress the log,
// of the command of -base, and with one worker.
func (l *lab) addRepeated() {
	rules := l.rulesInput("real")
	took := map[string]measure.Sample{} // by name, in this round
	for i, order := range []string{"real", "shuffled"} {
		for _, frames := range []int{1, l.copies} {
			log := l.repeatedInput(i, frames, false)
			unpack := "Unpack/log=" + order
			if frames == 1 {
				l.addCase(unpack, "url", []input{log}, func() (measure.Sample, error) {
					s, err := measure.Here(func() (measure.Work, error) {
						lines, err := ingest.CountLines([]string{log.path}, ingest.LogOptions{})
						return measure.Work{Units: lines}, err
					})()
					took[unpack] = s
					return s, err
				})
			} else {
				unpack = "" // not measured
			}
			for _, workers := range []int{1, 2} {
				for _, url := range []bool{false, true} {
					head := fmt.Sprintf("Repeated/log=%s/frames=%d/url=%t/workers=", order, frames, url)
					name, alone := fmt.Sprint(head, workers), head+"1"
					base := name + "/binary=base"
					if l.base != "" && workers == 1 && frames == 1 {
						l.addCase(base, "url", []input{log, rules}, func() (measure.Sample, error) {
							other := *l
							other.binary = l.base
							s, err := other.runPacked(rules.path, "-base.rbp", log.path, workers, url)
							took[base] = s
							s.Extra = compareTimes(s, took[unpack], "unpack")
							return s, err
						})
					}
					l.addCase(name, "url", []input{log, rules}, func() (measure.Sample, error) {
						s, err := l.runPacked(rules.path, ".rbp", log.path, workers, url)
						took[name] = s
						s.Extra = append(compareTimes(s, took[unpack], "unpack"), compareTimes(s, took[base], "base")...)
						if workers > 1 {
							s.Extra = append(s.Extra, compareTimes(s, took[alone], "alone")...)
						}
						return s, err
					})
				}
			}
		}
	}
}

// runPacked is like runWhole, with the rules compiled to a pack, whose name is that of the rules with the suffix.
func (l *lab) runPacked(rules, suffix, log string, workers int, url bool) (measure.Sample, error) {
	if err := l.compilePack(l.binary, rules, rules+suffix); err != nil {
		return measure.Sample{}, err
	}
	return l.runWhole(rules+suffix, log, workers, url)
}

// compareTimes returns the ratios of CPU and wall time to those of another run; nil if that was not measured.
func compareTimes(s, other measure.Sample, name string) []measure.Metric {
	if other.CPU == 0 {
		return nil
	}
	return []measure.Metric{{Value: ratio(s.CPU, other.CPU), Unit: "cpu/" + name}, {Value: ratio(s.Wall, other.Wall), Unit: "wall/" + name}}
}

// addWhatIf adds the questions of docs/LOG.md, on the corpus's log and its other orders, several times in one file, or
// once with several endings of each URL, with the corpus's rules in a pack and one worker. Each reports the ratio of
// its CPU time to that of a run on the same log, both the least of all rounds.
func (l *lab) addWhatIf() {
	rules := l.rulesInput("real")
	old := input{filepath.Join(l.dir, "old.jsonl.zst"), func(path string, src *corpus.Corpus, _ *madeup.Generator) error {
		return madeup.WriteRules(path, func(yield func(robots.Response, error) bool) {
			n := 0
			for r, err := range src.Rules {
				if n++; n%50 == 7 {
					r.Body = slices.Concat([]byte("User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow: /*a*e\n\n"), r.Body)
				}
				if !yield(r, err) {
					return
				}
			}
		})
	}}
	pack, oldPack := rules.path+".rbp", old.path+".rbp"
	questions := []struct {
		name    string
		run     []string // flags of the run
		command []string
	}{
		{"diff", []string{"-agent", "*,Googlebot,GPTBot", "-columns", "line,allowed,rule_line"}, []string{"diff", "-agent", "*,Googlebot,GPTBot", "-old", oldPack}},
		{"coverage", nil, []string{"coverage"}},
		{"report", []string{"-columns", "line,input,url,origin,agent,allowed,reason,rule_line,rule,canonical_url,binding"}, []string{"report", "-out", os.DevNull}},
	}
	for i, order := range []string{"real", "shuffled", "synth", "distinct"} {
		isDistinct := order == "distinct"
		log := l.repeatedInput(i%3, 1, isDistinct)
		for _, q := range questions {
			if isDistinct && q.name != "report" { // only report does more work for a distinct URL
				continue
			}
			var run, least measure.Sample
			name, inputs := "WhatIf/log="+order+"/command="+q.name, []input{log, rules, old}
			l.addCase(name+"/part=run", "url", inputs, func() (s measure.Sample, err error) {
				if err := l.compilePack(l.binary, rules.path, pack); err != nil {
					return s, err
				}
				s, _, err = l.runCommand(pack, log.path, 1, q.run...)
				run = lesserCPU(run, s)
				return s, err
			})
			l.addCase(name, "url", inputs, func() (s measure.Sample, err error) {
				if err := errors.Join(l.compilePack(l.binary, rules.path, pack), l.compilePack(l.binary, old.path, oldPack)); err != nil {
					return s, err
				}
				cmd := exec.CommandContext(l.ctx, l.binary, append(q.command, "-rules", pack, "-in", log.path, "-workers", "1", "-progress", "off")...)
				cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
				s, err = measure.Exec(cmd)
				s.Work = run.Work
				least = lesserCPU(least, s)
				s.Extra = []measure.Metric{{Value: ratio(least.CPU, run.CPU), Unit: "least-cpu/run"}}
				return s, err
			})
		}
	}
}

// lesserCPU returns the sample with less CPU time. The first may be empty, then it returns the second.
func lesserCPU(a, b measure.Sample) measure.Sample {
	if a.CPU == 0 || b.CPU < a.CPU {
		return b
	}
	return a
}
