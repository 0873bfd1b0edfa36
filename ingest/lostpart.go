package ingest

import (
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

// A lostPart is a run of lines that were refused, with no row between them: a part of a log that has another format.
type lostPart struct {
	input         int
	lines, others int64 // others are those that look like another format
	counted       bool
}

// From so many lines on a run counts: garbage in a log comes in single lines.
const (
	mostAlone  = 10
	mostOthers = 3
)

// noteLostPart notes a line that was refused, and for which nothing else accounts.
func (r *rowReader) noteLostPart(b *engine.Batch, raw []byte, at where) {
	p := &r.part
	if p.input != b.Input {
		*p = lostPart{input: b.Input}
	}
	p.lines++
	if weblog.IsOtherFormat(raw, r.kind) {
		p.others++
	}
	switch {
	case p.counted:
		r.parts.count++
	case p.lines >= mostAlone || p.others >= mostOthers:
		p.counted = true
		r.parts.addPlace(b.Input, at.line)
		r.parts.count += p.lines - 1
	}
}
