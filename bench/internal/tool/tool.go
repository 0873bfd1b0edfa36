// Package tool has what the commands below bench have in common. It hides how they end: at a
// signal, and with which exit code. Only the packages below bench import it.
package tool

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Main runs a command of that name, with a context that a signal ends, and exits with code 2 if it
// fails.
func Main(name string, run func(ctx context.Context, arguments []string) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(2)
	}
}
