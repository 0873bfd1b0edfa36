package ingest

import (
	"bytes"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

// A lostPart is a sequence of rejected lines without a row between them: a part of a log in another format.
type lostPart struct {
	input         int
	first         int64 // line
	lines, others int64 // others are requests in another format
	whole         int64 // of lines, without those that continue another, as in a traceback
	isText        bool  // a line of the part that can be continued was there
	counted       bool
}

// lostLines are the requests in another format of a log, outside of such parts: where two logs were merged by time.
type lostLines struct {
	input   int
	first   int64 // line
	lines   int64
	counted bool
}

// From so many lines on they count: garbage in a log comes in single lines.
const (
	mostAlone  = 10 // of a run, whole ones
	mostOthers = 3  // of a run
	mostApart  = 10 // of a log
)

// noteLostPart notes a line that was refused, and for which nothing else accounts.
func (r *rowReader) noteLostPart(b *engine.Batch, raw []byte, at where) {
	isOwn, isOther := weblog.ShapeOf(raw, r.kind)
	if isOwn {
		return
	}
	p, l := &r.part, &r.apart
	if p.input != b.Input {
		*p = lostPart{input: b.Input}
	}
	if l.input != b.Input {
		*l = lostLines{input: b.Input}
	}
	if p.lines == 0 {
		p.first = at.line
	}
	p.lines++
	text := bytes.TrimLeft(raw, " \t")
	isIndented := len(text) < len(raw)
	if isIndented && !isOther && bytes.HasPrefix(text, []byte{'{'}) {
		_, isOther = weblog.ShapeOf(text, r.kind)
	}
	if isOther {
		p.others++
	}
	if isOther || !isIndented || !p.isText {
		p.whole++
	}
	p.isText = p.isText || !isOther && !isIndented
	if p.counted {
		r.parts.count++
		return
	}
	if isOther {
		r.noteLostLine(at)
	}
	if p.whole < mostAlone && p.others < mostOthers {
		return
	}
	p.counted = true
	r.parts.addPlace(p.input, p.first)
	r.parts.count += p.lines - 1
	if l.counted {
		r.parts.count -= p.others
	} else {
		l.lines -= p.others
	}
}

// noteLostLine notes a request in another format.
func (r *rowReader) noteLostLine(at where) {
	l := &r.apart
	if l.counted {
		r.parts.count++
		return
	}
	if l.lines == 0 {
		l.first = at.line
	}
	if l.lines++; l.lines >= mostApart {
		l.counted = true
		r.parts.addPlace(l.input, l.first)
		r.parts.count += l.lines - 1
	}
}
