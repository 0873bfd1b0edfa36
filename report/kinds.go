package report

import (
	"encoding/binary"
	"math/bits"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
)

// A kind is what rows share that are decided alike: what is in force, the crawler of the log, and the
// verdicts with the rules that decide. There are few of them, so that what follows from the kind alone is
// counted exactly, for each row.
type kind struct {
	agent  uint16 // the crawler that fetched; 0 without crawlers of the log
	denies uint16 // of the verdicts: how many deny
	stray  bool   // the rules do not know the origin
	answer int32  // what denied, see denials.all; -1 if nothing did
	file   *aggregate.RuleFile
	site   engine.SiteID // the last one that the file was asked for
	asked  []asked       // of the file
	first  int32         // of its encounters; -1 if there is none
	last   int32         // of these, if there is one: the one that was met last

	held   counts          // rows that were in the table of requests
	passed counts          // rows that never were
	urls   aggregate.Tally // without encounters and crawlers of the log

	// Of the rows that passed, all are looked at while they are few; of sampled rows after that those in a
	// sample, which stand for the others. The URLs that are told from others are another sample, as each must
	// be in it with all of its rows or none.
	sample  aggregate.Sample
	urlsIn  *aggregate.Sample
	sampled int64
	told    int64 // rows for which those in the sample stand
	shared  int64 // of told, and of the rows: those that share gave to encounters
	given   int64
	level   uint8 // the greatest of the sample
}

// sum returns what is counted of all rows.
func (k *kind) sum() counts {
	sum := k.held
	sum.add(&k.passed)
	return sum
}

// share returns how many of the sampled rows are those of an encounter, and the variance of that. It must be
// asked for each encounter: the shares add up to the rows.
func (k *kind) share(e *encounter) (rows int64, variance float64) {
	if k.told == 0 {
		return 0, 0
	}
	k.shared += e.told
	hi, lo := bits.Mul64(uint64(k.shared), uint64(k.sampled))
	upTo, _ := bits.Div64(hi, lo, uint64(k.told))
	rows = int64(upTo) - k.given
	k.given += rows
	return rows, max(e.variance, missing(k.level))
}

// What a kind takes, with its place in a map; and for each verdict, with what its encounter has of that.
const (
	kindBytes    = 280
	verdictBytes = 34
)

// kinds are the kinds of the rows so far. Those that come when there are too many are one for each crawler and
// number of verdicts that deny.
type kinds struct {
	numbers
	all  []kind
	most int // of all
}

func newKinds(most int) kinds { return kinds{numbers: newNumbers(), most: most} }

// of returns the number of the kind of a row, -1 if it is new: then add adds it.
func (k *kinds) of(b *engine.Batch, h *hand, verdicts []engine.Verdict) int32 {
	_, stray := b.Sites[h.row].Stray()
	k.key = binary.LittleEndian.AppendUint32(k.key[:0], uint32(b.Rulings[h.row]))
	k.key = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint32(k.key, h.local), h.agent)
	k.key = append(k.key, bit(stray))
	for _, v := range verdicts {
		k.key = binary.LittleEndian.AppendUint32(k.key, uint32(v.Rule))
		k.key = append(k.key, byte(v.Access), byte(v.Reason))
	}
	return k.find()
}

// rest looks for the kind of rows that are not told apart, instead of the one that of looked for. It has
// the crawler of that, and as many verdicts that deny.
func (k *kinds) rest(of *kind) int32 {
	k.key = binary.LittleEndian.AppendUint16(k.key[:0], of.agent)
	k.key = append(binary.LittleEndian.AppendUint16(k.key, of.denies), bit(of.stray))
	return k.find()
}

// bit returns 1 for true.
func bit(is bool) byte {
	if is {
		return 1
	}
	return 0
}

// add adds the kind that was looked for.
func (k *kinds) add(of kind) int32 {
	id := int32(len(k.all))
	k.all = append(k.all, of)
	k.set(id)
	return id
}
