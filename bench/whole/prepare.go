package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/robobatch/robobatch/bench"
)

// A logFile is a log, and the rules to run it with.
type logFile struct {
	data   string // what both are: "real" or "madeup"
	order  bench.Order
	frames int
	path   string
	rules  string
}

// name returns the part of a benchmark's name that tells the log.
func (f logFile) name() string {
	return fmt.Sprintf("data=%s/order=%s/frames=%d", f.data, f.order, f.frames)
}

// logs returns what prepare writes into dir: the corpus as it is, and made-up rules with logs in both orders, of one
// frame and of eight.
func logs(dir string) []logFile {
	all := []logFile{
		{data: "real", order: bench.Grouped, frames: 1},
		{data: "madeup", order: bench.Grouped, frames: 1},
		{data: "madeup", order: bench.Grouped, frames: 8},
		{data: "madeup", order: bench.Shuffled, frames: 1},
		{data: "madeup", order: bench.Shuffled, frames: 8},
	}
	for i, f := range all {
		all[i].path = filepath.Join(dir, strings.ReplaceAll(f.name(), "/", ",")+".zst")
		all[i].rules = filepath.Join(dir, f.data+".jsonl.zst")
	}
	return all
}

// prepare writes the rules and logs.
func (r request) prepare(dir string) error {
	corpus, err := bench.Find(".")
	if err != nil {
		return err
	}
	g, err := bench.NewGenerator(corpus, r.spec)
	if err != nil {
		return err
	}
	for i, f := range logs(dir) {
		rules, write := g.Responses(), func(w io.Writer) error { return g.WriteLog(w, f.order, f.frames) }
		if f.data == "real" {
			rules, write = corpus.Each(), func(w io.Writer) error { return copyFile(w, corpus.Logs[0].Path) }
		}
		if i < 2 { // the other logs have the rules of the second
			if err := bench.WriteRules(f.rules, rules); err != nil {
				return err
			}
		}
		if err := bench.WriteFile(f.path, write); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(w io.Writer, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	_, err = io.Copy(w, f)
	return err
}
