package rules

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/internal/captures"
	"github.com/robobatch/robobatch/internal/pack"
	"github.com/robobatch/robobatch/internal/wire"
	"github.com/robobatch/robobatch/robots"
)

// The rules of a Set are a chunk of a pack:
//
//	count      of the rules
//	text       length and bytes: their values, one after the other
//	rules      in the order of precedence: line; twice the size of the value, plus 1 for a rule that allows; offset of
//	           the value in text
//	automaton  length and bytes
//	rivals     1 byte: 1 if there are any; then three automata

// AppendBinary appends the encoding of the rules of an agent that has a group. [DecodeSet] reads it.
func (rs *Set) AppendBinary(dst []byte) []byte {
	table := rs.automaton.AppendBinary(nil)
	dst = slices.Grow(dst, len(rs.text)+6*len(rs.rules)+len(table)+32) // usually enough
	dst = binary.AppendUvarint(dst, uint64(len(rs.rules)))
	dst = wire.AppendText(dst, rs.text)
	for _, r := range rs.rules {
		dst = binary.AppendUvarint(dst, uint64(r.line))
		dst = binary.AppendUvarint(dst, uint64(r.size)<<1|uint64(allowIndex(r.allow)))
		dst = binary.AppendUvarint(dst, uint64(r.value))
	}
	dst = wire.AppendText(dst, table)
	if rs.rivals == nil {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	for _, a := range []*automaton.Automaton{rs.rivals.literal, rs.rivals.wild[0], rs.rivals.wild[1]} {
		dst = wire.AppendText(dst, a.AppendBinary(nil))
	}
	return dst
}

var errRules = fmt.Errorf("%w (the rules are invalid)", pack.ErrDamaged)

// DecodeSet returns the rules that AppendBinary wrote. It keeps no part of data. The error wraps pack.ErrDamaged if
// data is invalid.
func DecodeSet(data []byte) (*Set, error) {
	c := wire.NewCursor(data)
	rs := &Set{otherwise: Verdict{NoRule, ReasonDefault, Allowed}}
	count := c.Count()
	rs.text = string(c.Text())
	rs.rules = make([]ruleRef, count)
	for i := range rs.rules {
		line, size, value := c.Uvarint(), c.Uvarint(), c.Uvarint()
		if n := uint64(len(rs.text)); line > math.MaxInt32 || size>>1 > n || value > n-size>>1 {
			return nil, errRules
		}
		rs.rules[i] = ruleRef{uint32(value), uint32(size >> 1), int32(line), size&1 == 1}
	}
	a, err := decodeAutomaton(&c, count)
	if err != nil {
		return nil, err
	}
	rs.automaton = *a
	if c.Byte() == 1 {
		rs.rivals = &rivals{}
		for _, a := range []**automaton.Automaton{&rs.rivals.literal, &rs.rivals.wild[0], &rs.rivals.wild[1]} {
			if *a, err = decodeAutomaton(&c, count); err != nil {
				return nil, err
			}
		}
	}
	if !c.AtEnd() {
		return nil, errRules
	}
	return rs, nil
}

// decodeAutomaton reads the automaton for the given number of rules.
func decodeAutomaton(c *wire.Cursor, rules int) (*automaton.Automaton, error) {
	a, err := automaton.FromBytes(slices.Clone(c.Text()), rules)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRules, err)
	}
	return a, nil
}

// footprint returns the memory that the rules take, in bytes.
func (rs *Set) footprint() int64 {
	n := int(unsafe.Sizeof(*rs)) + rs.automaton.Size() + len(rs.rules)*int(unsafe.Sizeof(ruleRef{})) + len(rs.text)
	return int64(n + rs.rivals.size())
}

// Options choose how rules are compiled.
type Options struct {
	Dialect    robots.Dialect
	Agents     []robots.Agent
	Moment     Moment
	Directives []robots.Directive // whose lines Rulings keep
	Tokens     *Tokens            // collects the product tokens of all texts, unless it is nil
	Workers    int                // compiling goroutines; 0 or less means GOMAXPROCS
	Choices    bool               // Rulings have their Choices

	Misread  *Misread  // collects the texts that bind agents by other groups than their operators document, unless it is nil
	Readings *Readings // by index of Agents; nil if their operators have no reading other than the dialect

	// Named reports whether the agent of a token, which is not among Agents, may be looked up if a robots.txt names
	// it, see Ruling.FindNamed. nil means never. It is safe for concurrent use.
	Named func(robots.ProductToken) bool
	Fail  func(error) // receives the error if the rules of such an agent fail to load; set by the Store
}

// A Store has the rules in force for every origin. It is safe for concurrent use.
type Store interface {
	NumSites() int  // number of known origins; sites are numbered from 0
	InForce() int   // number of sites that have something in force at any time
	Hash() string   // hash of the rulings in force for all sites
	Memory() Memory // size of the rules loaded so far, equal texts counted once

	// Enough returns the memory limit under which no loaded rules would have been dropped, or 0 if few were dropped
	// and loaded again.
	Enough() int64

	// Common returns, by RulingID, the Set that all agents share, or nil if agents differ or if rules may be
	// dropped from memory. It may be too short for some RulingIDs. Matching uses it first.
	Common() []*Set

	// Odd returns which texts are not valid robots.txt, judged by their bytes.
	Odd() Odd

	// Tokens returns the product tokens that groups name, if Options asked for them, and whether the list is
	// complete.
	Tokens() (all []robots.ProductToken, complete bool)

	// Redirects returns the redirects of each site that has any, in no order. A store that does not keep them reads
	// all sites.
	Redirects() map[uint32][]robots.Redirect

	// Texts returns the number of distinct texts.
	Texts() int

	// Key returns the key of a text by its number. It is zero if the store has failed.
	Key(text int) captures.Key

	// Reader returns a Reader for one goroutine. goroutines is their number; they share a memory limit.
	Reader(goroutines int) Reader

	// Budget returns how many bytes of rules each of a number of batches may copy, because the store may drop rules
	// before a batch is written. It is 0 for a store that drops nothing.
	Budget(batches int) int64

	Err() error // first loading error; after it no answer is valid
	Close() error
}

// A Reader finds rules for one goroutine.
type Reader interface {
	Find(origin []byte) (site uint32, id RulingID, ok bool)
	Periods(site uint32) []Period // nil if they add nothing to the ruling, see SiteRuling
	Newest(site uint32) int64     // for a site with periods: robots.History.NewestOf, in microseconds since 1970
	Ruling(id RulingID) *Ruling   // of an outcome or a text
	Set(id RulingID, agent int) *Set
	Origin(site uint32) robots.Origin
}

// AheadRows is the number of rows that are prefetched together. A processor can wait for about ten reads at a time,
// and the prefetched data must still be in the second-level cache when they are used.
const AheadRows = 64

// An AheadReader is a Reader that can wait for the memory of several rows at the same time.
type AheadReader interface {
	// FindAll is like Find, for at most AheadRows origins. An origin that it does not find may still exist.
	FindAll(origins [][]byte, found []Found)

	// Fetch brings the data needed for decisions by at most AheadRows rulings into the processor's caches. The
	// result depends on all data read, so that the compiler keeps the reads.
	Fetch(ids []RulingID) byte
}

// A Found is the result of Reader.Find.
type Found struct {
	Site uint32
	ID   RulingID
	OK   bool
}
