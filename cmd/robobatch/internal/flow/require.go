package flow

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
)

// A Share is how many rows at least must have a robots.txt. Its zero value asks for nothing.
type Share struct {
	text    string
	percent float64
}

// ParseShare reads a percentage, as in "99.5%"; "" is none.
func ParseShare(text string) (Share, error) {
	if text == "" {
		return Share{}, nil
	}
	number, ok := strings.CutSuffix(text, "%")
	percent, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(percent >= 0 && percent <= 100) {
		return Share{}, fmt.Errorf("%q is no share of the rows: write one such as 99%%", text)
	}
	return Share{text, percent}, nil
}

// Requirements are the least that a run must have in the end. The zero value asks that some row has a URL, if
// there are any.
type Requirements struct {
	Rules    Share // rows with a robots.txt, of those with a URL
	Rows     bool  // a row
	AllowBad bool  // do without a URL
}

// Rows are the rows that a run had in the end.
type Rows struct {
	Read    int64  // rows of the logs
	Decided int64  // verdicts on URLs
	Without int64  // those of them without a robots.txt
	Bad     string // the fault of all rows and lines; "" if some row has a URL, or there are none
}

// errNoRows is the error of a run without rows.
var errNoRows = &PolicyError{"there is no row; -no-rows fail asks for one"}

// Check returns a [*PolicyError] or a [*BadError] if a run lacks something. It is called when all
// rows are written.
func (q *Requirements) Check(r Rows) error {
	with := r.Decided - r.Without
	switch {
	case r.Bad != "" && !q.AllowBad:
		return &BadError{r.Bad}
	case q.Rows && r.Read == 0:
		return errNoRows
	case q.Rules.text != "" && float64(with)*100 < q.Rules.percent*float64(r.Decided)*(1-1e-12): // 99.9 is not exact
		return &PolicyError{fmt.Sprintf("%s of %s have a robots.txt in -rules (%s); -require-rules is %s",
			say.Number(with), say.Count(r.Decided, "row"), strings.TrimSpace(say.Percent(with, r.Decided)), q.Rules.text)}
	}
	return nil
}

// A BadError says that a run had rows or lines, and no URL in any.
type BadError struct{ text string }

// Error names their fault.
func (e *BadError) Error() string { return e.text + "; -no-rows allow takes that as it is" }

// IsJudgement reports whether an error is about a run that went to its end.
func IsJudgement(err error) bool {
	_, bad := errors.AsType[*BadError](err)
	return bad || IsPolicy(err)
}
