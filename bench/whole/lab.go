package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/bench/internal/madeup"
	"github.com/robobatch/robobatch/internal/measure"
)

// A lab runs the command.
type lab struct {
	ctx    context.Context
	dir    string
	binary string
	base   string // another build of the command, for comparison; "" means none
	copies int    // number of copies of a log in a repeated one

	unlimited time.Duration // CPU time of the last run with a pack and no limit
}

// withoutURL are the columns of the cases with url=false.
const withoutURL = "line,input,origin,agent,allowed,reason,rule_line,rule"

// A trial is a case and the inputs that it needs.
type trial struct {
	measure.Case
	inputs []input
}

// trials returns all cases.
func (l *lab) trials(spec madeup.Spec) []trial {
	// For each set of rules and number of workers: the time of loading the rules, and the runs.
	var all []trial
	for _, workers := range []int{1, 2} {
		loaded := map[string]bool{}
		for _, f := range logs(l.dir) {
			if set := fmt.Sprintf("Load/%s/workers=%d", "data="+f.data, workers); !loaded[set] {
				loaded[set] = true
				all = append(all, trial{measure.Case{Name: set, Unit: "rule", Run: func() (measure.Sample, error) {
					s, r, err := l.exec(f.rules, f.path, workers, "-limit", "1")
					s.Units = r.Rules.Patterns
					return s, err
				}}, f.inputs()})
			}
			for _, url := range []bool{true, false} {
				name := fmt.Sprintf("Whole/%s/url=%t/workers=%d", f.name(), url, workers)
				all = append(all, trial{measure.Case{Name: name, Unit: "url", Run: func() (measure.Sample, error) { return l.whole(f, workers, url) }}, f.inputs()})
			}
		}
	}
	return slices.Concat(all, l.files(spec), l.packs(spec), l.repeated(), l.whatIf())
}

// whole runs the command on a log, and subtracts the time of loading that the command reports.
func (l *lab) whole(f logFile, workers int, url bool) (measure.Sample, error) {
	var columns []string
	if !url {
		columns = []string{"-columns", withoutURL}
	}
	s, r, err := l.exec(f.rules, f.path, workers, columns...)
	s.Wall -= seconds(r.Run.RulesSeconds)
	s.CPU -= seconds(r.Run.RulesCPU)
	s.Units, s.Bytes = r.Counts.URLs, r.Counts.URLBytes
	return s, err
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// stats are the fields that are used of the command's statistics.
type stats struct {
	Counts struct {
		URLs     int64 `json:"urls"`
		URLBytes int64 `json:"url_bytes"`
	} `json:"counts"`
	Rules struct {
		Patterns int64 `json:"patterns"`
	} `json:"rules"`
	Run struct {
		RulesSeconds float64 `json:"rules_seconds"`
		RulesCPU     float64 `json:"rules_cpu_seconds"`
	} `json:"run"`
}

// exec runs the command with rules on a log, and writes Parquet.
func (l *lab) exec(rules, log string, workers int, more ...string) (measure.Sample, stats, error) {
	var r stats
	counts := filepath.Join(l.dir, "stats.json")
	arguments := append([]string{
		"-rules", rules, "-in", log, "-out", filepath.Join(l.dir, "out.parquet"), "-stats", counts,
		"-workers", strconv.Itoa(workers), "-progress", "off",
	}, more...)
	cmd := exec.CommandContext(l.ctx, l.binary, arguments...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", max(workers, 1)))
	s, err := measure.Exec(cmd)
	if err != nil {
		return s, r, err
	}
	text, err := os.ReadFile(counts)
	if err != nil {
		return s, r, err
	}
	return s, r, json.Unmarshal(text, &r)
}

// A logFile is a log and its rules.
type logFile struct {
	data   string // "real" or "madeup", for both
	order  madeup.Order
	frames int
	path   string
	rules  string
}

// name returns the part of a benchmark's name for the log.
func (f logFile) name() string {
	return fmt.Sprintf("data=%s/order=%s/frames=%d", f.data, f.order, f.frames)
}

// logs returns the logs of a directory: those of the corpus, and generated ones in both orders, as one frame and as
// eight.
func logs(dir string) []logFile {
	all := []logFile{
		{data: "real", order: madeup.Grouped, frames: 1},
		{data: "madeup", order: madeup.Grouped, frames: 1},
		{data: "madeup", order: madeup.Grouped, frames: 8},
		{data: "madeup", order: madeup.Shuffled, frames: 1},
		{data: "madeup", order: madeup.Shuffled, frames: 8},
	}
	for i, f := range all {
		all[i].path = filepath.Join(dir, strings.ReplaceAll(f.name(), "/", ",")+".zst")
		all[i].rules = filepath.Join(dir, f.data+".jsonl.zst")
	}
	return all
}

// inputs returns the rules and the log.
func (f logFile) inputs() []input {
	rules := input{f.rules, func(m *maker) error { return madeup.WriteRules(f.rules, m.made.Responses()) }}
	log := input{f.path, func(m *maker) error {
		return madeup.WriteFile(f.path, func(w io.Writer) error { return m.made.WriteLog(w, f.order, f.frames) })
	}}
	if f.data == "real" {
		rules.write = func(m *maker) error { return madeup.WriteRules(f.rules, m.corpus.Rules) }
		log.write = func(m *maker) error {
			return madeup.WriteFile(f.path, func(w io.Writer) error {
				f, err := os.Open(m.corpus.Logs[0].Path)
				if err != nil {
					return err
				}
				defer f.Close()
				_, err = io.Copy(w, f)
				return err
			})
		}
	}
	return []input{rules, log}
}

// An input is a file or directory that cases need.
type input struct {
	path  string
	write func(*maker) error
}

// A maker writes inputs.
type maker struct {
	corpus *corpus.Corpus
	made   *madeup.Generator
	spec   madeup.Spec
}

// prepare writes the files that the selected cases need.
func (r request) prepare(dir string) error {
	m := &maker{spec: r.spec}
	var err error
	if m.corpus, err = corpus.Find("."); err != nil {
		return err
	}
	if m.made, err = madeup.New(m.corpus, r.spec); err != nil {
		return err
	}
	written := map[string]bool{}
	l := lab{dir: dir, copies: r.copies}
	for _, t := range r.chosen(&l) {
		for _, in := range t.inputs {
			if written[in.path] {
				continue
			}
			written[in.path] = true
			if err := in.write(m); err != nil {
				return err
			}
		}
	}
	return nil
}
