package report

import (
	"encoding/binary"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
)

// A rowKey identifies the request of a row that has a URL.
type rowKey struct {
	hash, key uint64 // hash of the URL; and hash of URL and kind
	row       int
	agent     uint16 // its number in Counter.callers
	local     uint32 // the same in the batch
	faked     bool   // it did not come from the crawler
	isTxt     bool   // it is a request for a robots.txt
}

// A kind is a set of rows with the same ruling, crawler of the log, verdicts and deciding rules. There are few kinds.
type kind struct {
	aggregate.RowCounts
	agent  uint16 // the crawler that sent the request; 0 without crawlers of the log
	denies uint16 // of the verdicts: how many deny
	stray  bool   // the rules do not know the origin
	faked  bool   // an impostor of the crawler fetched
	answer int32  // index in denials.all of the rules that denied; -1 if none did
	file   *aggregate.RuleFile
	site   engine.SiteID      // the site of the last row
	asked  []askedRule        // of the file
	first  *aggregate.Outcome // an outcome of the first of asked, to which requests by crawler are added; nil if there is none
}

// An askedRule is a list of rules that binds a crawler, and the number of the one that decides.
type askedRule struct {
	set  *aggregate.RuleSet
	rule int32
}

// Memory of a kind in bytes, including its map entry; and of each verdict.
const (
	kindBytes    = 200
	verdictBytes = 34
)

// kinds are the kinds of the rows so far. When there are too many, further rows share one kind per crawler and number
// of denying verdicts.
type kinds struct {
	numbers
	all  []kind
	most int // of all
}

// findKind returns the number of the kind of a row; -1 if the kind is new and must be added with addKind.
func (k *kinds) findKind(b *engine.Batch, r *rowKey, verdicts []engine.Verdict) int32 {
	_, stray := b.Sites[r.row].Stray()
	k.key = binary.LittleEndian.AppendUint32(k.key[:0], uint32(b.Rulings[r.row]))
	k.key = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint32(k.key, r.local), r.agent)
	k.key = append(k.key, bit(stray), bit(r.faked))
	for _, v := range verdicts {
		k.key = binary.LittleEndian.AppendUint32(k.key, uint32(v.Rule))
		k.key = append(k.key, byte(v.Access), byte(v.Reason))
	}
	return k.find()
}

// findOverflow returns the number of the shared kind for rows whose own kind does not fit in memory. It has the same
// crawler and the same number of denying verdicts as the kind that findKind looked for.
func (k *kinds) findOverflow(of *kind) int32 {
	k.key = binary.LittleEndian.AppendUint16(k.key[:0], of.agent)
	k.key = append(binary.LittleEndian.AppendUint16(k.key, of.denies), bit(of.stray), bit(of.faked))
	return k.find()
}

// bit returns 1 for true.
func bit(is bool) byte {
	if is {
		return 1
	}
	return 0
}

// addKind adds the kind that findKind or findOverflow did not find.
func (k *kinds) addKind(of kind) int32 {
	id := int32(len(k.all))
	k.all = append(k.all, of)
	k.set(id)
	return id
}
