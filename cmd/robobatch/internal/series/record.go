package series

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/doubt"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/internal/place"
)

// A Record says that an output is complete, and has its inputs and its counts.
type Record struct {
	Made
	Input   Source        `json:"input"`
	Output  string        `json:"output"` // below the directory
	Bytes   int64         `json:"bytes"`  // of the output
	Format  string        `json:"format"` // of the input's lines
	Field   string        `json:"url_field,omitempty"`
	Counts  Counts        `json:"counts"`
	ByAgent []Agent       `json:"by_agent"`
	Invalid int64         `json:"invalid_bytes"`
	Reject  int64         `json:"rejected"` // lines
	Doubts  []doubt.Doubt `json:"doubts"`

	// As in the summary of a run:
	Others     *summary.Clients    `json:"other_clients,omitempty"`
	Unbound    *summary.Clients    `json:"unbound_crawlers,omitempty"`
	Unverified *summary.Unverified `json:"unverified,omitempty"`
}

// NewRecord returns the record of a report on one input.
func NewRecord(r *summary.Report) *Record {
	return &Record{
		Format: r.Inputs[0].Format, Field: r.Inputs[0].Field, Counts: r.Counts, ByAgent: r.ByAgent, Invalid: r.Invalid, Doubts: r.Doubts,
		Others: r.Others, Unbound: r.Unbound, Unverified: r.Unverified,
	}
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
}

// SourceOf reads a file, unless its place knows a tag.
func SourceOf(name, file string) (Source, error) {
	s := Source{Name: name}
	p := place.Of(file)
	info, err := p.Stat(file)
	if err != nil {
		return s, err
	}
	if s.Bytes, s.Tag = info.Size, info.Tag; s.Tag != "" {
		return s, nil
	}
	r, err := p.Open(file)
	if err != nil {
		return s, err
	}
	h := xxh3.New()
	s.Bytes, err = io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{r}, make([]byte, 1<<20))
	s.XXH3 = hashText(h)
	return s, errors.Join(err, r.Close())
}

// A State is the knowledge of an output.
type State struct {
	Done   *Record // nil if it is not done
	Why    string  // what differs, of an output that was done
	Kept   bool    // it was done, and nobody knows of what its input is now
	Source Source
}

// Look finds out whether an output is done. The error is that of the input: an output that was done
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
	source, err := SourceOf(item.Name, file)
	switch {
	case err != nil:
		return State{Why: why, Kept: r != nil}, err
	case r != nil && source != r.Input:
		r, why = nil, another
	}
	return State{Done: r, Why: why, Source: source}, nil
}

// read returns the record of an output that is as it was left, and was made of what is wanted now.
func (d Dir) read(item *Item, want *Made) (r *Record, why string) {
	text, err := place.ReadAll(d.record(item.Output))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ""
	}
	r = &Record{}
	if err != nil || json.Unmarshal(text, r) != nil || r.Output != item.Output {
		return nil, "the record cannot be read"
	}
	if why := want.Differ(&r.Made); why != "" {
		return nil, why
	}
	if info, err := place.Of(d.Name).Stat(d.Output(item)); err != nil || info.Size != r.Bytes {
		return nil, "the output is not as it was left"
	}
	return r, ""
}

// Forget forgets an input, its output and the record.
func (d Dir) Forget(item *Item) {
	for _, name := range []string{item.OnDisk(), d.Output(item), d.record(item.Output)} {
		place.Forget(name)
	}
}

// Clear removes the record of an output, and then the output.
func (d Dir) Clear(item *Item) error {
	p := place.Of(d.Name)
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
	r.Output, r.Bytes = item.Output, info.Size
	return writeJSON(d.record(item.Output), r)
}

// writeJSON writes a file of JSON.
func writeJSON(name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return place.Of(name).Write(name, append(text, '\n'))
}
