package rules

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/robobatch/robobatch/robots"
)

// A RulingID identifies the ruling in force at a site in a period: the rules of a text, or an outcome of fetches
// without rules. Sites with the same ruling in force have the same RulingID. Its value is one of the constants, or
// 1 + effect<<causeBits + cause for an outcome, or firstText + the number of a text.
type RulingID uint32

// The values for neither an outcome nor a text, and the layout of the others.
const (
	NoRuling  RulingID = 0            // of a URL without a valid origin, or not known yet
	NoRobots  RulingID = 1            // nothing was fetched: robots.NoRecord
	Dated     RulingID = 1<<32 - 1    // depends on the period, see SiteRuling and Reader.Periods
	causeBits          = 3            // few enough for all outcomes to be below firstText
	firstText          = RulingID(64) // the ID of text 0
)

// OutcomeRuling returns the RulingID of an outcome. text is the number of its text, if it has one.
func OutcomeRuling(o robots.Outcome, text int) RulingID {
	if o.Effect == robots.UseRules {
		return firstText + RulingID(text)
	}
	return 1 + RulingID(o.Effect)<<causeBits + RulingID(o.Cause)
}

// Text returns the number of the text whose rules are in force. ok is false if a fetch decides instead.
func (id RulingID) Text() (number int, ok bool) { return int(id) - int(firstText), id >= firstText }

// IsKnown reports whether the rules are known: a text is in force, or there was no robots.txt.
func (id RulingID) IsKnown() bool {
	_, cause := id.outcome()
	return id > NoRobots && (cause == robots.CauseFetched || cause == robots.CauseStatus4xx)
}

// IsFailed reports whether everything is disallowed because fetches fail.
func (id RulingID) IsFailed() bool {
	effect, _ := id.outcome()
	return id > NoRobots && effect == robots.DisallowAll
}

// outcome returns the effect and the cause.
func (id RulingID) outcome() (robots.Effect, robots.Cause) {
	if id >= firstText {
		return robots.UseRules, robots.CauseFetched
	}
	id--
	return robots.Effect(id >> causeBits), robots.Cause(id & (1<<causeBits - 1))
}

// A Ruling holds the rules in force, with one Set per agent. It is immutable.
type Ruling struct {
	Sets   []*Set             // by agent of Options
	Firsts []uint16           // by agent of Options: the first agent with the same Set
	Notes  []robots.Notes     // by directive of Options
	Clean  robots.CleanParams // the compiled Clean-param lines, if Options has that directive
	Size   int64              // bytes of memory
	Odd    robots.Oddity      // set only by CompileText

	Choices []Choice // by agent of Options, with Options.Choices; nil if a fetch decides

	Misread []int // indices in Misread.Agents of the agents that the text binds by other groups

	named       *named           // nil if there are none
	others      *others          // nil if there are none
	preferences *textPreferences // nil if there are none
}

// NewRuling returns a Ruling with these Sets, one per agent, which it keeps. Agents with the same rules must share one
// Set.
func NewRuling(sets []*Set) *Ruling {
	const overhead = 256 // of the Ruling and its cache entry
	r := &Ruling{Sets: sets, Firsts: make([]uint16, len(sets)), Size: overhead + 10*int64(len(sets))}
	for i, rs := range sets {
		r.Firsts[i] = uint16(slices.Index(sets[:i+1], rs))
		if int(r.Firsts[i]) == i {
			r.Size += rs.footprint()
		}
	}
	return r
}

// SetNotes sets r.Notes and r.Clean, and adds their memory to r.Size. It keeps the notes.
func (r *Ruling) SetNotes(notes []robots.Notes, d robots.Dialect) {
	r.Notes, r.Clean = notes, d.CleanParams(notes)
	for i := range notes {
		for _, g := range notes[i].Groups {
			r.Size += int64(unsafe.Sizeof(g))
			for _, token := range g.Agents {
				r.Size += int64(unsafe.Sizeof(token)) + int64(len(token))
			}
		}
		for _, n := range notes[i].Lines {
			r.Size += 2 * (int64(unsafe.Sizeof(n)) + int64(len(n.Value))) // twice, because Clean has them, too
		}
	}
}

// Note returns the first line of a directive that binds the agent. ok is false if there is none.
func (r *Ruling) Note(directive robots.Directive, a robots.Agent) (note robots.Note, ok bool) {
	for i := range r.Notes {
		if n := &r.Notes[i]; n.Directive == directive {
			if lines := n.Of(a); len(lines) > 0 {
				return lines[0], true
			}
		}
	}
	return note, false
}

// Common returns the Set that all agents share, or nil if their Sets differ.
func (r *Ruling) Common() *Set {
	for _, first := range r.Firsts {
		if first != 0 {
			return nil
		}
	}
	return r.Sets[0]
}

// SameVerdict returns a Ruling that gives each of the agents the same verdict on every URL.
func SameVerdict(v Verdict, agents int) *Ruling {
	return NewRuling(slices.Repeat([]*Set{{otherwise: v}}, agents))
}

// FixedRulings returns the Rulings of outcomes without rules, by RulingID; nil for other RulingIDs. Its length is that
// of all RulingIDs below the first text.
func FixedRulings(agents int) []*Ruling {
	all := make([]*Ruling, firstText)
	for effect, access := range map[robots.Effect]Access{robots.AllowAll: Allowed, robots.DisallowAll: Denied} {
		for cause := range robots.Cause(1 << causeBits) {
			id := OutcomeRuling(robots.Outcome{Effect: effect, Cause: cause}, 0)
			all[id] = SameVerdict(Verdict{NoRule, causeReasons[cause], access}, agents)
		}
	}
	return all
}

// CompileText parses a text and compiles it for each agent, with everything else that opt asks for. opt.Tokens gets its
// tokens. If it names other agents that Options.Named accepts, the Ruling keeps a copy of what matters in the text, to
// compile their rules later. It does not keep body.
func CompileText(body []byte, opt *Options) (*Ruling, error) {
	f := robots.Parse(body, opt.Dialect)
	if opt.Tokens != nil {
		opt.Tokens.Add(f.Groups)
	}
	compile := func(a robots.Agent, _ []int) (*Set, error) { return Compile(f, a, opt.Dialect) }
	sets, err := ForAgents(f, opt.Agents, compile)
	if err != nil {
		return nil, err
	}
	r := NewRuling(sets)
	r.SetNotes(robots.NotesOf(body, opt.Dialect, opt.Directives), opt.Dialect)
	r.Odd = robots.OddityOf(body, f)
	r.SetChoices(f, opt)
	if err = r.FindMisread(f, opt, func(groups []int) ([]robots.Rule, error) { return mergeRules(f, groups), nil }); err != nil {
		return nil, err
	}
	if opt.Readings != nil {
		essence := essenceOf(body, f, opt.Dialect, opt.Readings.all)
		if err := r.SetOthers(f, essence, opt, func(groups []int) (*Set, error) { return CompileGroups(f, groups, opt.Dialect) }); err != nil {
			return nil, err
		}
	}
	r.SetNamed(f, opt, func(lists [][]int) func(list int) (*Set, error) {
		const parsed = 4 // memory as a multiple of the text, roughly
		source, d := robots.Essence(body), opt.Dialect
		r.Size += parsed * int64(len(source))
		parse := sync.OnceValue(func() *robots.File { return robots.Parse(source, d) })
		return func(list int) (*Set, error) { return CompileGroups(parse(), lists[list], d) }
	})
	return r, r.SetPreferences(opt)
}

// TextID returns the RulingID of the text with that number.
func TextID(number int) RulingID { return firstText + RulingID(number) }

// ForAgents returns a compiled value, such as a Set, for each agent. It calls compile once per distinct list of
// groups, and agents with the same list share the value; most crawlers are bound by the groups for "*". compile may
// return nil only with an error.
func ForAgents[T any](f *robots.File, agents []robots.Agent, compile func(a robots.Agent, groups []int) (*T, error)) (all []*T, err error) {
	type binding struct {
		groups []int
		made   *T
	}
	var met []binding
	bind := func(a robots.Agent) (*T, error) {
		groups := f.Binding(a)
		for _, b := range met {
			if slices.Equal(b.groups, groups) {
				return b.made, nil
			}
		}
		made, err := compile(a, groups)
		met = append(met, binding{groups, made})
		return made, err
	}
	all = make([]*T, len(agents))
	named := tokensOf(f)
	var unnamed [2]*T // of agents that no group names: those that use the groups for "*", and those that do not
	for i, a := range agents {
		if named.includeAgent(a) {
			all[i], err = bind(a)
		} else {
			shared := &unnamed[0]
			if a.IgnoresStar {
				shared = &unnamed[1]
			}
			if *shared == nil {
				*shared, err = bind(a)
			}
			all[i] = *shared
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// tokens are the product tokens that the groups of a file name.
type tokens []robots.ProductToken

func tokensOf(f *robots.File) (all tokens) {
	for i := range f.Groups {
		all = append(all, f.Groups[i].Agents...)
	}
	return all
}

// includeAgent reports whether some token of the agent is among the tokens: its own, or one of its Fallbacks.
func (t tokens) includeAgent(a robots.Agent) bool {
	return len(t) > 0 && (slices.ContainsFunc(t, a.Token.Equal) ||
		slices.ContainsFunc(a.Fallbacks, func(f robots.ProductToken) bool { return slices.ContainsFunc(t, f.Equal) }))
}

// Memory is the size of compiled rules, see engine.Memory.
type Memory struct {
	Files, Rules       int
	Tables, Refs, Text int64
}

// Add adds the rules of a text: each Set that agents share once.
func (m *Memory) Add(r *Ruling) {
	const ref = 4 + 4 + 4 + 4
	m.Files++
	for a, rs := range r.Sets {
		if int(r.Firsts[a]) != a {
			continue
		}
		m.Rules += len(rs.rules)
		m.Tables += int64(rs.automaton.Size() + rs.rivals.size())
		m.Refs += int64(len(rs.rules) * ref)
		m.Text += int64(len(rs.text))
	}
}

// A Choice says by which name the groups of an agent are chosen, see engine.Choice.
type Choice uint8

// The values of Choice.
const (
	NoChoice Choice = iota
	ByToken
	ByFallback
	ByStar
)

// String returns the choice as the output column "group" spells it.
func (c Choice) String() string { return [...]string{"none", "name", "family", "*"}[c] }

// SetChoices sets the choice of each agent in the text, if opt.Choices is set. The groups need no rules.
func (r *Ruling) SetChoices(f *robots.File, opt *Options) {
	if !opt.Choices {
		return
	}
	r.Choices = make([]Choice, len(opt.Agents))
	r.Size += int64(len(r.Choices))
	named := tokensOf(f)
	star := slices.ContainsFunc(f.Groups, func(g robots.Group) bool { return g.Star })
	for i, a := range opt.Agents {
		switch {
		case slices.ContainsFunc(named, a.Token.Equal):
			r.Choices[i] = ByToken
		case named.includeAgent(a):
			r.Choices[i] = ByFallback
		case star && !a.IgnoresStar:
			r.Choices[i] = ByStar
		}
	}
}

// Odd holds the oddities of texts by RulingID. It may be too short for some RulingIDs, whose texts are not odd. It
// is nil if no text is odd.
type Odd []robots.Oddity

// Add records the oddity of a text, if it is odd. The list grows as needed.
func (odd *Odd) Add(id RulingID, o robots.Oddity) {
	if !o.IsOdd() {
		return
	}
	if n := int(id) + 1; n > len(*odd) {
		*odd = append(*odd, make(Odd, n-len(*odd))...)
	}
	(*odd)[id] = o
}

// Of returns the oddity of the text in force.
func (odd Odd) Of(id RulingID) robots.Oddity {
	if int(id) < len(odd) {
		return odd[id]
	}
	return robots.NotOdd
}

// Worst is the maximum number of examples in an OddCount.
const Worst = 3

// An OddCount counts responses that were treated as a robots.txt but are not valid, see engine.OddCount.
type OddCount struct {
	Number int64                     // number of such responses
	Rows   int64                     // URLs that they decided
	Kinds  [robots.NumOddities]int64 // number of such responses by oddity
	Worst  [Worst]OddOrigin          // those with the most rows, or else the first
}

// An OddOrigin is an origin whose robots.txt is not valid, see engine.OddOrigin.
type OddOrigin struct {
	Origin robots.Origin // "" if unused
	Odd    robots.Oddity
	Rows   int64
}

// Add counts an odd origin. The first Worst of them become the examples.
func (c *OddCount) Add(o OddOrigin) {
	if c.Number < Worst {
		c.Worst[c.Number] = o
	}
	c.Number++
	c.Rows += o.Rows
	c.Kinds[o.Odd]++
}

// An Access is the answer, see engine.Access.
type Access uint8

// The values of Access.
const (
	Unknown Access = iota
	Denied
	Allowed
)

// String returns "unknown", "denied" or "allowed".
func (a Access) String() string { return [...]string{"unknown", "denied", "allowed"}[a] }

// A Reason says how a verdict was decided, see engine.Reason.
type Reason uint8

// The values of Reason.
const (
	ReasonRule Reason = iota
	ReasonDefault
	ReasonNoGroup
	ReasonNoRobots
	ReasonRobotsTxt
	ReasonStatus4xx
	ReasonUnreachable
	ReasonUnreachableExpired
	ReasonRedirectLimit
	ReasonTooLarge
	ReasonUndefined
	ReasonBadURL
	ReasonBadAgent
	NumReasons = int(iota)
)

var reasonNames = [NumReasons]string{
	"rule", "default", "no_group", "no_robots", "robots_txt", "status_4xx", "unreachable", "unreachable_expired",
	"redirect_limit", "too_large", "undefined", "bad_url", "bad_agent",
}

// String returns the reason as the output column "reason" spells it.
func (r Reason) String() string { return reasonNames[r] }

// A Verdict is the answer of a Set, see engine.Verdict.
type Verdict struct {
	Rule   int32 // for Set.Rule; NoRule if no rule won
	Reason Reason
	Access Access
}

// NoRule is the Rule of a verdict that was not decided by a rule.
const NoRule int32 = -1
