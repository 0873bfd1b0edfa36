package outputs

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

	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/process"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/output"
)

// A Sink is the [engine.Sink] of verdicts. It also counts rejected lines, and lists them if the list has a name.
type Sink struct {
	process.Sink[*output.File]
	List     process.Sink[*RejectFile]
	Limit    RejectLimit
	Rejected atomic.Int64 // lines
}

// Open creates the output and, if it has a name, the list. inputs are the names of the logs.
func (s *Sink) Open(inputs []string, create func() (*output.File, error)) error {
	if err := s.Create(create); err != nil || s.List.Name == "" {
		return err
	}
	return s.List.Create(func() (*RejectFile, error) { return CreateRejects(s.List.Name, inputs) })
}

// Write adds the rows of a batch to the output and the list. It then returns a PolicyError if there are too many
// rejects.
func (s *Sink) Write(b *engine.Batch) error {
	if err := s.Use(func(f *output.File) error { return f.Write(b) }); err != nil {
		return err
	}
	if s.List.Name != "" {
		if err := s.List.Use(func(f *RejectFile) error { return f.Write(b) }); err != nil {
			return err
		}
	}
	return s.Limit.Check(s.Rejected.Add(int64(CountRejects(b))), 0, false)
}

// CommitList completes the list, if there is one.
func (s *Sink) CommitList() error {
	if s.List.Name == "" {
		return nil
	}
	return s.List.Commit((*RejectFile).Commit)
}

// A RejectLimit is the number of lines that may be rejected.
type RejectLimit struct {
	text  string
	none  bool    // there is no limit
	most  int64   // lines
	share float64 // maximum share of all lines; unless it is negative, it is used instead of most
}

// ParseRejectLimit parses a number of lines, or a percentage as in "0.5%"; "" means no limit.
func ParseRejectLimit(text string) (RejectLimit, error) {
	l := RejectLimit{text: text, none: text == "", share: -1}
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
func (l RejectLimit) IsNone() bool { return l.none }

// A PolicyError means that a requested limit was exceeded.
type PolicyError struct {
	text  string
	cause error
}

// Error describes the limit.
func (e *PolicyError) Error() string { return e.text }

// Unwrap returns the causes.
func (e *PolicyError) Unwrap() error { return e.cause }

// NewPolicyError returns a PolicyError with a text and the errors that caused it.
func NewPolicyError(text string, causes ...error) error {
	return &PolicyError{text, errors.Join(causes...)}
}

// IsPolicy reports whether an error is a PolicyError.
func IsPolicy(err error) bool {
	_, ok := errors.AsType[*PolicyError](err)
	return ok
}

// Check returns a PolicyError if too many lines were rejected. A share is checked only if atEnd is true; then all is
// the number of all lines.
func (l RejectLimit) Check(rejected, all int64, atEnd bool) error {
	switch {
	case l.none:
	case l.share < 0 && rejected > l.most:
		return NewPolicyError(fmt.Sprintf("rejected so far: %s; -max-rejects is %s", msg.Count(rejected, "line"), l.text))
	case atEnd && l.share >= 0 && float64(rejected) > l.share*float64(all):
		return NewPolicyError(fmt.Sprintf("rejected: %s of %s; -max-rejects is %s", msg.Number(rejected), msg.Count(all, "line"), l.text))
	}
	return nil
}

// A Share is the minimum share of rows with a robots.txt. The zero value requires nothing.
type Share struct {
	text    string
	percent float64
}

// ParseShare parses a percentage, as in "99.5%"; "" means that nothing is required.
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

// Requirements are the conditions that a completed run must meet. The zero value requires at least one URL if there are
// rows.
type Requirements struct {
	Rules    Share // rows with a robots.txt, of those with a URL
	Rows     bool  // at least one row
	AllowBad bool  // do not require a URL
}

// Rows are the row counts of a completed run.
type Rows struct {
	Read    int64  // rows of the logs
	Decided int64  // verdicts on URLs
	Without int64  // verdicts without a robots.txt
	Bad     string // the fault that all rows and lines have; "" if some row has a URL, or there are no rows
}

// errNoRows is the error for a run without rows.
var errNoRows = NewPolicyError("the logs have no rows, which -no-rows fail does not accept")

// Check returns a [*PolicyError] or a [*BadError] if a run does not meet a requirement. It is called after all rows are
// written.
func (q *Requirements) Check(r Rows) error {
	with := r.Decided - r.Without
	switch {
	case r.Bad != "" && !q.AllowBad:
		return &BadError{r.Bad}
	case q.Rows && r.Read == 0:
		return errNoRows
	case q.Rules.text != "" && float64(with)*100 < q.Rules.percent*float64(r.Decided)*(1-1e-12): // 99.9 is not exact
		return NewPolicyError(fmt.Sprintf("%s of %s have a robots.txt in -rules (%s); -require-rules is %s",
			msg.Number(with), msg.Count(r.Decided, "row"), strings.TrimSpace(msg.Percent(with, r.Decided)), q.Rules.text))
	}
	return nil
}

// A BadError means that a run had rows or lines, but none of them had a URL.
type BadError struct{ text string }

// Error describes the common fault.
func (e *BadError) Error() string { return e.text + "; -no-rows allow accepts it" }

// IsJudgement reports whether an error is about a complete run: a limit that it exceeds, or a requirement that it
// fails.
func IsJudgement(err error) bool {
	_, bad := errors.AsType[*BadError](err)
	return bad || IsPolicy(err)
}

// A RejectFile lists the lines without a verdict as JSON Lines: lines that do not match the input's format, and rows
// without a valid URL. It gets its name in Commit.
type RejectFile struct {
	file   storage.Output
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
	Raw    string `json:"raw,omitempty"`     // the line, if it is valid UTF-8
	Base64 string `json:"raw_b64,omitempty"` // the line otherwise
}

// CreateRejects creates a RejectFile. inputs are the names of the logs, indexed by [engine.Batch].Input.
func CreateRejects(name string, inputs []string) (*RejectFile, error) {
	file, err := storage.Create(name, nil)
	if err != nil {
		return nil, err
	}
	return &RejectFile{file: file, buf: bufio.NewWriterSize(file, 256<<10), inputs: inputs}, nil
}

// CountRejects returns the number of lines that [RejectFile.Write] lists for an evaluated batch.
func CountRejects(b *engine.Batch) int {
	n := b.Refused
	for _, site := range b.Sites {
		if site == engine.NoSite {
			n++
		}
	}
	return n
}

// Write lists the rejected lines of an evaluated batch, in order. The source of the batch must be set to keep raw
// lines. The error may come from an earlier call.
func (r *RejectFile) Write(b *engine.Batch) error {
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
	_, err := r.buf.Write(nil) // returns an earlier write error again
	return err
}

// addReject writes a line of batch b to the buffer, which keeps any write error.
func (r *RejectFile) addReject(b *engine.Batch, reject engine.Reject) {
	input := "" // it has no name
	if b.Input < len(r.inputs) {
		input = r.inputs[b.Input]
	}
	line := rejectLine{Input: fieldtext.Valid(input), Line: reject.Line, Offset: reject.Offset, Reason: reject.Reason}
	if raw := b.Piece(reject.Raw); utf8.Valid(raw) {
		line.Raw = string(raw)
	} else {
		line.Base64 = base64.StdEncoding.EncodeToString(raw)
	}
	text, err := json.Marshal(line)
	if err != nil {
		panic(err) // plain values can always be encoded as JSON
	}
	r.line = append(append(r.line[:0], text...), '\n')
	r.buf.Write(r.line)
}

// Commit completes the file and gives it its name. After an error, nothing is left.
func (r *RejectFile) Commit() error {
	if err := r.buf.Flush(); err != nil {
		return errors.Join(err, r.Close())
	}
	return r.file.Commit()
}

// Close drops the file, unless Commit was called.
func (r *RejectFile) Close() error { return r.file.Close() }
