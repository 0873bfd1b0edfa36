package summary

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"github.com/zeebo/xxh3"
)

// Add adds the counts of another run. The number of origins becomes unknown if both have rows, because both may have
// the same origins. The maps of c are changed; those of o are not shared.
func (c *Counts) Add(o *Counts) {
	switch {
	case c.Rows == 0:
		c.Origins = o.Origins
	case o.Rows > 0:
		c.Origins = nil
	}
	for _, pair := range []struct {
		to *int64
		n  int64
	}{
		{&c.URLs, o.URLs},
		{&c.Rows, o.Rows},
		{&c.Allowed, o.Allowed},
		{&c.Disallowed, o.Disallowed},
		{&c.Null, o.Null},
		{&c.RuleLineSum, o.RuleLineSum},
		{&c.Violations, o.Violations},
		{&c.Skipped, o.Skipped},
		{&c.Strays, o.Strays},
		{&c.Early, o.Early},
		{&c.Undated, o.Undated},
		{&c.Timeless, o.Timeless},
		{&c.Unfetched, o.Unfetched},
		{&c.Written, o.Written},
		{&c.URLBytes, o.URLBytes},
		{&c.EmptyLines, o.EmptyLines},
		{&c.LongLines, o.LongLines},
		{&c.HeaderLines, o.HeaderLines},
	} {
		*pair.to += pair.n
	}
	c.About = c.About || o.About
	addMap(&c.Reasons, o.Reasons)
	addMap(&c.Refused, o.Refused)
	addMap(&c.OddRequests, o.OddRequests)
}

// addMap adds the counts in from to those in *to, which is made if it is nil.
func addMap(to *map[string]int64, from map[string]int64) {
	if *to == nil {
		*to = make(map[string]int64, len(from))
	}
	for key, n := range from {
		(*to)[key] += n
	}
}

// AddAgents adds the counts of each agent to ByAgent, which it sorts in the order of Agents; other agents follow,
// sorted by name. It also adds others and unbound, unless the report or the argument has none.
func (r *Report) AddAgents(agents []AgentCount, others, unbound *Clients) {
	for _, a := range agents {
		i := slices.IndexFunc(r.ByAgent, func(sum AgentCount) bool { return sum.Agent == a.Agent })
		if i < 0 {
			i = len(r.ByAgent)
			r.ByAgent = append(r.ByAgent, AgentCount{Agent: a.Agent, Bound: a.Bound})
		}
		sum := &r.ByAgent[i]
		sum.Rows, sum.Allowed, sum.Disallowed, sum.Null = sum.Rows+a.Rows, sum.Allowed+a.Allowed, sum.Disallowed+a.Disallowed, sum.Null+a.Null
		sum.Verified = sum.Verified.addVerified(a.Verified)
		if a.Violations != nil {
			n := *a.Violations
			if sum.Violations != nil {
				n += *sum.Violations
			}
			sum.Violations = &n
		}
	}
	at := make(map[string]int, len(r.Agents))
	for i, agent := range r.Agents {
		at[agent] = i
	}
	place := func(a *AgentCount) (int, string) { // agents named only in a robots.txt come last
		if i, ok := at[a.Agent]; ok {
			return i, ""
		}
		return len(at), a.Agent
	}
	slices.SortStableFunc(r.ByAgent, func(a, b AgentCount) int {
		i, name := place(&a)
		k, other := place(&b)
		return cmp.Or(cmp.Compare(i, k), cmp.Compare(name, other))
	})
	r.Others.addClients(others)
	r.Unbound.addClients(unbound)
}

// addClients adds the rows of unidentified clients in o to those in c. It does nothing if either is nil.
func (c *Clients) addClients(o *Clients) {
	if c != nil && o != nil {
		c.Rows, c.Disallowed = c.Rows+o.Rows, c.Disallowed+o.Disallowed
	}
}

// ErrSeal means that a manifest was modified after it was written.
var ErrSeal = errors.New("its hash is wrong or missing: it was altered, an older version wrote it, or it is not a manifest of robobatch")

// Text before and after the hash in a seal.
const (
	before = ",\n  \"seal\": \""
	after  = "\"\n}\n"
)

// Text returns v, a non-empty struct, as sealed JSON, which [Read] reads.
func Text(v any) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	body := bytes.TrimSuffix(text, []byte("\n}"))
	sum := Hash(body)
	return append(append(append(body, before...), sum...), after...), nil
}

// Read checks the seal of JSON, and decodes it into v. It returns [ErrSeal], or a JSON error.
func Read(text []byte, v any) error {
	at := len(text) - len(before) - hex.EncodedLen(16) - len(after)
	if at < 0 {
		return ErrSeal
	}
	body := text[:at]
	if string(text[at:]) != before+Hash(body)+after {
		return ErrSeal
	}
	return json.Unmarshal(text, v)
}

// Hash returns the hash of bytes in the format of manifests.
func Hash(text []byte) string {
	sum := xxh3.Hash128(text).Bytes()
	return hex.EncodeToString(sum[:])
}
