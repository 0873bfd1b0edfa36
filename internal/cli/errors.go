package cli

import (
	"errors"
	"fmt"
)

// A UsageError is a fault in the arguments, so that the help is worth reading.
type UsageError struct{ Err error }

// Error names the fault.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the fault.
func (e *UsageError) Unwrap() error { return e.Err }

// Usage returns a [UsageError].
func Usage(format string, values ...any) error {
	return &UsageError{fmt.Errorf(format, values...)}
}

// Faults collects all that is wrong with the arguments. The zero value has none.
type Faults struct{ errs []error }

// Add adds the errors that are joined in err, which are about a flag, each as a [UsageError]; nil
// adds none. A flag of "" stands for errors that name their flags themselves.
func (f *Faults) Add(flag string, err error) {
	for _, err := range Parts(err) {
		if flag != "" {
			err = fmt.Errorf("-%s: %w", flag, err)
		}
		f.errs = append(f.errs, &UsageError{err})
	}
}

// None reports whether nothing is wrong.
func (f *Faults) None() bool { return len(f.errs) == 0 }

// Err returns all that is wrong, joined; nil if nothing is.
func (f *Faults) Err() error { return errors.Join(f.errs...) }

// Joined returns the errors that [errors.Join] joined in err, and whether err is such a list.
func Joined(err error) ([]error, bool) {
	list, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil, false
	}
	all := list.Unwrap()
	return all, err.Error() == errors.Join(all...).Error() // fmt.Errorf with several %w unwraps to a list, too
}

// Parts returns the errors that are joined in err, at any depth; err itself if it is no list, none
// for nil.
func Parts(err error) (all []error) {
	list, ok := Joined(err)
	switch {
	case ok:
		for _, err := range list {
			all = append(all, Parts(err)...)
		}
	case err != nil:
		all = append(all, err)
	}
	return all
}
