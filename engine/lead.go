package engine

import (
	"bytes"
	"encoding/binary"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/robots"
)

// A lead is the beginning of a path, if it determines the verdict: later rows of the same ruling whose paths begin with
// it have the same verdicts. Half of the rows of a log grouped by host have such a row before them. Their paths are
// neither brought into normal form nor matched.
//
// That requires that its bytes are the same in normal form, whatever follows, and that no rule that may still match has
// a wildcard. The zero lead leads no row.
type lead struct {
	ruling RulingID // rules.NoRuling, which has no rules, if there is no lead
	row    int      // of the batch; it has the verdicts
	head   []byte   // of its path as written; in the batch
	word   uint64   // the first eight bytes of head, zeros after it
	mask   uint64   // the bytes of word that are of head

	// suspect says which rows that it leads are suspects, see Evaluator.dispute: none if it is 0, all if it is "%", otherwise those whose path has
	// this byte or "%" after head, as it may be "/robots.txt" in normal form.
	suspect byte

	debt   int      // leads that were found less rows that were led, from 0 to mostDebt
	asks   int      // rows that came with that debt
	barren RulingID // the last ruling that can have no lead: it is not asked again
}

// To find a lead costs as much as a row saves that it leads. With mostDebt, as in random order or
// where most paths are paths of rules, only one row of everyRow is asked.
const (
	mostDebt = 16
	everyRow = 32
)

// leads reports whether the path of a row begins so. text is the path and the text after it in the
// batch.
func (l *lead) leads(id RulingID, text []byte, size int) bool {
	n := len(l.head)
	if id != l.ruling || size < n {
		return false
	}
	if len(text) < 8 {
		return string(text[:n]) == string(l.head)
	}
	return (binary.LittleEndian.Uint64(text)^l.word)&l.mask == 0 && (n <= 8 || string(text[8:n]) == string(l.head[8:]))
}

// suspects reports whether a row that it leads is a suspect, unless suspect is 0.
func (l *lead) suspects(raw []byte) bool {
	n := len(l.head)
	return l.suspect == '%' || len(raw) > n && (raw[n] == l.suspect || raw[n] == '%')
}

// led notes that a row was led.
func (l *lead) led() { l.debt = max(0, l.debt-1) }

// begin forgets the lead, which is in the batch before.
func (l *lead) begin() { l.ruling, l.head, l.barren = rules.NoRuling, nil, rules.NoRuling }

// set makes the first n bytes of a path the lead, which are of a row that was decided by id.
func (l *lead) set(id RulingID, row int, path []byte, n int) {
	l.ruling, l.row, l.head = id, row, path[:n]
	var word [8]byte
	copy(word[:], l.head)
	l.word = binary.LittleEndian.Uint64(word[:])
	l.mask = 1<<(8*min(n, 8)) - 1 // in Go, 1<<64 is 0
}

// follow checks whether the path of a row that was decided, raw as written, is a lead.
func (e *Evaluator) follow(b *Batch, id RulingID, row int, raw, path []byte) {
	l := &e.lead
	if l.debt == mostDebt {
		if l.asks++; l.asks%everyRow != 0 {
			return
		}
	}
	if id == l.barren || len(path) != len(raw) || len(raw) == 0 || &path[0] != &raw[0] {
		return // in normal form it is not as written
	}
	l.debt = min(mostDebt, l.debt+1)
	reads := e.reads(b, id, row, path)
	if reads == automaton.Anywhere {
		l.barren = id
		return
	}
	if e.store.opt.Dialect.Has(robots.ImplicitRobotsTxt) {
		reads = max(reads, 1+sharedWith(path, robots.TxtPath))
	}
	if reads <= len(path) && bytes.IndexByte(path[:reads], '%') < 0 {
		l.set(id, row, path, reads)
		l.suspect = 0
		switch agents := e.store.agentsPerURL(); {
		case e.suspects.has(row):
			l.suspect = '%'
		case reads < len(robots.TxtPath) && string(l.head) == robots.TxtPath[:reads] && denies(b.Verdicts[row*agents:][:agents]):
			l.suspect = robots.TxtPath[reads]
		}
	}
}

// reads returns how many of the first bytes of the path of a row decide its verdicts, as
// [automaton.Automaton.Reads] does.
func (e *Evaluator) reads(b *Batch, id RulingID, row int, path []byte) int {
	if len(b.Agents) > 0 {
		return e.set(id, int(b.Agents[row])).Reads(path, &e.scratch)
	}
	if int(id) < len(e.common) && e.common[id] != nil {
		return e.common[id].Reads(path, &e.scratch)
	}
	r := e.reader.Ruling(id)
	most := 0
	for a, set := range r.Sets {
		if int(r.Firsts[a]) == a {
			most = max(most, set.Reads(path, &e.scratch))
		}
	}
	return most
}

// sharedWith returns how many bytes path and text begin with that are the same.
func sharedWith(path []byte, text string) (n int) {
	for n < min(len(path), len(text)) && path[n] == text[n] {
		n++
	}
	return n
}
