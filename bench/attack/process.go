//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/robobatch/robobatch/internal/panics"
)

// A result is how a run of the command ended.
type result struct {
	code    int
	stderr  string
	rows    []row
	stats   stats
	readErr error // why standard output is wrong
	shared  bool  // its process had other runs before
}

// stats are the fields read of -stats.
type stats struct {
	Fault  string `json:"fault"`
	Counts struct {
		URLs        int64            `json:"urls"`
		EmptyLines  int64            `json:"empty_lines"`
		HeaderLines int64            `json:"header_lines"`
		Refused     map[string]int64 `json:"refused"`
	} `json:"counts"`
	Unverified *unverified `json:"unverified"`
	Warnings   []struct {
		Code string `json:"code"`
	} `json:"warnings"`

	Peak int64 `json:"-"` // bytes of memory, of a run that is measured
}

// unverified says that rows before a fault may be wrong from one line on.
type unverified struct {
	FromLine int64 `json:"from_line"`
}

// refused returns how many lines gave no row, as -stats counts them.
func (s *stats) refused() (n int64) {
	for _, count := range s.Counts.Refused {
		n += count
	}
	return n
}

// patience is how long a run may take before it counts as hung. Most take some milliseconds, on a machine
// that has time for them.
const patience = 20 * time.Minute

// run runs the command on standard input. Its file of statistics is the third descriptor.
func (a *attack) run(stdin []byte, arguments ...string) (out []byte, res result) {
	ctx, cancel := context.WithTimeout(a.ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, a.binary, arguments...)
	cmd.Dir = a.dir
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &stdout, &stderr
	r, w, err := os.Pipe()
	if err != nil {
		return nil, result{readErr: err}
	}
	cmd.ExtraFiles = []*os.File{w}
	text := make(chan []byte, 1)
	panics.Send(text, func() []byte {
		b, _ := io.ReadAll(r) // missing bytes show as broken JSON
		return b
	}, func(error) []byte { return nil })
	err = cmd.Run()
	w.Close() //nolint:errcheck // the far end of a pipe
	written := <-text
	r.Close() //nolint:errcheck // as above
	res.stderr = stderr.String()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		res.code = exit.ExitCode()
	} else if err != nil {
		res.readErr = err
	}
	if ctx.Err() != nil {
		res.readErr = fmt.Errorf("did not end: %w", ctx.Err())
	}
	res.readStats(written)
	return stdout.Bytes(), res
}

// readStats reads the output to the third descriptor.
func (res *result) readStats(written []byte) {
	if len(written) == 0 {
		return
	}
	if err := json.Unmarshal(written, &res.stats); err != nil {
		res.readErr = fmt.Errorf("-stats: %w", err)
	}
}

// runAny runs the command in a process that it shares with other runs, or in one of its own, as r draws.
func (a *attack) runAny(r *rand.Rand, stdin []byte, arguments ...string) (out []byte, res result) {
	if a.served == nil || r.IntN(a.own) == 0 {
		return a.run(stdin, arguments...)
	}
	var answer servedAnswer
	code, stderr, err := a.served.ask(a.ctx, servedRun{arguments, stdin}, &answer)
	if err != nil { // the process ended, as it never must
		return nil, result{code: code, stderr: stderr, readErr: err, shared: true}
	}
	res = result{code: answer.Code, stderr: string(answer.Err), shared: true}
	res.readStats(answer.Third)
	return answer.Stdout, res
}

// job runs the main job and reads its rows. r draws whether it has a process of its own.
func (a *attack) job(r *rand.Rand, stdin []byte, arguments ...string) result {
	arguments = append(arguments, "-quiet", "-out", "-", "-out-format", "jsonl",
		"-columns", "line,url,allowed,rule_line", "-stats", "/dev/fd/3")
	out, res := a.runAny(r, stdin, arguments...)
	for line := range bytes.Lines(out) {
		var r struct {
			Line    int64   `json:"line"`
			URL     *string `json:"url"`
			Allowed *bool   `json:"allowed"`
			Rule    *int64  `json:"rule_line"`
		}
		if err := json.Unmarshal(line, &r); err != nil && res.readErr == nil {
			res.readErr = fmt.Errorf("row %d of the output: %w", len(res.rows)+1, err)
		}
		if r.URL == nil {
			r.URL = new(string)
		}
		res.rows = append(res.rows, row{r.Line, *r.URL, r.Allowed, r.Rule})
	}
	return res
}

// crash returns any act that the command must never do, whatever its input: print the trace of a panic, end
// by a signal, hang, fail without a word, or write an output that cannot be read.
func (res *result) crash() string {
	switch {
	case res.readErr != nil && res.stderr != "":
		return res.readErr.Error() + ": " + res.stderr
	case res.readErr != nil:
		return res.readErr.Error()
	case strings.Contains(res.stderr, "\ngoroutine ") || strings.Contains(res.stderr, "panic:"):
		return "panic: " + res.stderr
	case res.code != 0 && res.code != 2:
		return fmt.Sprintf("exit code %d: %s", res.code, res.stderr)
	case res.code == 2 && !strings.Contains(res.stderr, "robobatch: "):
		return "exit code 2 without a word"
	}
	return ""
}

// warned reports whether the run printed a warning.
func (res *result) warned() bool {
	return strings.Contains(res.stderr, "robobatch: warning: ") || len(res.stats.Warnings) > 0
}

// unverifiedFrom returns the first line of the rows that nothing has verified, as the run says.
func (res *result) unverifiedFrom() (line int64, ok bool) {
	u := res.stats.Unverified
	if u == nil || !strings.Contains(res.stderr, "nothing has verified") {
		return 0, false
	}
	return u.FromLine, true
}
