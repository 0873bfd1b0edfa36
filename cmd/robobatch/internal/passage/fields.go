package passage

import (
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/output"
)

// SetKinds sets the kinds of the kept columns to those that the logs have.
func SetKinds(kept []output.KeptColumn, logs *ingest.Logs) {
	for i := range kept {
		kept[i].Kind = logs.Kept()[i].Kind
	}
}

// InputNames returns the names of the logs.
func (p *Passage) InputNames() (names []string) {
	for _, in := range p.Logs.Inputs() {
		names = append(names, in.Name)
	}
	return names
}

// KeepStatus has the status of requests read, where all logs have it, and opens them again for that. It looks
// at the first rows of each; a pipe is not looked at, so its status counts only if -keep names it.
func (p *Passage) KeepStatus() (err error) {
	opt := &p.LogOpt
	column := ingest.KeptColumn{Field: "status", Kind: engine.KeptInt}
	for i, k := range opt.Keep {
		if strings.EqualFold(k.Field, column.Field) && k.Kind == column.Kind {
			p.Status = i + 1
			return nil
		}
	}
	for _, in := range p.Logs.Inputs() {
		if !hasField(in, *opt, column) {
			return nil
		}
	}
	opt.Keep = append(opt.Keep, column)
	p.Status = len(opt.Keep)
	names := p.InputNames()
	if err = p.Logs.Close(); err == nil {
		p.Logs, err = ingest.OpenLogs(names, *opt)
	}
	return err
}

// fieldRows is in how many of the first rows a field has to have a value.
const fieldRows = 32

// hasField reports whether a log that can be read twice has a field: a value in one of the first rows.
func hasField(in ingest.Input, opt ingest.LogOptions, column ingest.KeptColumn) bool {
	opt.Keep = []ingest.KeptColumn{column}
	b := firstRows(in, opt)
	return len(b.Kept) > 0 && slices.Contains(b.Kept[0].Present, true)
}

// firstRows returns the first rows of a log that can be read twice; none of another.
func firstRows(in ingest.Input, opt ingest.LogOptions) (b engine.Batch) {
	if in.Name == say.Std || in.Size < 0 {
		return b
	}
	opt.Limit, opt.Ahead, opt.IntactOnly = fieldRows, 0, false
	logs, err := ingest.OpenLogs([]string{in.Name}, opt)
	if err != nil {
		return b
	}
	defer logs.Close() //nolint:errcheck // only read
	if !logs.Next(&b) || logs.Err() != nil {
		b.Reset()
	}
	return b
}

// NamesClients reports whether some row says who sent the request.
func NamesClients(b *engine.Batch) bool {
	return slices.ContainsFunc(b.UserAgents, func(s engine.Span) bool { return s != engine.NoURL })
}

// LogsNameClients reports whether a first row of a log says who sent the request. What can be read only once is
// not looked at.
func (p *Passage) LogsNameClients() bool {
	opt := p.LogOpt
	opt.Fields.Agents = true
	return slices.ContainsFunc(p.Logs.Inputs(), func(in ingest.Input) bool {
		b := firstRows(in, opt)
		return NamesClients(&b)
	})
}
