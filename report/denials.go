package report

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// Maximum numbers of distinct denials.
const (
	maxRules   = 1 << 14
	maxAnswers = 1 << 16
)

// A ruleKey identifies a rule, or a reason without a rule.
type ruleKey struct {
	ruling engine.RulingID
	line   int32
	reason engine.Reason
}

// A rule is a rule or reason that may deny a request.
type rule struct {
	text   string
	line   int32
	origin string // the first origin where it denied a request
	reason engine.Reason
}

// denials number the rules and reasons that denied requests.
type denials struct {
	look    *engine.Lookup
	rules   []rule
	ruleIDs map[ruleKey]int32
	all     [][]decided // sets of rules that together denied the verdicts of a row
	numbers             // numbers in all
	by      []decided   // rules of the current row
}

// denyingOf returns the number of denying verdicts of a row, and the index in all of the rules that denied them; -1
// if none denied. verdicts[i] is for agent first+i.
func (d *denials) denyingOf(b *engine.Batch, row, first int, verdicts []engine.Verdict) (denies uint16, answer int32) {
	d.by = d.by[:0]
	for a, v := range verdicts {
		if v.Access == engine.Denied {
			denies++
			d.by = countVerdict(d.by, d.ruleOf(b, row, first+a, v))
		}
	}
	return denies, d.answer()
}

// countVerdict counts a verdict for a rule.
func countVerdict(by []decided, rule int32) []decided {
	for i := range by {
		if by[i].rule == rule {
			by[i].verdicts++
			return by
		}
	}
	return append(by, decided{rule, 1})
}

// answer returns the index in all of the rules that denied the current row, and adds them if they are new.
func (d *denials) answer() int32 {
	if len(d.by) == 0 {
		return -1
	}
	if len(d.all) >= maxAnswers {
		d.by = d.by[:1] // if exceeded, verdicts stay correct, but are attributed to one rule; this is rare
	}
	d.key = d.key[:0]
	for _, by := range d.by {
		d.key = binary.LittleEndian.AppendUint32(d.key, uint32(by.rule))
		d.key = binary.LittleEndian.AppendUint32(d.key, uint32(by.verdicts))
	}
	id := d.find()
	if id < 0 {
		id = int32(len(d.all))
		d.all = append(d.all, slices.Clone(d.by))
		d.set(id)
	}
	return id
}

// ruleOf returns the index of the rule or reason that denied a row, and adds it if it is new.
func (d *denials) ruleOf(b *engine.Batch, i, agent int, v engine.Verdict) int32 {
	key := ruleKey{reason: v.Reason}
	var winner robots.Rule
	if v.Rule != engine.NoRule {
		winner = d.look.Rule(b.Rulings[i], agent, v.Rule)
		key.ruling, key.line = b.Rulings[i], winner.Line
	}
	id, known := d.ruleIDs[key]
	if known {
		return id
	}
	if len(d.rules) >= maxRules {
		key = ruleKey{reason: v.Reason, line: -1}
		if id, known = d.ruleIDs[key]; known {
			return id
		}
		winner = robots.Rule{Line: -1}
	}
	r := rule{line: winner.Line, reason: v.Reason}
	if winner.Line > 0 {
		r.text = strings.Clone(winner.String())
		if u, err := robots.SplitURL(b.URL(i)); err == nil {
			r.origin = strings.Clone(string(u.Prefix))
		}
	}
	id = int32(len(d.rules))
	d.rules, d.ruleIDs[key] = append(d.rules, r), id
	return id
}

// of returns the rules that denied the verdicts of the rows of a kind.
func (d *denials) of(k *kind) []decided {
	if k.answer < 0 {
		return nil
	}
	return d.all[k.answer]
}

// A decided counts the verdicts that a rule denied.
type decided struct {
	rule     int32 // index of denials.rules
	verdicts int64
}
