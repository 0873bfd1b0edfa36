//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
)

// The slow readers of Parquet and Arrow belong to a library, which believes any length that it
// reads, and panics at some damaged files. So they run in a process of their own, with little
// memory: this program with the flag -slowly.

// slowMemory is how much memory a slow reader may take.
const slowMemory = 2 << 30

// A slowRun is a request to a slow reader.
type slowRun struct {
	Kind string // parquet or arrow
	Data []byte
}

// A reading is an answer of a slow reader.
type reading struct {
	Rows  []row
	Fault string
	Last  bool // the process ends
}

func (r *reading) last() bool { return r.Last }

// slowly reads the rows of a file by a slow reader. The rows before a fault are returned with it.
func (a *attack) slowly(kind string, data []byte) ([]row, error) {
	var r reading
	if _, stderr, err := a.slow.ask(a.ctx, slowRun{kind, data}, &r); err != nil {
		return nil, fmt.Errorf("the slow reader: %w: %.300s", err, stderr)
	}
	if r.Fault != "" {
		return r.Rows, errors.New(r.Fault)
	}
	return r.Rows, nil
}

// slowGarbage is how much memory a slow reader may have taken and read on: its garbage is missing for the next
// reading.
const slowGarbage = 256 << 20

// readSlowly reads the requested files, until there is no more.
func readSlowly() error {
	limit := syscall.Rlimit{Cur: slowMemory, Max: slowMemory}
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &limit); err != nil {
		return err
	}
	in, out := json.NewDecoder(os.NewFile(3, "runs")), json.NewEncoder(os.NewFile(4, "answers"))
	for {
		var asked slowRun
		if err := in.Decode(&asked); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		read := readParquet
		if asked.Kind == "arrow" {
			read = readArrow
		}
		var (
			r      reading
			err    error
			memory runtime.MemStats
		)
		if r.Rows, err = read(asked.Data); err != nil {
			r.Fault = err.Error()
		}
		runtime.ReadMemStats(&memory)
		r.Last = memory.Sys > slowGarbage
		if err := out.Encode(r); err != nil || r.Last {
			return err
		}
	}
}
