package series

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/shard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/internal/place"
)

// A Failure is an input that has no output, and why.
type Failure struct {
	Input  string `json:"input"`
	Output string `json:"output"` // that is not there
	Error  string `json:"error"`
}

// WriteFailures writes the list of failures.
func (d Dir) WriteFailures(failures []Failure) error {
	text, err := failureLines(failures)
	if err != nil {
		return err
	}
	return place.Of(d.Name).Write(d.Failed(), text)
}

// failureLines returns failures as a list has them: a line each.
func failureLines(failures []Failure) ([]byte, error) {
	var text bytes.Buffer
	for _, f := range failures {
		line, err := json.Marshal(f)
		if err != nil {
			return nil, err
		}
		text.Write(append(line, '\n'))
	}
	return text.Bytes(), nil
}

// Stats are the summary of a run with one output per input, or of one of its shards.
type Stats struct {
	*summary.Report
	Series Series `json:"series"`
}

// A Series is the part of Stats besides a summary.
type Series struct {
	Shard   shard.Shard `json:"shard"`
	Shards  int         `json:"shards,omitempty"` // that were added up
	List    List        `json:"list"`
	Flags   Flags       `json:"flags"`
	Done    int         `json:"done"`    // outputs that are complete
	Resumed int         `json:"resumed"` // those of them that were complete before
	Failed  []Failure   `json:"failed"`
	Outputs []Output    `json:"outputs,omitempty"`

	RunWarnings []warning.Warning `json:"run_warnings"` // that are about no input
}

// An Output is one that is complete.
type Output struct {
	Input  string `json:"input"`
	Output string `json:"output"`
	summary.File
	Warnings []warning.Warning `json:"warnings,omitempty"`

	Unverified *summary.Unverified `json:"unverified,omitempty"` // rows that -limit ended before their checksum
}

// A Sum adds up the records of inputs.
type Sum struct {
	Stats
	warnings warning.Sum
	took     summary.Took // of the last input
}

// NewSum returns a Sum of nothing. The report has the facts that are known before.
func NewSum(r *summary.Report, s Series) *Sum {
	s.Failed = []Failure{}
	s.RunWarnings = append([]warning.Warning{}, r.Warnings...)
	r.Inputs = []summary.Input{}
	return &Sum{Stats: Stats{r, s}}
}

// Add adds an output that is complete.
func (s *Sum) Add(r *Record) {
	s.Counts.Add(&r.Counts)
	s.AddAgents(r.ByAgent, r.Others, r.Unbound)
	s.Invalid += r.Invalid
	input := summary.Input{Name: r.Input.Name, Bytes: r.Input.Bytes, Format: r.Format, Field: r.Field}
	if !reflect.DeepEqual(r.Took, s.took) {
		input.Took, s.took = r.Took, r.Took
	}
	s.Inputs = append(s.Inputs, input)
	s.Series.Done++
	s.Series.Outputs = append(s.Series.Outputs, Output{r.Input.Name, r.Output, r.File, r.Warnings, r.Unverified})
	s.warnings.Add(r.Input.Name, r.Warnings)
}

// End makes the report of the sum.
func (s *Sum) End(out string) {
	s.Output = out
	s.Warnings = append(slices.Clone(s.Series.RunWarnings), s.warnings.Warnings(s.Series.Done)...)
	inputs := s.Series.Done + len(s.Series.Failed)
	what := say.Count(int64(inputs), "log")
	if sh := s.Series.Shard; !sh.Whole() {
		what = fmt.Sprintf("%s: %s of %s", sh, say.Number(int64(inputs)), say.Count(int64(s.Series.List.Inputs), "log"))
	}
	if s.Series.Shards > 1 {
		what += fmt.Sprintf(" in %d shards", s.Series.Shards)
	}
	if s.Series.Resumed > 0 {
		what += fmt.Sprintf(", %s of them done before", say.Number(int64(s.Series.Resumed)))
	}
	if n := len(s.Series.Failed); n > 0 {
		what += fmt.Sprintf(", %s failed", say.Number(int64(n)))
	}
	s.Heading = what + " -> " + say.File(out)
}

// Write writes the statistics, sealed.
func (s *Stats) Write(name string) error { return write(name, s) }
