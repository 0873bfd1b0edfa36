package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/robobatch/robobatch/bench/measure"
)

// A lab runs the command.
type lab struct {
	ctx    context.Context
	dir    string
	binary string
}

// withoutURL are the columns of url=false.
const withoutURL = "line,input,origin,agent,allowed,reason,rule_line,rule"

// cases are all that is measured: for each rules and number of workers how long loading them takes, and the runs.
func (l *lab) cases(logs []logFile) (all []measure.Case) {
	for _, workers := range []int{1, 2} {
		loaded := map[string]bool{}
		for _, f := range logs {
			if set := loadName(f, workers); !loaded[set] {
				loaded[set] = true
				all = append(all, measure.Case{Name: set, Unit: "rule", Run: func() (measure.Sample, error) { return l.load(f, workers) }})
			}
			for _, url := range []bool{true, false} {
				name := fmt.Sprintf("Whole/%s/url=%t/workers=%d", f.name(), url, workers)
				all = append(all, measure.Case{Name: name, Unit: "url", Run: func() (measure.Sample, error) { return l.whole(f, workers, url) }})
			}
		}
	}
	return all
}

func loadName(f logFile, workers int) string {
	return fmt.Sprintf("Load/%s/workers=%d", "data="+f.data, workers)
}

// load runs the command on one URL.
func (l *lab) load(f logFile, workers int) (measure.Sample, error) {
	s, r, err := l.exec(f, workers, "-limit", "1")
	s.Units = r.Rules.Patterns
	return s, err
}

// whole runs the command on a log, and takes off what the command says that loading took.
func (l *lab) whole(f logFile, workers int, url bool) (measure.Sample, error) {
	var columns []string
	if !url {
		columns = []string{"-columns", withoutURL}
	}
	s, r, err := l.exec(f, workers, columns...)
	s.Wall -= seconds(r.Run.RulesSeconds)
	s.CPU -= seconds(r.Run.RulesCPU)
	s.Units, s.Bytes = r.Counts.URLs, r.Counts.URLBytes
	return s, err
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// stats are what is used of the statistics that the command writes.
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

// exec runs the command on a log, to Parquet.
func (l *lab) exec(f logFile, workers int, more ...string) (measure.Sample, stats, error) {
	var r stats
	counts := filepath.Join(l.dir, "stats.json")
	arguments := append([]string{
		"-rules", f.rules, "-in", f.path, "-out", filepath.Join(l.dir, "out.parquet"), "-stats", counts,
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
