package columnar

// A ruleTable remembers the number and the line of rules that decided a verdict: an open-addressing
// hash table that holds no pointers, so that a row costs one probe. Forgotten rules are found again
// by way of the dictionary, which gives a text the same number: it may forget at any time.
type ruleTable struct {
	entries []ruleEntry // a power of two long, at most half full
	used    int
}

// A ruleEntry has the known facts of one rule.
type ruleEntry struct {
	group uint64 // see groupOf; 0 is an empty entry
	rule  int32  // index in the rule set of the group
	id    int32  // number of its text
	line  int32
}

// minRuleEntries is the size of the empty table: 96 KiB, which stay in the second-level cache.
const minRuleEntries = 1 << 12

// maxRuleEntries is the size of the largest table, 3 MiB: 65,536 rules. A log that needs more has
// its rules in no order, and a table of all of them took a third of the time to write it.
const maxRuleEntries = 1 << 17

func newRuleTable() ruleTable { return ruleTable{entries: make([]ruleEntry, minRuleEntries)} }

// reset forgets all rules. It keeps the memory unless most of it was not used.
func (t *ruleTable) reset() {
	if len(t.entries) > minRuleEntries && t.used < len(t.entries)/8 {
		t.entries = make([]ruleEntry, len(t.entries)/4)
	} else {
		clear(t.entries)
	}
	t.used = 0
}

// entry returns the entry of a rule. One that is new has group 0 and must be filled before the next
// call.
func (t *ruleTable) entry(group uint64, rule int32) *ruleEntry {
	e := t.probe(group, rule)
	if e.group != 0 {
		return e
	}
	t.used++
	if 2*t.used <= len(t.entries) {
		return e
	}
	if len(t.entries) < maxRuleEntries {
		t.grow()
	} else {
		clear(t.entries)
		t.used = 1
	}
	return t.probe(group, rule)
}

// probe returns the entry of a rule, or the empty one where it belongs.
func (t *ruleTable) probe(group uint64, rule int32) *ruleEntry {
	mask := uint64(len(t.entries) - 1)
	slot := (group*0x9E3779B97F4A7C15 + uint64(rule)*0xC2B2AE3D27D4EB4F) >> 40
	for {
		e := &t.entries[slot&mask]
		if e.group == 0 || e.group == group && e.rule == rule {
			return e
		}
		slot++
	}
}

// grow doubles the table.
func (t *ruleTable) grow() {
	old := t.entries
	t.entries = make([]ruleEntry, 2*len(old))
	for _, e := range old {
		if e.group != 0 {
			*t.probe(e.group, e.rule) = e
		}
	}
}
