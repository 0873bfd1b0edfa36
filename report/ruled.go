package report

import (
	"encoding/binary"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
)

// ruled are the ways in which rules meet requests: the robots.txt in force, and for each set of rules that
// counts for a crawler the rule that decides and those that match. There are few of them.
type ruled struct {
	rules *aggregate.Rules
	all   []encounter
	ids   map[string]int32
	key   []byte
	last  int32  // that was met
	by    []byte // the key of last
	hand  []*aggregate.Outcome

	untold int64 // requests whose robots.txt came when there was no memory for it
	isLeft bool  // there was none for some outcomes
}

// lacks reports whether there was no memory for some matches.
func (r *ruled) lacks() bool { return r.isLeft || r.rules.Left() }

// An encounter is a robots.txt and the outcomes that its rules have.
type encounter struct {
	file     *aggregate.RuleFile
	outcomes []*aggregate.Outcome
}

// newRuled returns what counts in about so much memory.
func newRuled(store *engine.Store, memory int64) *ruled {
	return &ruled{rules: aggregate.NewRules(store, aggregate.RulesOptions{Memory: max(1, memory*3/4), Matchers: max(1, memory/4)}), ids: map[string]int32{}}
}

// of returns the number of what rules did to a row of a site that the store knows, -1 if there is no memory
// for it. agent is the crawler of the row; 0 without crawlers of the log.
func (r *ruled) of(b *engine.Batch, row, agent int, verdicts []engine.Verdict, prefix int) int32 {
	f := r.rules.File(b.Rulings[row], b.Sites[row])
	if f == nil {
		return -1
	}
	r.hand, r.key = r.hand[:0], binary.LittleEndian.AppendUint32(r.key[:0], f.Number)
	for a, v := range verdicts {
		if s, _ := r.rules.Set(f, agent+a, v); s != nil {
			o := r.rules.Outcome(b.URL(row), prefix, f, s, v.Rule)
			r.hand, r.key = append(r.hand, o), binary.LittleEndian.AppendUint32(r.key, o.Number)
		}
	}
	if len(r.all) > 0 && string(r.by) == string(r.key) {
		return r.last
	}
	if len(r.all) >= maxEncounters {
		return r.known(f)
	}
	id, known := r.ids[string(r.key)]
	if !known {
		id = int32(len(r.all))
		r.ids[string(r.key)] = id
		r.all = append(r.all, encounter{f, append([]*aggregate.Outcome(nil), r.hand...)})
	}
	r.last, r.by = id, append(r.by[:0], r.key...)
	return id
}

// maxEncounters is how many ways are told apart.
const maxEncounters = 1 << 18

// known returns the number of a file without outcomes, -1 if it has none.
func (r *ruled) known(f *aggregate.RuleFile) int32 {
	r.isLeft = true
	if id, known := r.ids[string(binary.LittleEndian.AppendUint32(r.key[:0], f.Number))]; known {
		return id
	}
	return -1
}
