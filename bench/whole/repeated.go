package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/bench/internal/madeup"
	"github.com/robobatch/robobatch/internal/measure"
)

// A repeatedLog has several copies of a real log of the corpus, one or more in each frame.
type repeatedLog struct {
	name     string
	frames   int
	path     string
	distinct bool // each line several times in a row, with different queries
}

// A repeatedRun measures a command on a repeated log with the corpus's rules in a pack.
type repeatedRun struct {
	log     repeatedLog
	url     bool
	workers int
	base    bool // the command of -base
}

// name returns the name of the run.
func (r repeatedRun) name() string {
	name := fmt.Sprintf("Repeated/log=%s/frames=%d/url=%t/workers=%d", r.log.name, r.log.frames, r.url, r.workers)
	if r.base {
		name += "/binary=base"
	}
	return name
}

// repeated are runs on copies of the corpus's log and its other orders, with one and two workers. Their CPU and wall
// times are also reported as ratios to runs of the same round that only decompress the log, and to runs of the command
// of -base.
func (l *lab) repeated() (all []trial) {
	took := map[string]measure.Sample{}
	for i, name := range []string{"real", "shuffled"} {
		for _, frames := range []int{1, l.copies} {
			log := repeatedLog{name: name, frames: frames, path: filepath.Join(l.dir, fmt.Sprintf("repeated-%s-%d.zst", name, frames))}
			in := input{log.path, func(m *maker) error { return repeatLog(log, m.corpus.Logs[min(i, len(m.corpus.Logs)-1)], l.copies) }}
			rules := input{filepath.Join(l.dir, "repeated.jsonl.zst"), nil}
			rules.write = func(m *maker) error { return madeup.WriteRules(rules.path, m.corpus.Rules) }
			if frames == 1 {
				unpack := measure.Here(func() (measure.Work, error) { return countLines(log.path) })
				keep := func() (s measure.Sample, err error) {
					s, err = unpack()
					took[log.path] = s
					return s, err
				}
				all = append(all, trial{measure.Case{Name: "Unpack/log=" + name, Unit: "url", Run: keep}, []input{in}})
			}
			for _, r := range l.repeatedRuns(log) {
				run := func() (measure.Sample, error) { return l.repeat(r, rules.path, took) }
				all = append(all, trial{measure.Case{Name: r.name(), Unit: "url", Run: run}, []input{in, rules}})
			}
		}
	}
	return all
}

// repeatedRuns returns the runs on one log. The run that the others are compared with comes first.
func (l *lab) repeatedRuns(log repeatedLog) (all []repeatedRun) {
	for _, workers := range []int{1, 2} {
		for _, url := range []bool{false, true} {
			if l.base != "" && workers == 1 && log.frames == 1 {
				all = append(all, repeatedRun{log, url, workers, true})
			}
			all = append(all, repeatedRun{log, url, workers, false})
		}
	}
	return all
}

// repeat runs a command, and compares its times with those of the same round.
func (l *lab) repeat(r repeatedRun, rules string, took map[string]measure.Sample) (s measure.Sample, err error) {
	binary, pack := l.binary, filepath.Join(l.dir, "repeated.rbp")
	if r.base {
		binary, pack = l.base, filepath.Join(l.dir, "repeated-base.rbp")
	}
	if err := l.compile(binary, rules, pack); err != nil {
		return s, err
	}
	here := *l
	here.binary = binary
	s, err = here.whole(logFile{path: r.log.path, rules: pack}, r.workers, r.url)
	took[r.name()] = s
	alone, before := r, r
	alone.workers, before.base = 1, true
	for _, other := range []struct{ name, of string }{{"unpack", r.log.path}, {"base", before.name()}, {"alone", alone.name()}} {
		if t := took[other.of]; t.CPU > 0 && other.of != r.name() {
			s.Extra = append(s.Extra, measure.Metric{Value: s.CPU.Seconds() / t.CPU.Seconds(), Unit: "cpu/" + other.name},
				measure.Metric{Value: s.Wall.Seconds() / t.Wall.Seconds(), Unit: "wall/" + other.name})
		}
	}
	return s, err
}

// compile compiles a pack with a command, once.
func (l *lab) compile(binary, rules, pack string) error {
	if _, err := os.Stat(pack); err == nil {
		return nil
	}
	_, err := measure.Exec(exec.CommandContext(l.ctx, binary, "compile", "-rules", rules, "-out", pack))
	return err
}

// repeatLog writes copies of a log, divided into frames.
func repeatLog(to repeatedLog, l corpus.Log, copies int) error {
	data, err := os.ReadFile(l.Path)
	if err != nil {
		return err
	}
	dec, err := zstd.NewReader(nil)
	if err != nil {
		return err
	}
	defer dec.Close()
	text, err := dec.DecodeAll(data, nil)
	if err != nil {
		return err
	}
	f, err := os.Create(to.path)
	if err != nil {
		return err
	}
	enc, err := zstd.NewWriter(f)
	if to.distinct && err == nil {
		err = cmp.Or(writeDistinct(enc, text, copies), enc.Close())
		copies = 0
	}
	for i := 0; i < copies && err == nil; i++ {
		if _, err = enc.Write(text); err == nil && (to.frames > 1 || i == copies-1) {
			if err = enc.Close(); err == nil {
				enc.Reset(f)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", to.path, err)
	}
	return f.Close()
}

// writeDistinct writes each line several times with different queries.
func writeDistinct(w io.Writer, text []byte, copies int) error {
	out := bufio.NewWriter(w)
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\n")
		mark := byte('?')
		if bytes.IndexByte(line, mark) >= 0 {
			mark = '&'
		}
		for i := range copies {
			if _, err := fmt.Fprintf(out, "%s%ccopy=%d\n", line, mark, i); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// countLines decompresses a log like package ingest, in one goroutine, and counts its lines.
func countLines(name string) (work measure.Work, err error) {
	f, err := os.Open(name)
	if err != nil {
		return work, err
	}
	defer f.Close()
	dec, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(false), zstd.WithDecoderMaxWindow(128<<20))
	if err != nil {
		return work, err
	}
	defer dec.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := dec.Read(buf)
		work.Units += int64(bytes.Count(buf[:n], []byte{'\n'}))
		work.Bytes += int64(n)
		if errors.Is(err, io.EOF) {
			return work, nil
		}
		if err != nil {
			return work, fmt.Errorf("unpack %s: %w", name, err)
		}
	}
}
