package flow

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
)

// A Limit is how many lines may be rejected.
type Limit struct {
	text  string
	none  bool    // there is no limit
	most  int64   // lines
	share float64 // of all lines, in place of most, if it is not negative
}

// ParseLimit reads a number, or a percentage as in "0.5%".
func ParseLimit(text string) (Limit, error) {
	l := Limit{text: text, none: text == "", share: -1}
	if l.none {
		return l, nil
	}
	var err error
	number, percent := strings.CutSuffix(text, "%")
	if percent {
		l.share, err = strconv.ParseFloat(number, 64)
		l.share /= 100
	} else {
		l.most, err = strconv.ParseInt(text, 10, 64)
	}
	if err != nil || l.most < 0 || percent && !(l.share >= 0 && l.share <= 1) {
		return l, fmt.Errorf("%q is neither a number of lines, such as 100, nor a share of them, such as 0.5%%", text)
	}
	return l, nil
}

// IsNone reports whether there is no limit.
func (l Limit) IsNone() bool { return l.none }

// A PolicyError says that a limit that was asked for is passed.
type PolicyError struct{ text string }

// Error says which.
func (e *PolicyError) Error() string { return e.text }

// NewPolicyError returns the error of a limit that was asked for, by its text.
func NewPolicyError(text string) error { return &PolicyError{text} }

// IsPolicy reports whether an error is a PolicyError.
func IsPolicy(err error) bool {
	_, ok := errors.AsType[*PolicyError](err)
	return ok
}

// Check returns a PolicyError if the lines that were rejected, of all, are too many. A share is
// looked at when atEnd.
func (l Limit) Check(rejected, all int64, atEnd bool) error {
	switch {
	case l.none:
	case l.share < 0 && rejected > l.most:
		return &PolicyError{fmt.Sprintf("rejected so far: %s; -max-rejects is %s", say.Count(rejected, "line"), l.text)}
	case atEnd && l.share >= 0 && float64(rejected) > l.share*float64(all):
		return &PolicyError{fmt.Sprintf("rejected: %s of %s; -max-rejects is %s", say.Number(rejected), say.Count(all, "line"), l.text)}
	}
	return nil
}
