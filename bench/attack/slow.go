//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// The slow readers of Parquet and Arrow are those of a library, which believes any length that it
// reads, and panics at some of what is damaged. So they run in a process of their own, with little
// memory: that of this program with the flag -slowly.

// slowMemory is how much memory a slow reader may take.
const slowMemory = 2 << 30

// A reading is what a slow reader prints.
type reading struct {
	Rows  []row
	Fault string
}

// slowly reads the rows of a file by a slow reader. The rows before a fault are returned with it.
func (a *attack) slowly(kind string, data []byte) ([]row, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(a.ctx, self, "-slowly", kind)
	cmd.Stdin = bytes.NewReader(data)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("the slow reader: %w", err)
	}
	var r reading
	if err := json.Unmarshal(out, &r); err != nil {
		return nil, err
	}
	if r.Fault != "" {
		err = errors.New(r.Fault)
	}
	return r.Rows, err
}

// readSlowly reads standard input and prints a reading.
func readSlowly(kind string) error {
	limit := syscall.Rlimit{Cur: slowMemory, Max: slowMemory}
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &limit); err != nil {
		return err
	}
	data, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	read := readParquet
	if kind == "arrow" {
		read = readArrow
	}
	var r reading
	if r.Rows, err = read(data); err != nil {
		r.Fault = err.Error()
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}
