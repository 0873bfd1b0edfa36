// Package panics starts every goroutine of robobatch, and turns a panic in one into an [Error] of whoever waits for it. It
// costs some nanoseconds for a goroutine and nothing for a row. TestGoroutines holds that no other package starts one.
//
// Fatal errors of the runtime cannot be caught: memory that runs out, concurrent writes to a map, a stack that overflows, a
// deadlock. They end the process with a dump. Any package may import it. It does not depend on other packages of ours.
package panics

import (
	"context"
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/errgroup"
)

// An Error is the error that a panic became.
type Error struct {
	Value any    // of the panic
	Where string // what was worked on, such as a log and lines of it; "" if unknown
	Stack string // of the goroutine that panicked
}

// Error names the place, if it is known, and the cause. It has no Unwrap: whatever the value is, a panic is no such error.
func (e *Error) Error() string {
	text := fmt.Sprintf("a bug of robobatch stopped the run: panic: %v: report it, with the stack that -v prints", e.Value)
	if e.Where != "" {
		text = e.Where + ": " + text
	}
	return text
}

// of returns the Error of a recovered value. It must be called while the stack is that of the panic.
func of(value any) *Error {
	if e, ok := value.(*Error); ok { // of another goroutine, passed on by panic
		return e
	}
	return &Error{Value: value, Stack: string(debug.Stack())}
}

// Catch calls do, and returns its error. If do panics, the error is an [*Error].
func Catch(do func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = of(value)
		}
	}()
	return do()
}

// At is for a defer statement. It adds a place to a panic, unless it has one, and panics again.
func At(where func() string) {
	value := recover()
	if value == nil {
		return
	}
	e := of(value)
	if e.Where == "" {
		e.Where = where()
	}
	panic(e)
}

// Send calls do in a goroutine, and sends the result. If do panics, it sends what failed makes of the [*Error].
func Send[T any](to chan<- T, do func() T, failed func(error) T) {
	go func() {
		var result T
		if err := Catch(func() error { result = do(); return nil }); err != nil {
			result = failed(err)
		}
		to <- result
	}()
}

// Run calls do in a goroutine, and sends its error: an [*Error] if it panics. Nobody has to receive it.
func Run(do func() error) <-chan error {
	done := make(chan error, 1)
	Send(done, do, func(err error) error { return err })
	return done
}

// A Group is an [errgroup.Group] whose goroutines return a panic as an [*Error]. Its zero value is ready, and ends no context.
type Group struct{ group *errgroup.Group }

// WithContext returns a Group, and a context that ends with its first error.
func WithContext(ctx context.Context) (*Group, context.Context) {
	group, ctx := errgroup.WithContext(ctx)
	return &Group{group}, ctx
}

// own returns the group inside. The first call must not be beside others.
func (g *Group) own() *errgroup.Group {
	if g.group == nil {
		g.group = new(errgroup.Group)
	}
	return g.group
}

// SetLimit is [errgroup.Group.SetLimit].
func (g *Group) SetLimit(n int) { g.own().SetLimit(n) }

// Go calls do in a goroutine.
func (g *Group) Go(do func() error) {
	g.own().Go(func() error { return Catch(do) })
}

// Wait waits for all goroutines, and returns the first error.
func (g *Group) Wait() error { return g.own().Wait() }
