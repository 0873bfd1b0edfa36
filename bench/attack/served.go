//go:build unix

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/robobatch/robobatch/bench/internal/tool"
)

// A process of the command takes four times as long to start and to end as to read a small input. So most damaged
// inputs go to processes that stay: the test binary of cmd/robobatch is the command, one run after the other.

// A servedRun and a servedAnswer are the input and the output of serve in cmd/robobatch.
type servedRun struct {
	Arguments []string
	Stdin     []byte
}

type servedAnswer struct {
	Code               int
	Stdout, Err, Third []byte
	Last               bool // the process ends
}

func (s *servedAnswer) last() bool { return s.Last }

// buildServed builds that binary into a directory, and returns its name.
func buildServed(ctx context.Context, dir string) (name string, err error) {
	name = filepath.Join(dir, "robobatch-served")
	return name, tool.BuildTest(ctx, name)
}

// An answer is the answer of a process that stays, and says whether it is the last one.
type answer interface{ last() bool }

// A pool has processes that stay, of one program. It is safe for concurrent use: a process has one question at a time.
type pool struct {
	dir       string // where they run
	program   string
	arguments []string
	idle      chan *staying
}

// newPool returns a pool without processes, which keeps as many as there may be.
func newPool(most int, dir, program string, arguments ...string) *pool {
	return &pool{dir, program, arguments, make(chan *staying, most)}
}

// A staying process answers on descriptor 4 the questions on descriptor 3.
type staying struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer
	in     *json.Encoder
	out    *json.Decoder
	files  [2]*os.File // this side of in and out
}

// start starts a process.
func (p *pool) start() (s *staying, err error) {
	asked, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, answers, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s = &staying{cmd: exec.Command(p.program, p.arguments...), in: json.NewEncoder(in), out: json.NewDecoder(out), files: [2]*os.File{in, out}}
	s.cmd.Dir, s.cmd.Stderr, s.cmd.ExtraFiles = p.dir, &s.stderr, []*os.File{asked, answers}
	err = s.cmd.Start()
	return s, errors.Join(err, asked.Close(), answers.Close())
}

// end waits until the process has ended, and returns its exit code.
func (s *staying) end() (code int) {
	for _, f := range s.files {
		f.Close() //nolint:errcheck // the near end of a pipe
	}
	s.cmd.Wait() //nolint:errcheck // the code says it
	return s.cmd.ProcessState.ExitCode()
}

// ask asks one of the processes. The error says that it has ended instead, with its exit code and messages.
func (p *pool) ask(ctx context.Context, question any, into answer) (code int, stderr string, err error) {
	var s *staying
	select {
	case s = <-p.idle:
	default:
		if s, err = p.start(); err != nil {
			return 0, "", err
		}
	}
	stop := context.AfterFunc(ctx, func() { s.cmd.Process.Kill() })   //nolint:errcheck // it may have ended
	hung := time.AfterFunc(patience, func() { s.cmd.Process.Kill() }) //nolint:errcheck // as above
	defer hung.Stop()
	if err = s.in.Encode(question); err == nil {
		err = s.out.Decode(into)
	}
	if err != nil {
		code = s.end()
		stop()
		return code, s.stderr.String(), cmp.Or(ctx.Err(), fmt.Errorf("its process ended, with exit code %d: %w", code, err))
	}
	if !stop() || into.last() {
		s.end()
		return 0, "", nil
	}
	p.idle <- s
	return 0, "", nil
}

// close ends the processes; none may have a question.
func (p *pool) close() {
	for {
		select {
		case s := <-p.idle:
			s.end()
		default:
			return
		}
	}
}
