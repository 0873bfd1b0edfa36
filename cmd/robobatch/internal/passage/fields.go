package passage

import (
	"cmp"
	"errors"
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

// KeepAnswers has the status of answers and their bytes read, where all logs can have it and one of them does, and opens
// them again for that. It looks at the first rows of each; a pipe is not looked at, so its fields count only if -keep names
// them. If crawlers' conduct is asked for, or the bytes are those of pages, it has the method read, too, as KeepRequests does.
func (p *Passage) KeepAnswers() (err error) {
	before := len(p.LogOpt.Keep)
	p.Status = p.keepInt("status")
	p.Bytes = p.keepInt("bytes")
	if p.Status > 0 && (p.Now.Opt.Deeds || p.Bytes > 0) {
		p.Method = p.keepField("method", engine.KeptText, true)
	}
	return p.reopen(before)
}

// KeepRequests has the status of answers, their bytes, the method of requests and, if it is asked for, the address of the
// client read, where all logs can have it, and opens them again for that. A log that can be read only once is not looked
// at, and may lack them.
func (p *Passage) KeepRequests(client bool) (err error) {
	before := len(p.LogOpt.Keep)
	if client {
		p.Client = p.keepField(cmp.Or(p.LogOpt.Fields.Named[ingest.NameClient], ingest.NameClient), engine.KeptText, true)
	}
	p.Status, p.Bytes, p.Method = p.keepField("status", engine.KeptInt, true), p.keepField("bytes", engine.KeptInt, true), p.keepField("method", engine.KeptText, true)
	return p.reopen(before)
}

// reopen opens the logs again, if more fields are kept than before.
func (p *Passage) reopen(before int) (err error) {
	if len(p.LogOpt.Keep) == before {
		return nil
	}
	opt, names := &p.LogOpt, p.InputNames()
	if err = p.Logs.Close(); err == nil {
		p.Logs, err = ingest.OpenLogs(names, *opt)
	}
	return err
}

// keepInt adds a field to those that are kept, if all logs can have it and one does. It returns 1 + its index; 0 is none.
func (p *Passage) keepInt(field string) int { return p.keepField(field, engine.KeptInt, false) }

// keepField is keepInt for values of any kind. blind keeps the field even if no first row has it, or the log is a pipe: later
// rows may have it.
func (p *Passage) keepField(field string, kind engine.KeptKind, blind bool) int {
	opt := &p.LogOpt
	column := ingest.KeptColumn{Field: field, Kind: kind}
	for i, k := range opt.Keep {
		if strings.EqualFold(k.Field, column.Field) && k.Kind == column.Kind {
			return i + 1
		}
	}
	found := blind
	for _, in := range p.Logs.Inputs() {
		if blind && isPipe(in) {
			continue
		}
		can, has := looksFor(in, *opt, column)
		if !can {
			return 0
		}
		found = found || has
	}
	if !found {
		return 0
	}
	column.Optional = blind
	opt.Keep = append(opt.Keep, column)
	return len(opt.Keep)
}

// fieldRows is how many of the first rows are looked at.
const fieldRows = 32

// looksFor reports whether a log that can be read twice can have a field, as its format and its header say, and whether
// one of its first rows has a value.
func looksFor(in ingest.Input, opt ingest.LogOptions, column ingest.KeptColumn) (can, has bool) {
	if isPipe(in) {
		return false, false
	}
	opt.Keep = []ingest.KeptColumn{column}
	b, err := firstRows(in, opt)
	return !errors.Is(err, ingest.ErrNoField), len(b.Kept) > 0 && slices.Contains(b.Kept[0].Present, true)
}

// isPipe reports whether a log can be read only once.
func isPipe(in ingest.Input) bool { return in.Name == say.Std || in.Size < 0 }

// firstRows returns the first rows of a log that can be read twice, or why there are none; none of another.
func firstRows(in ingest.Input, opt ingest.LogOptions) (b engine.Batch, err error) {
	if isPipe(in) {
		return b, nil
	}
	opt.Limit, opt.Ahead = fieldRows, 0
	logs, err := ingest.OpenLogs([]string{in.Name}, opt)
	if err != nil {
		return b, err
	}
	defer logs.Close()
	if !logs.Next(&b) || logs.Err() != nil {
		b.Reset()
	}
	return b, logs.Err()
}

// NamesClients reports whether some row says who sent the request.
func NamesClients(b *engine.Batch) bool {
	return slices.ContainsFunc(b.UserAgents, func(s engine.Span) bool { return s != engine.NoURL })
}

// LogsNameClients reports whether a first row of a log names the sender of the request. It does not look at logs that
// can be read only once.
func (p *Passage) LogsNameClients() bool {
	opt := p.LogOpt
	opt.Fields.Agents = true
	return slices.ContainsFunc(p.Logs.Inputs(), func(in ingest.Input) bool {
		b, _ := firstRows(in, opt) // the run meets the error
		return NamesClients(&b)
	})
}
