package flow

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/internal/place"
)

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
