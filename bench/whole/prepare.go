package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/bench/internal/madeup"
)

// A logFile is a log, and the rules to run it with.
type logFile struct {
	data   string // the kind of both: "real" or "madeup"
	order  madeup.Order
	frames int
	path   string
	rules  string
}

// name returns the part of a benchmark's name that tells the log.
func (f logFile) name() string {
	return fmt.Sprintf("data=%s/order=%s/frames=%d", f.data, f.order, f.frames)
}

// logs returns the logs of dir: the corpus as it is, and made-up rules with logs in both orders, of
// one frame and of eight.
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

// inputs are the rules and the log.
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

// An input is a file, or a directory, that cases need.
type input struct {
	path  string
	write func(*maker) error
}

// A maker makes inputs.
type maker struct {
	corpus *corpus.Corpus
	made   *madeup.Generator
	spec   madeup.Spec
}

// prepare writes the files that the requested cases need.
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
