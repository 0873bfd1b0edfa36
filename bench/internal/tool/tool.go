// Package tool has code that the commands below bench share: how they build robobatch, and how they end (at a signal,
// and with which exit code). Only the packages below bench import it.
package tool

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/robobatch/robobatch/internal/measure"
)

// Main runs a command with that name. A signal cancels its context. It exits with code 2 after an error.
func Main(name string, run func(ctx context.Context, arguments []string) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(2)
	}
}

// Again runs this program with other arguments. Programs that measure the memory of processes write their inputs so,
// because a process inherits the peak memory of its parent.
func Again(ctx context.Context, arguments []string) error {
	self, err := os.Executable()
	if err == nil {
		_, err = measure.Exec(exec.CommandContext(ctx, self, arguments...))
	}
	return err
}

const module = "github.com/robobatch/robobatch"

// Build builds the command robobatch of this source tree as for a release, and writes it to a file. It must run in a
// directory of the module bench.
func Build(ctx context.Context, binary string) error {
	top, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return fmt.Errorf("find the source tree of robobatch: %w", err)
	}
	build := exec.CommandContext(ctx, "go", "build", "-C", strings.TrimSpace(string(top)), "-trimpath", "-o", binary, module+"/cmd/robobatch")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the command: %w: %s", err, out)
	}
	return nil
}
