package engine

import (
	"github.com/robobatch/robobatch/robots"
)

// Missing says what holds for an origin of which there is no robots.txt.
type Missing uint8

// The values of Missing.
const (
	MissingAllow    Missing = iota // all is allowed, as when there is none to fetch (RFC 9309 section 2.3.1.3)
	MissingDisallow                // nothing is allowed
	MissingUnknown                 // there is no answer
)

// access is the answer for an origin that is missing.
var missingAccess = [...]Access{MissingAllow: Allowed, MissingDisallow: Denied, MissingUnknown: Unknown}

// A Site is an origin and its rules, for each agent of the store in their order.
type Site struct {
	Origin robots.Origin
	Rules  []*Ruleset // shared by sites of equal texts; where a fetch decides, a Ruleset without rules and with its verdict
	Firsts []uint16   // by agent: the first one that has the same Ruleset, which is itself or one before it; shared as Rules are

	more *siteMore // of a pack; nil if there is nothing
	size int64     // of a pack, bytes of memory that the rules take; 0 if all sites share them
}

// A siteMore is what is rarely needed of a site of a pack. Others have it in their Store.
type siteMore struct {
	clean   robots.CleanParams
	changes []change // with StoreOptions.RowTimes
}

// A Store holds the rules of many origins, compiled for some agents in one dialect. It is immutable and safe for
// concurrent use. Use [BuildStore], or [OpenPack].
type Store struct {
	dialect robots.Dialect
	names   []string
	sites   []Site
	common  []*Ruleset // by SiteID, for a store that is plain: the rules of all agents, nil if these differ
	ids     map[robots.Origin]SiteID
	missing Verdict
	hash    string
	memory  Memory
	cleans  []robots.CleanParams // by SiteID; nil unless they are asked for
	times   *timeStore           // with StoreOptions.RowTimes; else nil
	pack    *packStore           // where rules are loaded from when they are needed; nil if all are in sites

	logAgents LogAgents
}

// Memory is what compiled rules take, equal texts counted once, in bytes.
type Memory struct {
	Files  int   // distinct texts
	Rules  int   // patterns in force: those of the groups that the agents select
	Tables int64 // the automata
	Refs   int64 // line, length and place of each rule's text, for the columns rule_line and rule
	Text   int64 // that text: the rules' values as written
}

// Site returns the origin that id names, which must be one of the store's, or what is in force for it, if id is one of
// [Batch].InForce: that has Rules, and no Origin, while the origin has no Rules then. The result must not be changed. Of a store
// that was opened, see [Store.Err].
func (s *Store) Site(id SiteID) *Site {
	if s.pack != nil {
		return s.pack.site(id)
	}
	return &s.sites[id]
}

// NumSites returns the number of origins that have rules, or an outcome of their fetch in place of rules. Their SiteIDs
// are 0 to NumSites-1. Those of a pack that have none so early are among them, without Rules.
func (s *Store) NumSites() int {
	if s.pack != nil {
		return s.pack.file.Sites()
	}
	if s.times != nil {
		return len(s.times.changes)
	}
	return len(s.sites)
}

// InForce returns the number of origins that have rules, or an outcome in place of them, at the moment in question; with
// StoreOptions.RowTimes at any moment.
func (s *Store) InForce() int {
	if s.pack != nil {
		return s.pack.inForce
	}
	if s.times != nil {
		return s.times.inForce
	}
	return len(s.sites)
}

// Err returns the error that a pack was first found damaged with, or could not be read with, nil if there is none. From
// then on, what the Store and its Evaluators say of origins is of no use.
func (s *Store) Err() error {
	if s.pack != nil {
		return s.pack.err()
	}
	return nil
}

// Close closes the pack that the store was opened from, if any. The Store must not be used any more.
func (s *Store) Close() error {
	if s.pack != nil {
		return s.pack.close()
	}
	return nil
}

// AgentNames returns the agents as they were asked for. The result must not be changed.
func (s *Store) AgentNames() []string { return s.names }

// Dialect returns the dialect that the rules were read in.
func (s *Store) Dialect() robots.Dialect { return s.dialect }

// RulesHash returns a hash of the origins and of the texts of their robots.txt that are in force, or of the outcomes in
// place of them, in hexadecimal. It does not depend on where they were read from, nor on their order.
func (s *Store) RulesHash() string { return s.hash }

// Memory returns what the compiled rules take; of a pack, all that were loaded so far, each once.
func (s *Store) Memory() Memory {
	if s.pack != nil {
		return s.pack.loadedMemory()
	}
	return s.memory
}
