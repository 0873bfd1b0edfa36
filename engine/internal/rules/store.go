package rules

import (
	"github.com/robobatch/robobatch/internal/captures"
	"github.com/robobatch/robobatch/robots"
)

// Options choose how rules are compiled.
type Options struct {
	Dialect    robots.Dialect
	Agents     []robots.Agent
	Moment     Moment
	Directives []robots.Directive // whose lines Rulings keep
	Tokens     *Tokens            // gets the product tokens of all texts; nil is nobody
	Workers    int                // compiling goroutines; 0 or less means GOMAXPROCS
	Choices    bool               // Rulings have their Choices

	Misread  *Misread  // gets the texts that bind agents otherwise; nil is nobody
	Readings *Readings // of Agents; nil if only the dialect counts

	// Named, unless it is nil, reports whether an agent of this token, which is none of Agents, may be
	// looked for where a robots.txt names it, see Ruling.FindNamed. It is safe for concurrent use.
	Named func(robots.ProductToken) bool
	Fail  func(error) // receives the error if the rules of such an agent could not be loaded; set by the Store
}

// A Store has the rules in force for every origin. It is safe for concurrent use.
type Store interface {
	NumSites() int  // origins that are known; sites are numbered from 0
	InForce() int   // sites that have something in force, at any time
	Hash() string   // of the rulings in force for all sites
	Memory() Memory // of the rules loaded so far, equal texts counted once

	// Enough returns the limit of memory under which all rules would have stayed that were loaded; 0 if few of them
	// were dropped and loaded again.
	Enough() int64

	// Common returns the Sets of all agents by RulingID: nil where agents differ, or where the
	// rules are not always in memory. It is shorter than some RulingIDs are great. Matching looks
	// here first.
	Common() []*Set

	// Odd returns which texts are not robots.txt, as far as bytes tell.
	Odd() Odd

	// Tokens returns the product tokens that groups name, if they were asked for, and whether they
	// are all.
	Tokens() (all []robots.ProductToken, complete bool)

	// Redirects returns the redirects from each site that has some, in no order. A store that keeps none reads all sites.
	Redirects() map[uint32][]robots.Redirect

	// Texts returns the number of distinct texts.
	Texts() int

	// Key returns the key of a text, by its number. It is zero if the store has failed.
	Key(text int) captures.Key

	// Reader returns a Reader for one goroutine of that many.
	Reader(goroutines int) Reader

	// Budget returns how many bytes of rules each of that many batches may copy, because the store
	// may drop rules before the batch is written. It is 0 for a store that drops nothing.
	Budget(batches int) int64

	Err() error // why loading failed first; from then on no answer is of use
	Close() error
}

// A Reader finds rules for one goroutine.
type Reader interface {
	Find(origin []byte) (site uint32, id RulingID, ok bool)
	Periods(site uint32) []Period // nil unless they say more than the ruling, see Settle; of a site that is not Dated, one
	Newest(site uint32) int64     // of a site with periods: robots.History.NewestOf, in microseconds since 1970
	Ruling(id RulingID) *Ruling   // of an outcome or a text
	Set(id RulingID, agent int) *Set
	Origin(site uint32) robots.Origin
}

// AheadRows is the number of rows that are looked at ahead. A processor waits for some ten reads at a time; what was
// fetched must not leave its second-level cache before it is used.
const AheadRows = 64

// An AheadReader is a Reader whose reads of several rows can wait for memory together.
type AheadReader interface {
	// FindAll is Find for several origins, AheadRows at most. One that it does not find may still be there.
	FindAll(origins [][]byte, found []Found)

	// Fetch reads what deciding by some rulings, AheadRows at most, reads first, so that the caches of the processor have it. It returns a
	// number that depends on all that was read.
	Fetch(ids []RulingID) byte
}

// A Found is the result of Reader.Find.
type Found struct {
	Site uint32
	ID   RulingID
	OK   bool
}
