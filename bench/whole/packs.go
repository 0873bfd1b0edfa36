package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/robobatch/robobatch/bench/internal/madeup"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/measure"
	"github.com/robobatch/robobatch/robots"
)

// memories are the limits of memory that runs on packs get: none, robobatch's own choice,
// and a small one. The others are compared with the first.
var memories = []string{"none", "", "256MiB"}

// packs are runs with the rules of a pack on a log that has each origin once, in random order, which
// is hardest under a limit of memory.
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

// writePack compiles the rules that are made up, in the command's own dialect.
func writePack(path string, g *madeup.Generator) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = engine.WritePack(context.Background(), f, g.Responses(), engine.PackOptions{Dialect: robots.Google, TempDir: filepath.Dir(path)})
	return err
}

// pack runs the command with the rules of a pack, under a limit of memory, and tells how long it
// took until the pack was ready, and how many times the CPU time of the run without one it took.
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
