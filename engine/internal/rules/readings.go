package rules

import (
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/robots"
)

// Readings are the ways in which the operators of some agents may read a text, besides the dialect of Options. They
// are immutable.
//
// In most texts, each agent is bound by the same rules in all readings, so the agent's own Set decides for all of
// them. For other texts, a Ruling keeps the essence, and compiles the Sets of a reading when a row needs them, that
// is, when the dialect disallows the row.
type Readings struct {
	dialect robots.Dialect
	all     []robots.Dialect // of all agents together
	agents  []agentReadings  // by agent of Options
}

// An agentReadings is an agent, as each reading of its operator looks for its groups.
type agentReadings struct {
	agent    robots.Agent // in the dialect of Options
	dialects []robots.Dialect
	agents   []robots.Agent // by dialect
	others   bool           // some reading looks for other groups than the dialect of Options does
}

// NewReadings returns the readings of the named agents; nil if all of them read texts as d does. If named is true, it
// includes the readings of agents that only a text names. Agents without a product token, such as "*", have no
// readings.
func NewReadings(names []string, named bool, d robots.Dialect) *Readings {
	r := &Readings{dialect: d}
	add := func(dialects []robots.Dialect) {
		for _, other := range dialects {
			if other != d && !slices.Contains(r.all, other) {
				r.all = append(r.all, other)
			}
		}
	}
	if named {
		add(robots.Readings("*", d))
	}
	for _, name := range names {
		a := readingsOf(name, d)
		if a.agent.Token != "" {
			add(a.dialects)
		} else {
			a = agentReadings{}
		}
		r.agents = append(r.agents, a)
	}
	if len(r.all) == 0 {
		return nil
	}
	return r
}

// readingsOf returns the readings of the agent with that name. agent.Token is "" if the name has none.
func readingsOf(name string, d robots.Dialect) agentReadings {
	a := agentReadings{agent: robots.NewAgent(name, d), dialects: robots.Readings(name, d)}
	for _, other := range a.dialects {
		as := robots.NewAgent(name, other)
		a.agents = append(a.agents, as)
		a.others = a.others || as.IgnoresStar != a.agent.IgnoresStar || !slices.Equal(as.Fallbacks, a.agent.Fallbacks)
	}
	return a
}

// Dialects returns the readings of an agent of Options or, for -1, of an agent that only a text names.
func (r *Readings) Dialects(agent int) []robots.Dialect {
	switch {
	case r == nil:
		return nil
	case agent < 0:
		return robots.Readings("*", r.dialect)
	}
	return r.agents[agent].dialects
}

// OtherPaths returns a reading whose normal form of paths differs from that of a dialect, or the dialect itself if
// there is none.
func (r *Readings) OtherPaths(d robots.Dialect) robots.Dialect {
	if r != nil {
		for _, other := range r.all {
			if !other.SamePaths(d) {
				return other
			}
		}
	}
	return d
}

// essenceOf returns the essence of a text if, in some reading, some crawler has other rules than in the dialect;
// otherwise nil.
func essenceOf(body []byte, f *robots.File, d robots.Dialect, readings []robots.Dialect) []byte {
	essence := robots.Essence(body)
	for _, other := range readings {
		if other != d && mayReadDifferently(f, d, robots.Parse(essence, other), other) {
			return essence
		}
	}
	return nil
}

// Essence returns the essence of a text if some crawler of any operator may have other rules than in the dialect;
// otherwise nil. f is the text in that dialect.
func Essence(body []byte, f *robots.File, d robots.Dialect) []byte {
	return essenceOf(body, f, d, robots.AllReadings(d))
}

// mostCompared is the maximum number of rules of a text that are compared with those in another reading. A text
// with more is treated as different.
const mostCompared = 1 << 17

// mayReadDifferently reports whether some crawler may have different rules in two readings of a text: file is the text
// parsed in dialect d, and otherFile the text parsed in dialect other. It may return true although all rules have the
// same effect, but false is always correct.
func mayReadDifferently(file *robots.File, d robots.Dialect, otherFile *robots.File, other robots.Dialect) bool {
	if slices.EqualFunc(file.Groups, otherFile.Groups, func(a, b robots.Group) bool {
		return a.Star == b.Star && slices.Equal(a.Agents, b.Agents) && sameRules(a.Rules, d, b.Rules, other)
	}) {
		return false
	}
	byToken, tokens := groupsByToken(file), groupsByToken(otherFile)
	if len(byToken) != len(tokens) {
		return true
	}
	left := mostCompared
	compared := map[string]bool{}
	for token, groups := range byToken {
		others, named := tokens[token]
		if !named {
			return true
		}
		key := groupsKey(groupsKey(nil, groups), others)
		if compared[string(key)] {
			continue
		}
		compared[string(key)] = true
		rules, otherRules := mergeRules(file, groups), mergeRules(otherFile, others)
		if left -= len(rules) + len(otherRules); left < 0 || !sameEffect(rules, d, otherRules, other) {
			return true
		}
	}
	return false
}

// sameRules reports whether two lists of rules are equal, rule by rule.
func sameRules(rules []robots.Rule, d robots.Dialect, others []robots.Rule, other robots.Dialect) bool {
	return slices.EqualFunc(rules, others, func(a, b robots.Rule) bool {
		index, ok := d.IndexPattern(a)
		otherIndex, otherOK := other.IndexPattern(b)
		return a.Allow == b.Allow && a.Pattern == b.Pattern && d.Length(a.Pattern) == other.Length(b.Pattern) && ok == otherOK && index == otherIndex
	})
}

// groupsByToken returns the groups that name each product token, by the token in lower case, and the groups for all
// crawlers under "*". The groups of a token are ascending.
func groupsByToken(f *robots.File) map[string][]int {
	by := map[string][]int{}
	add := func(token string, group int) {
		if list := by[token]; len(list) == 0 || list[len(list)-1] != group {
			by[token] = append(list, group)
		}
	}
	for i := range f.Groups {
		for _, t := range f.Groups[i].Agents {
			add(strings.ToLower(string(t)), i)
		}
		if f.Groups[i].Star {
			add("*", i)
		}
	}
	return by
}

// groupsKey appends a map key for a list of groups.
func groupsKey(dst []byte, groups []int) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(groups)))
	for _, g := range groups {
		dst = binary.AppendUvarint(dst, uint64(g))
	}
	return dst
}

// mergeRules returns the rules of several groups, in the order of the groups. It does not change the file.
func mergeRules(f *robots.File, groups []int) (all []robots.Rule) {
	for _, i := range groups {
		all = append(all, f.Groups[i].Rules...)
	}
	return all
}

// An effect is what a list of rules does in a dialect. Patterns that match the same paths share a canonical text;
// the effect has their distinct lengths by this text.
type effect struct {
	lengths [2]map[string]int // of rules that disallow, and of rules that allow
}

// effectOf returns the effect of rules in a dialect. Of patterns with the same canonical text, it has the greatest
// length. Rules that match no path have no effect.
func effectOf(rules []robots.Rule, d robots.Dialect) (e effect) {
	e.lengths = [2]map[string]int{{}, {}}
	add := func(pattern string, allow bool) {
		if pattern[0] != '/' && pattern[0] != '*' { // matches no path
			return
		}
		key := automaton.ParsePattern(pattern).String()
		lengths := e.lengths[allowIndex(allow)]
		if n, known := lengths[key]; !known || n < d.Length(pattern) {
			lengths[key] = d.Length(pattern)
		}
	}
	for _, r := range rules {
		add(r.Pattern, r.Allow)
		if pattern, ok := d.IndexPattern(r); ok {
			add(pattern, true)
		}
	}
	return e
}

// mostPairs is the maximum number of pairs of a crawler's rules that are compared.
const mostPairs = 1 << 16

// sameEffect reports whether two lists of rules, each in its dialect, give every path the same verdict. It compares the
// Disallow patterns, and for each Allow rule which of them it overrides, if a path can match both. It may return false
// although the effect is the same, but true is always correct.
func sameEffect(rules []robots.Rule, d robots.Dialect, others []robots.Rule, otherDialect robots.Dialect) bool {
	if sameRules(rules, d, others, otherDialect) {
		return true
	}
	x, y := effectOf(rules, d), effectOf(others, otherDialect)
	denied := x.lengths[0]
	if len(denied) != len(y.lengths[0]) {
		return false
	}
	for key := range denied {
		if _, both := y.lengths[0][key]; !both {
			return false
		}
	}
	pairs := 0
	for i, allowed := range [...]map[string]int{x.lengths[1], y.lengths[1]} {
		for key := range allowed {
			if _, seen := x.lengths[1][key]; seen && i > 0 {
				continue
			}
			if pairs += len(denied); pairs > mostPairs {
				return false
			}
			for other := range denied {
				if x.allows(key, other) != y.allows(key, other) && mayMeet(key, other) {
					return false
				}
			}
		}
	}
	return true
}

// allows reports whether the list has the Allow rule, and that rule takes precedence over the rule that disallows. The
// arguments are canonical texts of patterns.
func (e *effect) allows(allowed, denied string) bool {
	n, ok := e.lengths[1][allowed]
	return ok && n >= e.lengths[0][denied]
}

// mayMeet reports whether some path may match both patterns. It compares only the text before their first wildcards, so
// it may return true although there is no such path.
func mayMeet(pattern, other string) bool {
	pattern, closedA := literalStart(pattern)
	other, closedB := literalStart(other)
	switch {
	case closedA && closedB:
		return pattern == other
	case closedA:
		return strings.HasPrefix(pattern, other)
	case closedB:
		return strings.HasPrefix(other, pattern)
	}
	return strings.HasPrefix(pattern, other) || strings.HasPrefix(other, pattern)
}

// literalStart returns the text of a pattern before its first wildcard, and whether the pattern matches only that path.
func literalStart(pattern string) (text string, closed bool) {
	if star := strings.IndexByte(pattern, '*'); star >= 0 {
		return pattern[:star], false
	}
	return strings.CutSuffix(pattern, "$")
}

// A Reading is a Set by which the operator of an agent may read a text, with the dialect in which paths are read.
type Reading struct {
	Set     *Set // nil means the agent's own
	Dialect robots.Dialect
}

// others are the readings of a text that differ from the dialect of Options. They are safe for concurrent use.
type others struct {
	options *Readings
	fail    func(error)
	source  []byte            // the essence; nil if all readings have the same rules for each token
	special map[int][]Reading // by agent: readings that look for other groups, if source is nil

	mu    sync.RWMutex
	known map[int][]Reading // by agent; nil if all readings have the effect of its own Set
	files map[robots.Dialect]*robots.File
	sets  map[string]*Set // by dialect and groups
	size  int64           // bytes of sets
	most  int64           // maximum of size: above that all are dropped, and made again when needed
}

// SetOthers sets the readings of a text. Its essence is nil if each token has the same rules in all readings; otherwise
// it is kept, and must not change. f is the text in the dialect of Options, and load returns the Set of some of its
// groups. The memory is added to r.Size. Without opt.Readings, nothing is done.
func (r *Ruling) SetOthers(f *robots.File, essence []byte, opt *Options, load func(groups []int) (*Set, error)) error {
	if opt.Readings == nil {
		return nil
	}
	o := &others{options: opt.Readings, fail: opt.Fail, source: essence}
	if essence != nil {
		const parsed, sets = 16, 8 // memory as multiples of the essence, roughly
		o.known, o.files, o.sets = map[int][]Reading{}, map[robots.Dialect]*robots.File{}, map[string]*Set{}
		o.most = sets*int64(len(essence)) + 4096
		r.Size += int64(len(essence)*parsed) + o.most
		r.setReadings(o)
		return nil
	}
	named := tokensOf(f)
	for i := range opt.Readings.agents {
		a := &opt.Readings.agents[i]
		if !a.others {
			continue
		}
		own, isNamed := f.Binding(a.agent), named.includeAgent(a.agent)
		var all []Reading
		differ := false
		for k, as := range a.agents {
			groups, set := own, (*Set)(nil)
			if as.IgnoresStar != a.agent.IgnoresStar || named.includeAgent(as) || isNamed {
				groups = f.Binding(as)
			}
			if !slices.Equal(groups, own) {
				var err error
				if set, err = load(groups); err != nil {
					return err
				}
				r.Size += set.footprint()
				differ = true
			}
			all = append(all, Reading{set, a.dialects[k]})
		}
		if differ {
			if o.special == nil {
				o.special = map[int][]Reading{}
			}
			o.special[i] = all
		}
	}
	if o.special != nil {
		r.setReadings(o)
	}
	return nil
}

// setReadings sets the readings of the text, and marks all Sets of r as read in several ways.
func (r *Ruling) setReadings(o *others) {
	r.others = o
	for _, set := range r.Sets {
		if set != NoGroup {
			set.isRead = true
		}
	}
}

// HasReadings reports whether Readings returns a value other than nil for some agent.
func (r *Ruling) HasReadings() bool { return r.others != nil }

// Readings returns the Sets by which the operator of an agent may read the text; nil if all have the effect of the
// agent's own Set. The agent is one of Options, or one that FindNamed returned. The result is remembered, and must not
// be changed.
func (r *Ruling) Readings(agent int) []Reading {
	o := r.others
	switch {
	case o == nil:
		return nil
	case o.source == nil:
		return o.special[agent]
	}
	o.mu.RLock()
	all, known := o.known[agent]
	o.mu.RUnlock()
	if known {
		return all
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if agent < len(r.Sets) {
		all = o.readAs(&o.options.agents[agent])
	} else {
		a := readingsOf(r.NameOf(agent), o.options.dialect)
		all = o.readAs(&a)
	}
	const entry = 256
	o.addSize(entry)
	o.known[agent] = all
	return all
}

// ReadingsOf is like Readings, for a crawler by name that is not an agent of the text in the dialect of Options.
func (r *Ruling) ReadingsOf(name string) []Reading {
	o := r.others
	if o == nil || o.source == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	a := readingsOf(name, o.options.dialect)
	return o.readAs(&a)
}

// readAs compiles the readings of an agent. It returns nil if they all have the effect of the agent's own rules, and
// after an error, which it reports to o.fail. The caller holds o.mu.
func (o *others) readAs(agent *agentReadings) (all []Reading) {
	f := o.parsedIn(o.options.dialect)
	own := mergeRules(f, f.Binding(agent.agent))
	differ := false
	for i, d := range agent.dialects {
		g := o.parsedIn(d)
		differ = differ || !sameEffect(own, o.options.dialect, mergeRules(g, g.Binding(agent.agents[i])), d)
	}
	for i, d := range agent.dialects {
		if !differ {
			break
		}
		g := o.parsedIn(d)
		groups := g.Binding(agent.agents[i])
		key := string(groupsKey(binary.AppendUvarint(nil, uint64(d)), groups))
		set := o.sets[key]
		if set == nil {
			var err error
			if set, err = CompileGroups(g, groups, d); err != nil {
				o.fail(err)
				return nil
			}
			o.addSize(set.footprint())
			o.sets[key] = set
		}
		all = append(all, Reading{set, d})
	}
	return all
}

// addSize adds to the size of the kept Sets, before one is added. If the total gets too large, it drops all kept Sets
// first.
func (o *others) addSize(size int64) {
	if o.size += size; o.size > o.most {
		clear(o.known)
		clear(o.sets)
		o.size = size
	}
}

// parsedIn returns the text, parsed in a dialect. It remembers the result. The caller holds o.mu.
func (o *others) parsedIn(d robots.Dialect) *robots.File {
	f := o.files[d]
	if f == nil {
		f = robots.Parse(o.source, d)
		o.files[d] = f
	}
	return f
}
