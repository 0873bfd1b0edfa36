package flow

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/internal/place"
	"github.com/robobatch/robobatch/output"
)

// A Sink is the [engine.Sink] of verdicts. It also counts rejected lines, and lists them if the
// list has a name.
type Sink struct {
	guard.Sink[*output.File]
	List     guard.Sink[*File]
	Limit    Limit
	Rejected atomic.Int64 // lines
}

// Open creates the output and the list.
func (s *Sink) Open(inputs []string, create func() (*output.File, error)) error {
	if err := s.Create(create); err != nil || s.List.Name == "" {
		return err
	}
	return s.List.Create(func() (*File, error) { return Create(s.List.Name, inputs) })
}

// Write adds the rows of a batch. After that it returns a PolicyError if there are too many
// rejects.
func (s *Sink) Write(b *engine.Batch) error {
	if err := s.Use(func(f *output.File) error { return f.Write(b) }); err != nil {
		return err
	}
	if s.List.Name != "" {
		if err := s.List.Use(func(f *File) error { return f.Write(b) }); err != nil {
			return err
		}
	}
	return s.Limit.Check(s.Rejected.Add(int64(Count(b))), 0, false)
}

// CommitList completes the list, if there is one.
func (s *Sink) CommitList() error {
	if s.List.Name == "" {
		return nil
	}
	return s.List.Commit((*File).Commit)
}

// A Limit is the number of lines that may be rejected.
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
type PolicyError struct {
	text  string
	cause error
}

// Error says which.
func (e *PolicyError) Error() string { return e.text }

// Unwrap returns the cause, if there is one.
func (e *PolicyError) Unwrap() error { return e.cause }

// NewPolicyError returns the error of a limit that was asked for, by its text, and its causes.
func NewPolicyError(text string, causes ...error) error {
	return &PolicyError{text, errors.Join(causes...)}
}

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
		return NewPolicyError(fmt.Sprintf("rejected so far: %s; -max-rejects is %s", say.Count(rejected, "line"), l.text))
	case atEnd && l.share >= 0 && float64(rejected) > l.share*float64(all):
		return NewPolicyError(fmt.Sprintf("rejected: %s of %s; -max-rejects is %s", say.Number(rejected), say.Count(all, "line"), l.text))
	}
	return nil
}

// A Share is the least number of rows that must have a robots.txt. Its zero value asks for nothing.
type Share struct {
	text    string
	percent float64
}

// ParseShare reads a percentage, as in "99.5%"; "" means none.
func ParseShare(text string) (Share, error) {
	if text == "" {
		return Share{}, nil
	}
	number, ok := strings.CutSuffix(text, "%")
	percent, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(percent >= 0 && percent <= 100) {
		return Share{}, fmt.Errorf("%q is not a share of the rows: write one such as 99%%", text)
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
var errNoRows = NewPolicyError("the logs have no rows, which -no-rows fail does not accept")

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
		return NewPolicyError(fmt.Sprintf("%s of %s have a robots.txt in -rules (%s); -require-rules is %s",
			say.Number(with), say.Count(r.Decided, "row"), strings.TrimSpace(say.Percent(with, r.Decided)), q.Rules.text))
	}
	return nil
}

// A BadError says that a run had rows or lines, and no URL in any.
type BadError struct{ text string }

// Error names their fault.
func (e *BadError) Error() string { return e.text + "; -no-rows allow accepts it" }

// IsJudgement reports whether an error is about a run that went to its end.
func IsJudgement(err error) bool {
	_, bad := errors.AsType[*BadError](err)
	return bad || IsPolicy(err)
}

// A File lists the lines that gave no verdict as JSON Lines: those that are not of the input's
// format, and the rows without a valid URL. It has its name when Commit returns.
type File struct {
	file   place.Output
	buf    *bufio.Writer
	inputs []string
	line   []byte // scratch
}

// A rejectLine is a line of the file.
type rejectLine struct {
	Input  string `json:"input"`
	Line   int64  `json:"line"`
	Offset int64  `json:"offset"`
	Reason string `json:"reason"`
	Raw    string `json:"raw,omitempty"`     // the line, if it is UTF-8
	Base64 string `json:"raw_b64,omitempty"` // the line, if it is not
}

// Create opens a File. The inputs are the names by [engine.Batch].Input.
func Create(name string, inputs []string) (*File, error) {
	file, err := place.Create(name, nil)
	if err != nil {
		return nil, err
	}
	return &File{file: file, buf: bufio.NewWriterSize(file, 256<<10), inputs: inputs}, nil
}

// Count returns how many lines of an evaluated batch Write lists.
func Count(b *engine.Batch) int {
	n := b.Refused
	for _, site := range b.Sites {
		if site == engine.NoSite {
			n++
		}
	}
	return n
}

// Write lists the rejected lines of an evaluated batch, whose Source keeps raw lines, in the order of
// the lines.
func (r *File) Write(b *engine.Batch) error {
	refused := b.Rejects
	for i, site := range b.Sites {
		if site != engine.NoSite {
			continue
		}
		for len(refused) > 0 && refused[0].Line < b.Lines[i] {
			r.addReject(b, refused[0])
			refused = refused[1:]
		}
		r.addReject(b, engine.Reject{Line: b.Lines[i], Offset: b.Offsets[i], Raw: b.Raws[i], Reason: engine.ReasonBadURL.String()})
	}
	for _, reject := range refused {
		r.addReject(b, reject)
	}
	_, err := r.buf.Write(nil) // lines that failed before fail again
	return err
}

// input returns the name of the batch's input; "" if there is none.
func (r *File) input(b *engine.Batch) string {
	if b.Input < len(r.inputs) {
		return r.inputs[b.Input]
	}
	return ""
}

// addReject writes a line.
func (r *File) addReject(b *engine.Batch, reject engine.Reject) {
	line := rejectLine{Input: fieldtext.Valid(r.input(b)), Line: reject.Line, Offset: reject.Offset, Reason: reject.Reason}
	if raw := b.Piece(reject.Raw); utf8.Valid(raw) {
		line.Raw = string(raw)
	} else {
		line.Base64 = base64.StdEncoding.EncodeToString(raw)
	}
	text, err := json.Marshal(line)
	if err != nil {
		panic(err) // plain values always have a form in JSON
	}
	r.line = append(append(r.line[:0], text...), '\n')
	r.buf.Write(r.line)
}

// Commit completes the file and gives it its name. On an error nothing is left of it.
func (r *File) Commit() error {
	if err := r.buf.Flush(); err != nil {
		return errors.Join(err, r.Close())
	}
	return r.file.Commit()
}

// Close drops the file, unless Commit was called.
func (r *File) Close() error { return r.file.Close() }
