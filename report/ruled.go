package report

import (
	"encoding/binary"
	"slices"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
)

// ruled are the ways in which rules meet requests: a kind, and for each set of rules that counts for a
// crawler the rules that match beside the one that decides. There are few of them.
type ruled struct {
	numbers
	rules   *aggregate.Rules
	all     []encounter
	most    int // of all
	hand    []*aggregate.Outcome
	samples map[asked]*aggregate.Sample // of the URLs of the outcomes of a rule that decides

	untold int64 // requests whose robots.txt came when there was no memory for it
	isLeft bool  // there was none for some outcomes
}

// lacks reports whether there was no memory for some matches.
func (r *ruled) lacks() bool { return r.isLeft || r.rules.Left() }

// asked are the rules that bind a crawler, and the number of the one that decides.
type asked struct {
	set  *aggregate.RuleSet
	rule int32
}

// An encounter is a kind and the outcomes that its rules have.
type encounter struct {
	kind     int32
	outcomes []*aggregate.Outcome
	rows     int64           // that were all looked at
	told     int64           // see kind.told
	variance float64         // of told
	urls     aggregate.Tally // those that are new for the kind; without crawlers of the log
}

// meet tells of a row that is looked at and stands for so many.
func (e *encounter) meet(stands int64) {
	if stands <= 1 {
		e.rows += stands
		return
	}
	e.told += stands
	e.variance += float64(stands * (stands - 1)) // as it is looked at with a probability of 1/stands
}

// encounterBytes are those of an encounter, with its place in a map.
const encounterBytes = 160

// newRuled returns what counts rules in about so much memory, and at most so many encounters.
func newRuled(store *engine.Store, memory int64, most int) *ruled {
	return &ruled{
		most:    most,
		rules:   aggregate.NewRules(store, aggregate.RulesOptions{Memory: max(1, memory*3/4), Matchers: max(1, memory/4)}),
		numbers: newNumbers(), samples: map[asked]*aggregate.Sample{},
	}
}

// open sets what rules are asked of a new kind, which has this row of a site that the store knows.
func (r *ruled) open(k *kind, b *engine.Batch, h *hand, verdicts []engine.Verdict) {
	if k.file = r.rules.File(b.Rulings[h.row], b.Sites[h.row]); k.file == nil {
		return
	}
	k.site = b.Sites[h.row]
	for a, v := range verdicts {
		if s, _ := r.rules.Set(k.file, int(h.local)+a, v); s != nil {
			k.asked = append(k.asked, asked{s, v.Rule})
		}
	}
}

// sampleOf returns the sample of the URLs of the outcomes of a rule, which are those of several kinds if it decides for
// several crawlers of the log.
func (r *ruled) sampleOf(of asked) *aggregate.Sample {
	s := r.samples[of]
	if s == nil {
		s = &aggregate.Sample{}
		r.samples[of] = s
	}
	return s
}

// meet returns the number of what rules do to a URL of a kind; -1 if there is no robots.txt, or no memory
// for it.
func (r *ruled) meet(k *kind, id int32, url []byte, prefix int) int32 {
	if k.file == nil {
		return -1
	}
	r.hand = r.hand[:0]
	for _, a := range k.asked {
		r.hand = append(r.hand, r.rules.Outcome(url, prefix, k.file, a.set, a.rule))
	}
	if k.first >= 0 && slices.Equal(r.all[k.last].outcomes, r.hand) { // most kinds have one
		return k.last
	}
	r.key = binary.LittleEndian.AppendUint32(r.key[:0], uint32(id))
	for _, o := range r.hand {
		r.key = binary.LittleEndian.AppendUint32(r.key, o.Number)
	}
	if n := r.find(); n >= 0 {
		k.last = n
		return n
	}
	if len(r.all) >= r.most {
		r.isLeft = true
		return k.first
	}
	n := int32(len(r.all))
	r.set(n)
	r.all = append(r.all, encounter{kind: id, outcomes: slices.Clone(r.hand)})
	if k.last = n; k.first < 0 {
		k.first = n
	}
	return n
}

// settle adds up the outcomes. It gives the sampled rows of a kind to its encounters, as those that were looked
// at tell. So the sum is exact, which is what the deciding rules have.
func (r *ruled) settle(all []kind) {
	for i := range r.all {
		e := &r.all[i]
		rows, variance := all[e.kind].share(e)
		for _, o := range e.outcomes {
			o.Add(e.rows, 0)
			o.Guess(rows, variance)
			o.Join(&e.urls)
		}
	}
	for i := range all {
		k := &all[i]
		rows := k.sum().rows
		switch {
		case k.stray:
		case k.file == nil || k.first < 0:
			r.untold += rows
		default:
			k.file.Requests += rows
			if outcomes := r.all[k.first].outcomes; len(outcomes) > 0 && r.rules.ByRow() {
				r.rules.Ask(outcomes[0], int(k.agent), rows)
			}
		}
	}
}
