// Package preference decides, by compiled preferences, how a page may be used. It returns the same answers as
// [robots.Bound.Decide], but faster, for runs over many URLs. It imports automaton and robots; engine and the HTML
// report's module import it.
package preference

import (
	"cmp"
	"slices"
	"strings"
	"unsafe"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/robots"
)

// An Answer is the answer of a Set for a path.
type Answer struct {
	robots.Said
	How int32 // for Set.How: 1 + index in hows; 0 means none
}

// Unfetch removes the preferences that do not apply to a disallowed path.
func (a *Answer) Unfetch() {
	for s := range a.Said {
		if robots.Sources[s].Fetched {
			a.Said[s] = robots.Answer{}
		}
	}
}

// A Set holds the compiled preferences that bind one agent at one site. It is immutable and safe for concurrent
// use. Sites with equal texts share it.
//
// Of the lines that match a path, all those with the longest pattern count together, so single lines have no order
// of precedence. Therefore each value that may differ among them is a separate question. Nearly all files have no
// pattern, and then no question has an automaton.
//
// Preferences have their own automata. If their patterns were matched together with the rules, runs that do not
// need preferences would become slower; DESIGN.md has the figures.
type Set struct {
	sources  [robots.NumSources]source
	hows     []string // the distinct values of How
	constant Answer   // the answer if no line has a pattern
}

// A source answers the questions about one source of preferences.
type source struct {
	uses      [robots.NumUses]question
	first     question // the first line that counts
	how       question
	patterned bool // some question has an automaton
}

// A question finds the line that answers for a path: the line without a pattern, unless a pattern matches.
type question struct {
	automaton *automaton.Automaton // nil if no line has a pattern
	lines     []statement          // by automaton.Rank.Position
	otherwise statement            // for paths that no pattern matches
}

// A statement is the line that answers, and its content.
type statement struct {
	line int32 // 0 means no answer
	how  int32
	says robots.Preference
}

// Compile compiles the lines that bind an agent. It returns nil if there are none. The error is that of
// [automaton.Compile].
func Compile(bound *robots.Bound) (*Set, error) {
	if bound.Len() == 0 {
		return nil, nil //nolint:nilnil // nil means no preferences
	}
	p := &Set{}
	for s := range p.sources {
		if err := p.add(robots.Source(s), bound[s]); err != nil {
			return nil, err
		}
		p.sources[s].ask(&p.constant.Said[s], &p.constant.How, func(q *question) *statement { return &q.otherwise })
	}
	return p, nil
}

// add compiles the lines of source s into its questions.
func (p *Set) add(s robots.Source, lines []robots.Statement) (err error) {
	of, spec := &p.sources[s], &robots.Sources[s]
	compile := func(q *question, lines []robots.Statement, said func(r *robots.Statement) statement) {
		if err == nil {
			err = q.compile(lines, said)
			of.patterned = of.patterned || q.automaton != nil
		}
	}
	for u, label := range spec.Labels {
		if label == "" {
			continue
		}
		byAnswer := slices.Clone(lines)
		if !spec.Hides {
			byAnswer = slices.DeleteFunc(byAnswer, func(r robots.Statement) bool { return r.Uses[u] == robots.Unstated })
		}
		slices.SortStableFunc(byAnswer, func(a, b robots.Statement) int {
			return cmp.Compare(spec.Strength(b.Uses[u]), spec.Strength(a.Uses[u]))
		})
		compile(&of.uses[u], byAnswer, func(r *robots.Statement) statement { return statement{line: r.Line, says: r.Uses[u]} })
	}
	if spec.Hides {
		compile(&of.first, lines, func(r *robots.Statement) statement { return statement{line: r.Line} })
	}
	numbers := map[string]int32{} // 1 + the index in hows
	withHow := slices.DeleteFunc(slices.Clone(lines), func(r robots.Statement) bool { return r.How == "" })
	compile(&of.how, withHow, func(r *robots.Statement) statement {
		if numbers[r.How] == 0 {
			p.hows = append(p.hows, strings.Clone(r.How))
			numbers[r.How] = int32(len(p.hows))
		}
		return statement{line: r.Line, how: numbers[r.How]}
	})
	return err
}

// compile sets the automaton and the statements for lines. If patterns are equally long, the first line decides. said
// returns the statement of a line.
func (q *question) compile(lines []robots.Statement, said func(r *robots.Statement) statement) error {
	var in []automaton.Rule
	var all []statement
	for i := range lines {
		if r := &lines[i]; r.Pattern != "" {
			in, all = append(in, automaton.Rule{Pattern: r.Pattern, Uncounted: int32(len(r.Pattern) - r.Length)}), append(all, said(r))
		} else if q.otherwise.line == 0 {
			q.otherwise = said(r)
		}
	}
	if len(in) == 0 {
		return nil
	}
	var order []int32
	var err error
	if q.automaton, order, err = automaton.Compile(in); err != nil {
		return err
	}
	for _, i := range order {
		q.lines = append(q.lines, all[i])
	}
	return nil
}

// Decide sets a to the preferences for a normalised path that may be fetched. For other paths, some sources do not
// count: see [Answer.Unfetch]. s is memory for the automata. Decide writes directly to a, because copying a struct that
// was just written byte by byte stalls, which took 50 ns per row.
func (p *Set) Decide(a *Answer, path []byte, s *automaton.Scratch) {
	*a = p.constant
	for i := range p.sources {
		if of := &p.sources[i]; of.patterned && (!robots.Sources[i].Rules || !robots.IsTxt(path)) {
			of.ask(&a.Said[i], &a.How, func(q *question) *statement {
				if q.automaton != nil {
					if rank := q.automaton.Match(path, s); rank != automaton.NoMatch {
						return &q.lines[rank.Position()]
					}
				}
				return &q.otherwise
			})
		}
	}
}

// ask sets the uses of an answer and, if a line states it, how; Line becomes the lowest line of all questions, 0 if
// there is none. answer returns the statement for a question.
func (of *source) ask(a *robots.Answer, how *int32, answer func(q *question) *statement) {
	a.Line = 0
	take := func(q *question) *statement {
		said := answer(q)
		if said.line > 0 && (a.Line == 0 || said.line < a.Line) {
			a.Line = said.line
		}
		return said
	}
	for u := range of.uses {
		a.Uses[u] = take(&of.uses[u]).says
	}
	take(&of.first)
	if said := take(&of.how); said.line > 0 {
		*how = said.how
	}
}

// Constant reports whether the preferences are the same for all paths.
func (p *Set) Constant() bool {
	return !slices.ContainsFunc(p.sources[:], func(s source) bool { return s.patterned })
}

// How returns the value of How in an Answer, or "". p may be nil.
func (p *Set) How(a Answer) string {
	if n := int(a.How) - 1; p != nil && n >= 0 && n < len(p.hows) {
		return p.hows[n]
	}
	return ""
}

// Size returns the memory of the set in bytes; 0 if p is nil.
func (p *Set) Size() int64 {
	if p == nil {
		return 0
	}
	n := int64(unsafe.Sizeof(*p))
	for s := range p.sources {
		of := &p.sources[s]
		for _, q := range append([]question{of.first, of.how}, of.uses[:]...) {
			if q.automaton != nil {
				n += int64(q.automaton.Size()) + int64(len(q.lines))*int64(unsafe.Sizeof(statement{}))
			}
		}
	}
	for _, how := range p.hows {
		n += int64(unsafe.Sizeof(how)) + int64(len(how))
	}
	return n
}
