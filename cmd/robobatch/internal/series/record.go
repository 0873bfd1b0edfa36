package series

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/place"
)

// A Record says that an output is complete, and has its inputs and its counts.
type Record struct {
	Made
	Input  Source `json:"input"`
	Output string `json:"output"` // below the directory
	summary.File
	Parts   []summary.NamedFile `json:"parts,omitempty"`   // of a partitioned output, which has no File
	Pending bool                `json:"pending,omitempty"` // its parts are being put in place, or removed: some may be there
	Format  string              `json:"format"`            // of the input's lines
	Field   string              `json:"url_field,omitempty"`
	summary.Took
	Counts   Counts            `json:"counts"`
	ByAgent  []Agent           `json:"by_agent"`
	Invalid  int64             `json:"invalid_bytes"`
	Reject   int64             `json:"rejected"` // lines
	Warnings []warning.Warning `json:"warnings"`

	// As in the summary of a run:
	Others     *summary.Clients    `json:"other_clients,omitempty"`
	Unbound    *summary.Clients    `json:"unbound_crawlers,omitempty"`
	Unverified *summary.Unverified `json:"unverified,omitempty"`
}

// NewRecord returns the record of a report on one input, whose output is complete.
func NewRecord(r *summary.Report) *Record {
	file := r.File
	if file == nil {
		file = new(summary.File)
	}
	return &Record{
		File: *file, Parts: r.Parts, Format: r.Inputs[0].Format, Field: r.Inputs[0].Field, Took: r.Inputs[0].Took, Counts: r.Counts, ByAgent: r.ByAgent, Invalid: r.Invalid, Warnings: r.Warnings,
		Others: r.Others, Unbound: r.Unbound, Unverified: r.Unverified,
	}
}

// output returns the output that the record is about.
func (r *Record) output() Output {
	return Output{r.Input.Name, r.Output, r.File, r.Warnings, r.Parts, r.Unverified}
}

// Counts are those of a report.
type Counts = summary.Counts

// Agent is the counts of one agent.
type Agent = summary.AgentCount

// Made has all that outputs depend on besides their inputs.
type Made struct {
	Version   string `json:"version"`
	RulesHash string `json:"rules_hash"`
	Flags     Flags  `json:"flags"`
	RulesName string `json:"rules_name,omitempty"` // for people; nothing depends on it
}

// Flags are the flags that change bytes of an output, as JSON, by their names with low lines.
type Flags map[string]json.RawMessage

// FlagsOf returns the fields of structs as flags.
func FlagsOf(forms ...any) (Flags, error) {
	all := Flags{}
	for _, form := range forms {
		text, err := json.Marshal(form)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Differ returns the names of the flags that differ, as they are written.
func (f Flags) Differ(other Flags) (names []string) {
	all := Flags{} // a record may have none
	maps.Copy(all, f)
	maps.Copy(all, other)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if compact(f[name]) != compact(other[name]) {
			names = append(names, "-"+strings.ReplaceAll(name, "_", "-"))
		}
	}
	return names
}

// Unlike returns the flags that differ from those of a record, each with both values. A record of another
// version has flags of its own; of these it takes only those that both have.
func (m *Made) Unlike(record *Made) (texts []string) {
	for _, name := range slices.Sorted(maps.Keys(m.Flags)) {
		now, was := compact(m.Flags[name]), compact(record.Flags[name])
		if _, both := record.Flags[name]; now == was || !both && m.Version != record.Version {
			continue
		}
		texts = append(texts, fmt.Sprintf("-%s (%s, and now %s)", strings.ReplaceAll(name, "_", "-"), was, now))
	}
	return texts
}

// compact returns JSON without the space that files have in it.
func compact(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(text)
}

// Differ names the differences: "other rules", "another -sort"; "" is nothing.
func (m *Made) Differ(other *Made) string {
	switch names := m.Flags.Differ(other.Flags); {
	case m.Version != other.Version:
		return "another version"
	case m.RulesHash != other.RulesHash:
		return "other rules"
	case len(names) > 0:
		return "another " + strings.Join(names, ", ")
	}
	return ""
}

// A Source is the bytes of an input.
type Source struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	XXH3  string `json:"xxh3,omitempty"` // 128 bits of the file as stored
	Tag   string `json:"etag,omitempty"` // in place of the hash, where the place of the file has one

	Part ingest.Part `json:"part,omitzero"` // that was read
}

// SourceOf reads the file of an item, unless its place knows a tag.
func SourceOf(item *Item, file string) (Source, error) {
	s := Source{Name: item.Name, Part: item.Part}
	p := place.Of(file)
	info, err := p.Stat(file)
	if err != nil {
		return s, err
	}
	if s.Bytes, s.Tag = info.Size, info.Tag; s.Tag != "" {
		return s, nil
	}
	s.Bytes, s.XXH3, err = place.Sum(file)
	return s, err
}

// A State is the knowledge of an output.
type State struct {
	Done   *Record // nil if it is not done
	Why    string  // the difference, if the output was done
	Kept   bool    // it was done, and its input cannot be read now
	Source Source
}

// Look finds out whether an output is done. It returns an error if the input cannot be read: an output that was done
// stays then, unless another input is known to be there.
func (d Dir) Look(item *Item, file string, want *Made) (State, error) {
	const another = "another input"
	r, why := d.read(item, want)
	if item.Err != nil {
		return State{Why: why, Kept: r != nil}, item.Err
	}
	if info, err := place.Of(file).Stat(file); r != nil && err == nil && info.Size != r.Input.Bytes {
		r, why = nil, another
	}
	source, err := SourceOf(item, file)
	switch {
	case err != nil:
		return State{Why: why, Kept: r != nil}, err
	case r != nil && source != r.Input:
		r, why = nil, another
	}
	return State{Done: r, Why: why, Source: source}, nil
}

// read returns the record of an output that is as it was left, and depends on the same rules, flags and version as want.
func (d Dir) read(item *Item, want *Made) (r *Record, why string) {
	text, err := place.ReadAll(d.record(item.Output))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ""
	}
	r = &Record{}
	if err != nil || summary.Read(text, r) != nil || r.Output != item.Output {
		return nil, "the record was altered, or comes from an older version"
	}
	if why := want.Differ(&r.Made); why != "" {
		return nil, why
	}
	if r.Pending {
		return nil, "an earlier run was stopped while it moved files"
	}
	for _, file := range filesOf(r.output()) {
		if asLeft(d.join(file.Name), &file.File) != "" {
			return nil, "the output has changed since"
		}
	}
	return r, ""
}

// asLeft returns "" if a file is as it was left, by its tag where its place has one, else by its bytes, or how it
// differs.
func asLeft(name string, want *summary.File) string {
	switch info, err := place.Of(name).Stat(name); {
	case errors.Is(err, fs.ErrNotExist):
		return missing
	case err != nil:
		return "cannot be read: " + atomicfile.Cause(err).Error()
	case info.Size != want.Bytes:
		return otherSize(info.Size, want.Bytes)
	case info.Tag == "" || want.Tag == "":
		return sameBytes(name, want)
	case info.Tag != want.Tag:
		return "was written again after its run"
	}
	return ""
}

// sameBytes returns "" if a file has the bytes that it had, or how it differs.
func sameBytes(name string, want *summary.File) string {
	if info, err := place.Of(name).Stat(name); err == nil && info.Size < 0 {
		return otherSize(info.Size, want.Bytes) // it may never end
	}
	switch size, hash, err := place.Sum(name); {
	case errors.Is(err, fs.ErrNotExist):
		return missing
	case err != nil:
		return "cannot be read: " + atomicfile.Cause(err).Error()
	case size != want.Bytes:
		return otherSize(size, want.Bytes)
	case hash != want.XXH3:
		return "has different contents than after its run"
	}
	return ""
}

// otherSize is how a file differs that has another size.
func otherSize(now, was int64) string {
	if now < 0 {
		return "is no longer a file"
	}
	return fmt.Sprintf("has %s bytes instead of %s", say.Number(now), say.Number(was))
}

// missing is how a file differs that is not there.
const missing = "is missing"

// Forget forgets an input, its output and the record.
func (d Dir) Forget(item *Item) {
	for _, name := range []string{item.OnDisk(), d.Output(item), d.record(item.Output)} {
		place.Forget(name)
	}
}

// Clear removes the record of an output, and then the output.
func (d Dir) Clear(item *Item) error {
	p := place.Of(d.Name)
	if d.Partitioned {
		return d.clearParts(item)
	}
	if err := p.Remove(d.record(item.Output)); err != nil {
		return err
	}
	return p.Remove(d.Output(item))
}

// Finish writes the record of an output that is complete.
func (d Dir) Finish(item *Item, r *Record) error {
	info, err := place.Of(d.Name).Stat(d.Output(item))
	if err != nil {
		return fmt.Errorf("look at the output: %w", err)
	}
	if info.Size != r.Bytes {
		return fmt.Errorf("%s has %s bytes, but %s were written: check that no other run writes it", say.File(d.Output(item)), say.Number(info.Size), say.Number(r.Bytes))
	}
	r.Output, r.Tag = item.Output, info.Tag
	return write(d.record(item.Output), r)
}

// write writes a manifest.
func write(name string, v any) error {
	text, err := summary.Text(v)
	if err != nil {
		return err
	}
	return place.Of(name).Write(name, text)
}

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

// failureLines returns failures in the form of the list: one per line.
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
	Shard   Shard     `json:"shard"`
	Shards  int       `json:"shards,omitempty"` // that were added up
	List    List      `json:"list"`
	Flags   Flags     `json:"flags"`
	Done    int       `json:"done"`    // outputs that are complete
	Resumed int       `json:"resumed"` // those of them that were complete before
	Failed  []Failure `json:"failed"`
	Outputs []Output  `json:"outputs,omitempty"`

	RunWarnings []warning.Warning `json:"run_warnings"` // that are about no input
}

// An Output is a complete output.
type Output struct {
	Input  string `json:"input"`
	Output string `json:"output"`
	summary.File
	Warnings []warning.Warning `json:"warnings,omitempty"`

	Parts      []summary.NamedFile `json:"parts,omitempty"`      // of a partitioned output, which has no File
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
func (s *Sum) Add(r *Record, item *Item) {
	s.Counts.Add(&r.Counts)
	s.AddAgents(r.ByAgent, r.Others, r.Unbound)
	s.Invalid += r.Invalid
	input := summary.Input{Name: r.Input.Name, Bytes: r.Input.Bytes, Format: r.Format, Field: r.Field}
	if item.IsPiece() {
		input.Bytes = item.Size
	}
	if !reflect.DeepEqual(r.Took, s.took) {
		input.Took, s.took = r.Took, r.Took
	}
	s.Inputs = append(s.Inputs, input)
	s.Series.Done++
	s.Series.Outputs = append(s.Series.Outputs, r.output())
	s.warnings.Add(r.Input.Name, r.Warnings)
}

// End makes the report of the sum.
func (s *Sum) End(out string) {
	s.Output = out
	s.Warnings = append(slices.Clone(s.Series.RunWarnings), s.warnings.Warnings(s.Series.Done)...)
	inputs := s.Series.Done + len(s.Series.Failed)
	noun := "log"
	if s.Series.List.Pieces > 0 {
		noun = "output"
	}
	what := say.Count(int64(inputs), noun)
	if sh := s.Series.Shard; !sh.Whole() {
		what = fmt.Sprintf("%s: %s of %s", sh, say.Number(int64(inputs)), say.Count(int64(s.Series.List.Inputs), noun))
	}
	if s.Series.Shards > 1 {
		what += fmt.Sprintf(" in %d shards", s.Series.Shards)
	}
	if s.Series.Resumed > 0 {
		what += fmt.Sprintf(", %s of them done earlier", say.Number(int64(s.Series.Resumed)))
	}
	if n := len(s.Series.Failed); n > 0 {
		what += fmt.Sprintf(", %s failed", say.Number(int64(n)))
	}
	s.Heading = what + " -> " + say.File(out)
}

// Write writes the statistics, sealed.
func (s *Stats) Write(name string) error { return write(name, s) }
