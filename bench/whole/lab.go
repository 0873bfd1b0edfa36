package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/bench/internal/madeup"
	"github.com/robobatch/robobatch/internal/measure"
)

// A lab has the cases, and runs the command.
type lab struct {
	ctx    context.Context
	spec   madeup.Spec
	dir    string // for inputs and outputs
	binary string
	base   string         // another build of the command, for comparison; "" means none
	copies int            // number of copies of a log in a repeated one
	wanted *regexp.Regexp // selects cases by name
	cases  []measure.Case
	inputs []input // that the cases need; some occur repeatedly
}

// addCase adds a case and the inputs that it needs, if its name matches l.wanted.
func (l *lab) addCase(name, unit string, inputs []input, run func() (measure.Sample, error)) {
	if l.wanted.MatchString(name) {
		l.cases = append(l.cases, measure.Case{Name: name, Unit: unit, Run: run})
		l.inputs = append(l.inputs, inputs...)
	}
}

// addTrials adds all wanted cases.
func (l *lab) addTrials() {
	l.addRuns()
	l.addFiles()
	l.addPacks()
	l.addRepeated()
	l.addWhatIf()
}

// An input is a file or directory that cases need.
type input struct {
	path  string
	write func(path string, src *corpus.Corpus, made *madeup.Generator) error
}

// prepare writes the inputs of the wanted cases, each once.
func (l *lab) prepare() error {
	src, err := corpus.Find(".")
	if err != nil {
		return err
	}
	made, err := madeup.New(src, l.spec)
	if err != nil {
		return err
	}
	written := map[string]bool{}
	for _, in := range l.inputs {
		if written[in.path] {
			continue
		}
		written[in.path] = true
		if err := in.write(in.path, src, made); err != nil {
			return fmt.Errorf("write %s: %w", in.path, err)
		}
	}
	return nil
}

// rulesInput returns the input with the rules of "real" or "madeup" data.
func (l *lab) rulesInput(data string) input {
	return input{filepath.Join(l.dir, data+".jsonl.zst"), func(path string, src *corpus.Corpus, made *madeup.Generator) error {
		if data == "real" {
			return madeup.WriteRules(path, src.Rules)
		}
		return madeup.WriteRules(path, made.Responses())
	}}
}

// repeatedInput returns the input with l.copies copies of a log of the corpus, given by its index: in one frame, or in
// one frame each if frames is not 1; or, if isDistinct, with each line several times in a row, with different queries.
func (l *lab) repeatedInput(log, frames int, isDistinct bool) input {
	name := fmt.Sprintf("repeated-%d-%d-%t.zst", log, frames, isDistinct)
	return input{filepath.Join(l.dir, name), func(path string, src *corpus.Corpus, _ *madeup.Generator) error {
		urls, err := src.Logs[min(log, len(src.Logs)-1)].URLs()
		if err != nil {
			return err
		}
		return madeup.WriteFile(path, func(w io.Writer) error {
			enc, err := zstd.NewWriter(w)
			if err != nil {
				return err
			}
			text := bufio.NewWriter(enc)
			if isDistinct {
				for _, url := range urls {
					mark := byte('?')
					if bytes.IndexByte(url, mark) >= 0 {
						mark = '&'
					}
					for i := range l.copies {
						fmt.Fprintf(text, "%s%ccopy=%d\n", url, mark, i)
					}
				}
				return errors.Join(text.Flush(), enc.Close())
			}
			for i := range l.copies {
				for _, url := range urls {
					text.Write(url)
					text.WriteByte('\n')
				}
				if frames == 1 && i < l.copies-1 {
					continue
				}
				if err := errors.Join(text.Flush(), enc.Close()); err != nil {
					return err
				}
				enc.Reset(w)
			}
			return nil
		})
	}}
}

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

// runCommand runs the command with rules on a log, and writes Parquet. more are further flags. The units of the sample
// are URLs.
func (l *lab) runCommand(rules, log string, workers int, more ...string) (measure.Sample, stats, error) {
	var r stats
	counts := filepath.Join(l.dir, "stats.json")
	arguments := append([]string{
		"-rules", rules, "-in", log, "-out", filepath.Join(l.dir, "out.parquet"), "-stats", counts,
		"-workers", strconv.Itoa(workers), "-progress", "off",
	}, more...)
	cmd := exec.CommandContext(l.ctx, l.binary, arguments...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", workers))
	s, err := measure.Exec(cmd)
	if err != nil {
		return s, r, err
	}
	text, err := os.ReadFile(counts)
	err = errors.Join(err, json.Unmarshal(text, &r))
	s.Units, s.Bytes = r.Counts.URLs, r.Counts.URLBytes
	return s, r, err
}

// runWhole runs the command on a log, with or without the column url, and subtracts the time for loading rules that
// the command reports.
func (l *lab) runWhole(rules, log string, workers int, url bool) (measure.Sample, error) {
	var columns []string
	if !url {
		columns = []string{"-columns", "line,input,origin,agent,allowed,reason,rule_line,rule"}
	}
	s, r, err := l.runCommand(rules, log, workers, columns...)
	s.Wall -= time.Duration(r.Run.RulesSeconds * float64(time.Second))
	s.CPU -= time.Duration(r.Run.RulesCPU * float64(time.Second))
	return s, err
}

// compilePack compiles rules to a pack with the command binary, unless the pack exists.
func (l *lab) compilePack(binary, rules, pack string) error {
	if _, err := os.Stat(pack); err == nil {
		return nil
	}
	_, err := measure.Exec(exec.CommandContext(l.ctx, binary, "compile", "-rules", rules, "-out", pack))
	return err
}

// logs are the real log, and generated ones in both orders, as one frame and as eight. Logs with the same data are
// consecutive.
var logs = []struct {
	data   string // "real" or "madeup", also for the rules
	order  madeup.Order
	frames int
}{
	{"real", madeup.Grouped, 1},
	{"madeup", madeup.Grouped, 1},
	{"madeup", madeup.Grouped, 8},
	{"madeup", madeup.Shuffled, 1},
	{"madeup", madeup.Shuffled, 8},
}

// addRuns adds, for each number of workers, the time of loading each set of rules, and the runs.
func (l *lab) addRuns() {
	for _, workers := range []int{1, 2} {
		for i, f := range logs {
			name := fmt.Sprintf("data=%s/order=%s/frames=%d", f.data, f.order, f.frames)
			rules := l.rulesInput(f.data)
			log := input{filepath.Join(l.dir, strings.ReplaceAll(name, "/", ",")+".zst"), func(path string, src *corpus.Corpus, made *madeup.Generator) error {
				if f.data == "real" {
					return os.Symlink(src.Logs[0].Path, path)
				}
				return madeup.WriteFile(path, func(w io.Writer) error { return made.WriteLog(w, f.order, f.frames) })
			}}
			inputs := []input{rules, log}
			if i == 0 || logs[i-1].data != f.data {
				l.addCase(fmt.Sprintf("Load/data=%s/workers=%d", f.data, workers), "rule", inputs, func() (measure.Sample, error) {
					s, r, err := l.runCommand(rules.path, log.path, workers, "-limit", "1")
					s.Units, s.Bytes = r.Rules.Patterns, 0
					return s, err
				})
			}
			for _, url := range []bool{true, false} {
				l.addCase(fmt.Sprintf("Whole/%s/url=%t/workers=%d", name, url, workers), "url", inputs, func() (measure.Sample, error) {
					return l.runWhole(rules.path, log.path, workers, url)
				})
			}
		}
	}
}
