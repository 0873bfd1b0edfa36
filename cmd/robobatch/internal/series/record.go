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

	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/storage"
)

// A Record marks an output as complete, with its inputs and counts.
type Record struct {
	Made
	Input  Source `json:"input"`
	Output string `json:"output"` // relative to the directory
	summary.File
	Parts   []summary.NamedFile `json:"parts,omitempty"`   // for a partitioned output, which has no File
	Pending bool                `json:"pending,omitempty"` // its partition files are being moved or removed, so only some of them may exist
	Format  string              `json:"format"`            // format of the input's lines
	Field   string              `json:"url_field,omitempty"`
	summary.Took
	Counts   Counts            `json:"counts"`
	ByAgent  []Agent           `json:"by_agent"`
	Invalid  int64             `json:"invalid_bytes"`
	Reject   int64             `json:"rejected"` // rejected lines
	Warnings []warning.Warning `json:"warnings"`

	// Same as in the summary of a run:
	Others     *summary.Clients    `json:"other_clients,omitempty"`
	Unbound    *summary.Clients    `json:"unbound_crawlers,omitempty"`
	Unverified *summary.Unverified `json:"unverified,omitempty"`
}

// NewRecord returns the record of a complete output, made from the report about its only input. The caller sets Made,
// Input and Reject; Finish and FinishParts set the rest. The record shares memory with the report.
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

// output returns the output of the record.
func (r *Record) output() Output {
	return Output{r.Input.Name, r.Output, r.File, r.Warnings, r.Parts, r.Unverified}
}

// Counts are the counts of a report.
type Counts = summary.Counts

// Agent is the counts of one agent.
type Agent = summary.AgentCount

// Made holds everything, besides the inputs, that outputs depend on.
type Made struct {
	Version   string `json:"version"`
	RulesHash string `json:"rules_hash"`
	Flags     Flags  `json:"flags"`
	RulesName string `json:"rules_name,omitempty"` // for readers only
}

// Flags holds the values, as JSON, of the flags that change bytes of an output. The keys are the names of the flags
// with underscores.
type Flags map[string]json.RawMessage

// FlagsOf returns the fields of structs as flags, by their names in JSON. If several structs have a field, the last
// one counts.
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

// Differ returns the names of the flags that differ, as written on the command line.
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

// FlagDifferences returns the flags that differ from those of a record, with both values. If another version of the
// program wrote the record, only flags that both versions know are compared.
func (m *Made) FlagDifferences(record *Made) (texts []string) {
	for _, name := range slices.Sorted(maps.Keys(m.Flags)) {
		now, was := compact(m.Flags[name]), compact(record.Flags[name])
		if _, both := record.Flags[name]; now == was || !both && m.Version != record.Version {
			continue
		}
		texts = append(texts, fmt.Sprintf("-%s (%s, and now %s)", strings.ReplaceAll(name, "_", "-"), was, now))
	}
	return texts
}

// compact returns a JSON value in one form, so that values can be compared: without white space, with sorted keys. A
// text that is not JSON is returned unchanged.
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

// Differ describes the first difference of two records in version, rules or flags, such as "other rules" or "another
// -sort"; "" if there is none.
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

// A Source identifies the bytes of an input.
type Source struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	XXH3  string `json:"xxh3,omitempty"` // 128-bit hash of the file as stored
	Tag   string `json:"etag,omitempty"` // ETag, used instead of the hash if the storage has one

	Part ingest.Part `json:"part,omitzero"` // the part that was read
}

// SourceOf identifies the stored input of an item: by the hash of the file or, for an object, by its ETag. For a
// hash, it reads the whole file.
func SourceOf(item *Item, file string) (Source, error) {
	s := Source{Name: item.Name, Part: item.Part}
	p := storage.Of(file)
	info, err := p.Stat(file)
	if err != nil {
		return s, err
	}
	if s.Bytes, s.Tag = info.Size, info.Tag; s.Tag != "" {
		return s, nil
	}
	s.Bytes, s.XXH3, err = storage.Sum(file)
	return s, err
}

// A State describes an existing output.
type State struct {
	Done   *Record // nil if it is not complete
	Why    string  // how it differs, if it was complete
	Kept   bool    // the output was complete, but its input cannot be read now
	Source Source
}

// Look checks whether an output is complete. If the input cannot be read, it returns an error; a complete output is
// then kept, unless the record belongs to another input.
func (d Dir) Look(item *Item, file string, want *Made) (State, error) {
	const another = "another input"
	r, why := d.read(item, want)
	if item.Err != nil {
		return State{Why: why, Kept: r != nil}, item.Err
	}
	if info, err := storage.Of(file).Stat(file); r != nil && err == nil && info.Size != r.Input.Bytes {
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

// read returns the record of an output, if the output is unmodified and was made with the same rules, flags and
// version as want. Otherwise it returns nil and the reason, which is "" if there is no record.
func (d Dir) read(item *Item, want *Made) (r *Record, why string) {
	text, err := storage.ReadAll(d.record(item.Output))
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
		if fileDifference(d.join(file.Name), &file.File) != "" {
			return nil, "the output has changed since"
		}
	}
	return r, ""
}

// fileDifference says how a file differs from its record; "" if it does not. It compares the ETag if the storage has
// one, and the bytes otherwise.
func fileDifference(name string, want *summary.File) string {
	switch info, err := storage.Of(name).Stat(name); {
	case errors.Is(err, fs.ErrNotExist):
		return missing
	case err != nil:
		return "cannot be read: " + atomicfile.WithoutPath(err).Error()
	case info.Size != want.Bytes:
		return sizeDifference(info.Size, want.Bytes)
	case info.Tag == "" || want.Tag == "":
		return byteDifference(name, want)
	case info.Tag != want.Tag:
		return "was overwritten after its run"
	}
	return ""
}

// byteDifference says how the bytes of a file differ from the recorded size and hash; "" if they do not. It reads the
// whole file.
func byteDifference(name string, want *summary.File) string {
	if info, err := storage.Of(name).Stat(name); err == nil && info.Size < 0 {
		return sizeDifference(info.Size, want.Bytes) // reading it may never end
	}
	switch size, hash, err := storage.Sum(name); {
	case errors.Is(err, fs.ErrNotExist):
		return missing
	case err != nil:
		return "cannot be read: " + atomicfile.WithoutPath(err).Error()
	case size != want.Bytes:
		return sizeDifference(size, want.Bytes)
	case hash != want.XXH3:
		return "has changed since its run"
	}
	return ""
}

// sizeDifference describes a file with a different size.
func sizeDifference(now, was int64) string {
	if now < 0 {
		return "is no longer a file"
	}
	return fmt.Sprintf("has %s bytes instead of %s", msg.Number(now), msg.Number(was))
}

// missing describes a missing file.
const missing = "is missing"

// Forget drops what is stored in memory about an input, its output and the record.
func (d Dir) Forget(item *Item) {
	for _, name := range []string{item.OnDisk(), d.Output(item), d.record(item.Output)} {
		storage.Forget(name)
	}
}

// Clear removes the record of an output, and then the output. With partitions, it removes the files that the record
// lists, and then the record. It returns an error without removing anything if that record belongs to another input
// or was altered.
func (d Dir) Clear(item *Item) error {
	p := storage.Of(d.Name)
	if d.Partitioned {
		// The record lists the partition files, so it is removed after them. A record of another input is an error:
		// removing its files would lose the rows of that input.
		name := d.record(item.Output)
		r := &Record{}
		text, err := storage.ReadAll(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case summary.Read(text, r) != nil || r.Output != item.Output:
			return fmt.Errorf("%s was altered, so the files of %s in partitions are unknown: remove them, %s, and then this file", msg.File(name), msg.File(item.Name), msg.File(item.Output))
		case r.Input.Name != item.Name:
			return fmt.Errorf("%s and %s, of an earlier run, would have the same files in partitions, %s: name inputs by a pattern that includes the directories in which they differ, as in -in 'logs/*/*.gz'",
				msg.File(item.Name), msg.File(r.Input.Name), msg.File(item.Output))
		}
		return d.removeParts(r)
	}
	if err := p.Remove(d.record(item.Output)); err != nil {
		return err
	}
	return p.Remove(d.Output(item))
}

// Finish writes the record of a complete output, and sets its Output and Tag. It returns an error if the output does
// not have the recorded size.
func (d Dir) Finish(item *Item, r *Record) error {
	info, err := storage.Of(d.Name).Stat(d.Output(item))
	if err != nil {
		return fmt.Errorf("check the output: %w", err)
	}
	if info.Size != r.Bytes {
		return fmt.Errorf("%s has %s bytes, but %s were written: check that no other run writes it", msg.File(d.Output(item)), msg.Number(info.Size), msg.Number(r.Bytes))
	}
	r.Output, r.Tag = item.Output, info.Tag
	return writeManifest(d.record(item.Output), r)
}

// writeManifest writes a manifest.
func writeManifest(name string, v any) error {
	text, err := summary.Text(v)
	if err != nil {
		return err
	}
	return storage.Of(name).Write(name, text)
}

// A Failure is an input without an output, and the reason.
type Failure struct {
	Input  string `json:"input"`
	Output string `json:"output"` // the missing output
	Error  string `json:"error"`
}

// WriteFailures writes the list of failures.
func (d Dir) WriteFailures(failures []Failure) error {
	text, err := failureLines(failures)
	if err != nil {
		return err
	}
	return storage.Of(d.Name).Write(d.Failed(), text)
}

// failureLines formats failures as JSON Lines; nil if there are none.
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

// Stats is the summary of a run with one output per input, or of one of its shards.
type Stats struct {
	*summary.Report
	Series Series `json:"series"`
}

// A Series holds the fields of Stats besides the summary.
type Series struct {
	Shard   Shard     `json:"shard"`
	Shards  int       `json:"shards,omitempty"` // number of merged shards
	List    List      `json:"list"`
	Flags   Flags     `json:"flags"`
	Done    int       `json:"done"`    // complete outputs
	Resumed int       `json:"resumed"` // outputs that were already complete
	Failed  []Failure `json:"failed"`
	Outputs []Output  `json:"outputs,omitempty"`

	RunWarnings []warning.Warning `json:"run_warnings"` // warnings that do not belong to an input
}

// An Output is a complete output.
type Output struct {
	Input  string `json:"input"`
	Output string `json:"output"`
	summary.File
	Warnings []warning.Warning `json:"warnings,omitempty"`

	Parts      []summary.NamedFile `json:"parts,omitempty"`      // for a partitioned output, which has no File
	Unverified *summary.Unverified `json:"unverified,omitempty"` // rows whose checksum was not reached
}

// A Sum sums the records of inputs.
type Sum struct {
	Stats
	warnings warning.Sum
	took     summary.Took // fields of the last input
}

// NewSum returns an empty Sum. The report holds the facts that are known before the run.
func NewSum(r *summary.Report, s Series) *Sum {
	s.Failed = []Failure{}
	s.RunWarnings = append([]warning.Warning{}, r.Warnings...)
	r.Inputs = []summary.Input{}
	return &Sum{Stats: Stats{r, s}}
}

// Add adds the counts, files and warnings of a complete output. item is the input that the record belongs to.
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

// End sets the output, heading and warnings of the report. Call it after all outputs and failures have been added.
func (s *Sum) End(out string) {
	s.Output = out
	s.Warnings = append(slices.Clone(s.Series.RunWarnings), s.warnings.Warnings(s.Series.Done)...)
	inputs := s.Series.Done + len(s.Series.Failed)
	noun := "log"
	if s.Series.List.Pieces > 0 {
		noun = "output"
	}
	what := msg.Count(int64(inputs), noun)
	if sh := s.Series.Shard; !sh.Whole() {
		what = fmt.Sprintf("%s: %s of %s", sh, msg.Number(int64(inputs)), msg.Count(int64(s.Series.List.Inputs), noun))
	}
	if s.Series.Shards > 1 {
		what += fmt.Sprintf(" in %d shards", s.Series.Shards)
	}
	if s.Series.Resumed > 0 {
		what += fmt.Sprintf(", %s of them from earlier runs", msg.Number(int64(s.Series.Resumed)))
	}
	if n := len(s.Series.Failed); n > 0 {
		what += fmt.Sprintf(", %s failed", msg.Number(int64(n)))
	}
	s.Heading = what + " -> " + msg.File(out)
}

// Write writes the sealed statistics.
func (s *Stats) Write(name string) error { return writeManifest(name, s) }
