// Package panics starts all goroutines of robobatch. A panic in a goroutine becomes an [Error] for the code that waits for
// it. This costs some nanoseconds per goroutine, and nothing per row. TestGoroutines checks that no other package starts a
// goroutine.
//
// Fatal errors of the runtime cannot be caught: out of memory, concurrent writes to a map, stack overflow, deadlock. They
// end the process with a dump. Any package may import it. It imports no package of this module.
package panics

import (
	"context"
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/errgroup"
)

// An Error is a panic that was caught.
type Error struct {
	Value any    // of the panic
	Where string // the current input, such as a log and line numbers; "" if unknown
	Stack string // of the goroutine that panicked
}

// Error returns a text with Where and Value. There is no Unwrap: even if Value is an error, a panic must not match it.
func (e *Error) Error() string {
	text := fmt.Sprintf("a bug of robobatch stopped the run: panic: %v: report it, with the stack that -v prints", e.Value)
	if e.Where != "" {
		text = e.Where + ": " + text
	}
	return text
}

// of returns the Error of a recovered value. It must be called while the stack is that of the panic.
func of(value any) *Error {
	if e, ok := value.(*Error); ok { // a panic of another goroutine, passed on
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

// At is for a defer statement. It sets Where of a panic, unless it is already set, and panics again.
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

// Run calls do in a goroutine, and sends its error, which is an [*Error] if it panics. The caller need not receive it.
func Run(do func() error) <-chan error {
	done := make(chan error, 1)
	Send(done, do, func(err error) error { return err })
	return done
}

// A Group is an [errgroup.Group] whose goroutines return a panic as an [*Error]. The zero value has no context.
type Group struct{ group *errgroup.Group }

// WithContext returns a Group, and a context that ends with its first error.
func WithContext(ctx context.Context) (*Group, context.Context) {
	group, ctx := errgroup.WithContext(ctx)
	return &Group{group}, ctx
}

// own returns the errgroup, which the first call creates. So the first call must not be concurrent with others.
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
