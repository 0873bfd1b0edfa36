package output

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/robobatch/robobatch/engine"
)

// A Layout says what a row of the table is.
type Layout uint8

// The layouts.
const (
	Long Layout = iota // a row for each URL and agent
	Wide               // a row for each URL, with columns for each agent
)

// layoutNames are the names of the layouts, by Layout.
var layoutNames = [...]string{Long: "long", Wide: "wide"}

// errLayout is the kind of the error of ParseLayout, and of a choice of [Wide] for a store whose
// agents come from the log.
var errLayout = errors.New("no such layout")

// String returns the layout's name.
func (l Layout) String() string { return layoutNames[l] }

// ParseLayout returns the layout of that name. The error is errLayout, with the names there are.
func ParseLayout(name string) (Layout, error) {
	if i := slices.Index(layoutNames[:], name); i >= 0 {
		return Layout(i), nil
	}
	return 0, fmt.Errorf("%w %q: use long or wide", errLayout, name)
}

// DefaultColumns returns the names of the columns that are written unless others are named: in the
// wide layout all but agent, reason, rule, [CanonicalURL] and [Violation].
func (l Layout) DefaultColumns() []string {
	return specNames(func(s *spec) bool { return s.choice == byDefault || s.choice == longOnly && l == Long })
}

// defaultColumns returns the names of the columns that are written unless others are named.
func (o Options) defaultColumns() []string {
	if o.Old != nil {
		return ChangeColumns()
	}
	return o.Layout.DefaultColumns()
}

// A KeptColumn is a column of the input that is written behind those of the verdicts. It has nulls.
type KeptColumn struct {
	Name string
	Kind engine.KeptKind
}

// A layout is the columns of a table, in their order.
type layout struct {
	fields   []field
	kept     int     // columns of the input
	wide     bool    // there are columns for each agent
	agents   [][]int // in the wide layout, the columns of each agent
	verdicts bool    // there are columns of verdicts
	pages    bool    // texts lie as Parquet's pages have them
	streaks  bool    // rows may be gathered by streaks

	// from has, for each column, its index in the layout that is gathered, if rows are put in order
	// between the two; nil if they are the same.
	from []int
}

// newLayout returns the columns that opt asks for. The error joins one for each impossible column,
// such as a [ColumnError].
func newLayout(opt Options, agents []string) (*layout, error) {
	names := opt.Columns
	if len(names) == 0 {
		names = opt.defaultColumns()
	}
	known := Columns()
	if opt.Old != nil {
		known = ChangeColumns()
	}
	picked, err := pick(names, known)
	l := &layout{wide: opt.Layout == Wide, pages: opt.Format == Parquet, kept: len(opt.Kept)}
	errs := []error{err}
	for _, s := range picked {
		switch {
		case !l.wide || !s.perAgent && s.Name != nameAgent && s.Name != nameBinding:
			l.fields = append(l.fields, field{Field: s.Field, spec: s})
		case err != nil:
		case !s.perAgent:
			errs = append(errs, fmt.Errorf("%w: in the wide layout each agent has columns of its own in place of %s: leave that out",
				errColumn, s.Name))
		default:
			for a, agent := range agents {
				f := field{Field: s.Field, spec: s, agent: a}
				f.Name += "_" + wideToken(agent)
				l.fields = append(l.fields, f)
			}
		}
	}
	errs = append(errs, l.shared(agents)...)
	for i, k := range opt.Kept {
		if k.Name == "" || slices.Contains(Columns(), k.Name) || l.index(k.Name) >= 0 {
			errs = append(errs, &ColumnError{k.Name, "the name of another column", known})
		}
		f := field{Field: keptSpecs[k.Kind].Field, spec: keptSpecs[k.Kind], kept: i}
		f.Name = k.Name
		l.fields = append(l.fields, f)
	}
	l.complete(len(agents))
	return l, errors.Join(errs...)
}

// complete sets what follows from the fields.
func (l *layout) complete(agents int) {
	l.streaks = l.pages && !l.wide && l.index(Violation) < 0 && l.index(nameChange) < 0
	l.verdicts = slices.ContainsFunc(l.fields, func(f field) bool { return f.spec.perAgent })
	if !l.wide {
		return
	}
	l.agents = make([][]int, agents)
	for i, f := range l.fields {
		if f.spec.perAgent {
			l.agents[f.agent] = append(l.agents[f.agent], i)
		}
	}
}

// index returns the index of the column of that name; -1 if there is none.
func (l *layout) index(name string) int {
	return slices.IndexFunc(l.fields, func(f field) bool { return f.Name == name })
}

// names returns the names of the columns.
func (l *layout) names() []string {
	names := make([]string, len(l.fields))
	for i, f := range l.fields {
		names[i] = f.Name
	}
	return names
}

// shared returns an error for each two agents that would share a column.
func (l *layout) shared(agents []string) (errs []error) {
	owners := map[string]int{}
	reported := map[[2]int]bool{}
	for _, f := range l.fields {
		if !l.wide || !f.spec.perAgent {
			continue
		}
		other, taken := owners[f.Name]
		owners[f.Name] = f.agent
		if pair := [2]int{other, f.agent}; taken && !reported[pair] {
			reported[pair] = true
			errs = append(errs, &sharedError{f.Name, agents[other], agents[f.agent]})
		}
	}
	return errs
}

// A sharedError is a name that columns of two agents would have in the wide layout.
type sharedError struct{ name, a, b string }

// Error names the agents and the column, and says how to tell them apart.
func (e *sharedError) Error() string {
	return fmt.Sprintf("the agents %q and %q would share the column %s: leave one of them out, or use the long layout", e.a, e.b, e.name)
}

// Unwrap returns errColumn.
func (e *sharedError) Unwrap() error { return errColumn }

// wideToken returns the end of the names of an agent's columns, which SQL takes without quotes: the
// agent's name in lower case with an underscore in place of all but letters and digits; "star" for
// "*".
func wideToken(agent string) string {
	if agent == "*" {
		return "star"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return '_'
	}, agent)
}

// ColumnNames returns the names of all columns that a Writer with these options has for the agents,
// in their order. The error joins those of [NewWriter] about the choice of columns.
func (o Options) ColumnNames(agents []string) ([]string, error) {
	l, err := newLayout(o, agents)
	if err != nil {
		return nil, err
	}
	return l.names(), nil
}

// layouts returns the columns that are gathered, by which rows may have to be put in order, and
// those of them that are written. The errors are those of newLayout, and ErrPartition.
func (o Options) layouts(agents []string) (all, written *layout, err error) {
	written, err = newLayout(o, agents)
	if err == nil {
		err = checkPartition(o.Partition)
	}
	if err != nil || !o.arranged() {
		return written, written, err
	}
	gathered := *written
	all = &gathered
	all.pages, all.streaks, all.fields = false, false, slices.Clone(written.fields)
	var errs []error
	need := slices.Clone(o.Partition)
	if o.Sort == SortOrigin {
		need = append(need, nameOrigin)
	}
	for _, name := range need {
		s, at := lookup(name), all.index(name)
		switch {
		case o.Layout == Wide && (s.perAgent || name == nameAgent):
			errs = append(errs, fmt.Errorf("%w: by %s, which each agent has a column for in the wide layout: use the long one",
				ErrPartition, name))
		case at >= 0 && all.fields[at].spec != s:
			errs = append(errs, fmt.Errorf("%w: by %s, which is the name of a column of the input that is kept: do not keep it",
				ErrPartition, name))
		case at < 0:
			all.fields = append(all.fields, field{Field: s.Field, spec: s})
		}
	}
	written.fields = slices.DeleteFunc(written.fields, func(f field) bool { return slices.Contains(o.Partition, f.Name) })
	if len(written.fields) == 0 {
		errs = append(errs, fmt.Errorf("%w: no column would be left in the files, as the names of directories say the rest: write more columns",
			ErrPartition))
	}
	for _, f := range written.fields {
		written.from = append(written.from, all.index(f.Name))
	}
	all.complete(len(agents))
	written.complete(len(agents))
	return all, written, errors.Join(errs...)
}
