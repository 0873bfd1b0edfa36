package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/process"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// A breaking is a task that evaluates the log urls.txt, writes out.csv, and panics at a given step.
type breaking struct {
	process.Sink[*output.File]
	at string
}

// Write is that of a sink, which panics.
func (b *breaking) Write(batch *engine.Batch) error {
	if b.at == "sink" {
		panic("sink")
	}
	return b.Use(func(f *output.File) error {
		if b.at == "writer" {
			panic("writer") // while it has the lock
		}
		return f.Write(batch)
	})
}

// A breakingSource corrupts a row of its batches so that the engine panics, or panics itself.
type breakingSource struct {
	*ingest.Logs
	at string
}

func (s breakingSource) Next(b *engine.Batch) bool {
	ok := s.Logs.Next(b)
	switch {
	case ok && s.at == "worker":
		b.URLs[0] = engine.Span{Off: 1 << 30, Len: 10}
	case ok && s.at == "source":
		panic("source")
	}
	return ok
}

func (b *breaking) Run(ctx context.Context) error {
	store, err := engine.BuildStore(func(func(robots.Response, error) bool) {}, engine.StoreOptions{Agents: []string{"*"}})
	if err != nil {
		return err
	}
	logs, err := ingest.OpenLogs([]string{"urls.txt"}, ingest.LogOptions{})
	if err != nil {
		return err
	}
	defer logs.Close()
	err = b.Create(func() (*output.File, error) {
		return output.Create(b.Name, os.Stdout, store, output.Options{Format: output.CSV})
	})
	if err != nil {
		return err
	}
	if _, err := engine.Run(ctx, store, breakingSource{logs, b.at}, b, engine.Options{Workers: 2}); err != nil {
		return err // without closing the output, like code that panics while it writes
	}
	if b.at == "end" {
		panic(errors.New("end"))
	}
	return b.Commit((*output.File).Commit)
}

// TestPanic checks the result of a panic: exit code 2, one line that names the log, the stack only with -v, and no
// output file.
func TestPanic(t *testing.T) {
	at := ""
	commands = append(commands, func() flags.Command {
		c := flags.Command{Plan: func(console.Streams, cli.Faults) (process.Task, error) {
			if at == "plan" {
				panic("plan")
			}
			b := &breaking{at: at}
			b.Name = "out.csv"
			return b, nil
		}}
		c.Name, c.About, c.Flags = "break", "panic", []cli.Flag{{Name: "h", Set: cli.Help, Doc: "Help."}}
		return c
	})
	t.Cleanup(func() { commands = commands[:len(commands)-1] })
	t.Chdir(t.TempDir())
	writeFile(t, "urls.txt", "https://a.example/1\nhttps://a.example/2\n")
	for where, place := range map[string]string{
		"plan": "", "end": "", "source": "urls.txt: lines 1 to 2: ", "worker": "urls.txt: lines 1 to 2: ", "writer": "urls.txt: lines 1 to 2: ", "sink": "urls.txt: lines 1 to 2: ",
	} {
		at = where
		for _, v := range []bool{false, true} {
			arguments := []string{"break"}
			if v {
				arguments = append(arguments, "-v")
			}
			code, out, messages := runIn(t, arguments)
			cause := where
			if where == "worker" {
				cause = "runtime error: slice bounds out of range [::1073741834] with capacity"
			}
			line, stack, _ := strings.Cut(messages, "\n")
			if want := fmt.Sprintf("robobatch: %sa bug of robobatch stopped the run: panic: %s", place, cause); code != 2 || out != "" || !strings.HasPrefix(line, want) {
				t.Errorf("%s: exit code %d, %q, want %s", where, code, line, want)
			}
			if strings.Contains(stack, "goroutine ") != v || strings.Contains(stack, "panic_test.go") != v && where != "worker" {
				t.Errorf("%s, -v %t: the stack is %q", where, v, stack)
			}
		}
		if files, err := os.ReadDir("."); err != nil || len(files) != 1 {
			t.Errorf("%s: %v, %v are there", where, err, files)
		}
	}
}
