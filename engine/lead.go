package engine

import (
	"bytes"
	"encoding/binary"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/robots"
)

// A lead is the beginning of a path that determines the verdict: later rows with the same ruling whose paths begin
// with it get the same verdicts, and their paths are neither normalised nor matched. In logs grouped by host, half
// of the rows follow such a row.
//
// The bytes of a lead must be in normal form, whatever follows them, and no rule with a wildcard may still match.
// The zero lead matches no row.
type lead struct {
	ruling RulingID // rules.NoRuling, which has no rules, if there is no lead
	row    int      // row of the batch with the verdicts
	head   []byte   // beginning of its path as written, in the batch
	word   uint64   // first eight bytes of head, padded with zeros
	mask   uint64   // bytes of word that belong to head

	// suspect says which led rows are suspects, see Evaluator.dispute: none if it is 0, all if it is "%". Otherwise
	// a row is a suspect if its path has this byte or "%" after head, because it may be "/robots.txt" in normal
	// form.
	suspect byte

	debt   int      // leads set minus rows led, from 0 to mostDebt
	asks   int      // rows seen at that debt
	barren RulingID // last ruling that cannot have a lead; it is not tried again
}

// Setting a lead costs as much time as one led row saves. At mostDebt, which is reached in random order or if most
// paths are paths of rules, only one row in everyRow is tried.
const (
	mostDebt = 16
	everyRow = 32
)

// leads reports whether the path of a row begins with the lead, and the row has its ruling. size is the length of the
// path. text begins with the path, and continues with the bytes after it in the batch.
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

// suspects reports whether a led row is a suspect, if suspect is not 0.
func (l *lead) suspects(raw []byte) bool {
	n := len(l.head)
	return l.suspect == '%' || len(raw) > n && (raw[n] == l.suspect || raw[n] == '%')
}

// begin forgets the lead, which belongs to the previous batch.
func (l *lead) begin() { l.ruling, l.head, l.barren = rules.NoRuling, nil, rules.NoRuling }

// set makes the first n bytes of a path the lead. The path belongs to a row that id decided.
func (l *lead) set(id RulingID, row int, path []byte, n int) {
	l.ruling, l.row, l.head = id, row, path[:n]
	var word [8]byte
	copy(word[:], l.head)
	l.word = binary.LittleEndian.Uint64(word[:])
	l.mask = 1<<(8*min(n, 8)) - 1 // in Go, 1<<64 is 0
}

// tryLead makes the beginning of the path of a decided row the lead, if it determines the verdicts. raw is the path as
// written, and path its normal form; they must share their memory if they are equal.
func (e *Evaluator) tryLead(b *Batch, id RulingID, row int, raw, path []byte) {
	l := &e.lead
	if l.debt == mostDebt {
		if l.asks++; l.asks%everyRow != 0 {
			return
		}
	}
	if id == l.barren || len(path) != len(raw) || len(raw) == 0 || &path[0] != &raw[0] {
		return // the normal form differs from the path as written
	}
	l.debt = min(mostDebt, l.debt+1)
	reads := e.decisiveLen(b, id, row, path)
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

// decisiveLen returns the number of leading bytes of a row's path that decide its verdicts, as
// [automaton.Automaton.Reads] does.
func (e *Evaluator) decisiveLen(b *Batch, id RulingID, row int, path []byte) int {
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

// sharedWith returns the length of the common beginning of path and text.
func sharedWith(path []byte, text string) (n int) {
	for n < min(len(path), len(text)) && path[n] == text[n] {
		n++
	}
	return n
}
