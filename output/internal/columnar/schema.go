// Package columnar turns evaluated batches into the columns of a table.
//
// It hides the list of columns, how each is gathered from a batch, and how repeated texts become numbers. spec.go
// lists the columns, gather.go fills them, and column.go has one type per kind of value. A [Schema] holds the
// columns of one table, a [Chunk] holds rows of it, and a [Numbering] holds the dictionaries that chunks share.
// Files are written by package container. Package output and its other internal packages import this package.
package columnar

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// A Layout determines the rows of the table.
type Layout uint8

// The layouts.
const (
	Long Layout = iota // one row per URL and agent
	Wide               // one row per URL, with columns for each agent
)

// layoutNames are the names of the layouts, by Layout.
var layoutNames = [...]string{Long: "long", Wide: "wide"}

// ErrLayout is the error of ParseLayout, and of the layout [Wide] for a store whose agents come from the log.
var ErrLayout = errors.New("unknown layout")

// String returns the layout's name.
func (l Layout) String() string { return layoutNames[l] }

// ParseLayout returns the layout of that name. The error is ErrLayout, and lists the names.
func ParseLayout(name string) (Layout, error) {
	if i := slices.Index(layoutNames[:], name); i >= 0 {
		return Layout(i), nil
	}
	return 0, fmt.Errorf("%w %q: use long or wide", ErrLayout, name)
}

// DefaultColumns returns the names of the default columns. In the wide layout, these are all except agent, reason,
// rule, [CanonicalURL] and [Violation].
func (l Layout) DefaultColumns() []string {
	return specNames(func(s *spec) bool { return s.choice == byDefault || s.choice == longOnly && l == Long })
}

// A KeptColumn is a column of the input that is copied to the output, after the columns of verdicts. It is nullable.
type KeptColumn struct {
	Name string
	Kind engine.KeptKind
}

// A Schema describes the columns of a table, in their order.
type Schema struct {
	Fields   []field
	Kept     int     // number of columns of the input
	Wide     bool    // the layout is Wide
	Agents   [][]int // in the wide layout, the indices of the columns of each agent
	verdicts bool    // there are columns of verdicts
	pages    bool    // texts have the form of Parquet pages
	streaks  bool    // rows may be gathered by streaks

	preferences bool // there are columns of preferences

	// from maps each column to its index in the gathered schema, from which rows are copied in another order; nil if
	// both schemas are the same.
	from []int
}

// A Shape has the options that determine the columns of a table.
type Shape struct {
	Layout    Layout
	Names     []string     // nil means Layout.DefaultColumns, or ChangeColumns if Changes is set
	Kept      []KeptColumn // written after the others
	Changes   bool         // the columns are among ChangeColumns
	Pages     bool         // texts have the form of Parquet pages, unless rows are sorted or partitioned
	Partition []string     // among Partitions; these columns are not written
	Sort      []string     // among Partitions
}

// NewSchema returns the schema of a shape. Only the wide layout depends on the agents. The error joins an error for
// each invalid column, such as a [ColumnError].
func NewSchema(s Shape, agents []string) (*Schema, error) {
	known, names := Columns(), s.Names
	if s.Changes {
		known = ChangeColumns()
	}
	if len(names) == 0 && s.Changes {
		names = known
	} else if len(names) == 0 {
		names = s.Layout.DefaultColumns()
	}
	picked, err := Pick(names, known)
	l := &Schema{Wide: s.Layout == Wide, pages: s.Pages, Kept: len(s.Kept)}
	errs := []error{err}
	for _, col := range picked {
		switch {
		case !l.Wide || !col.perAgent && col.Name != NameAgent && col.Name != NameBinding:
			l.Fields = append(l.Fields, field{Field: col.Field, spec: col})
		case err != nil:
		case !col.perAgent:
			errs = append(errs, fmt.Errorf("%w: in the wide layout, each agent has its own columns instead of %s: remove it",
				ErrColumn, col.Name))
		default:
			for a, agent := range agents {
				f := field{Field: col.Field, spec: col, agent: a}
				f.Name += "_" + wideToken(agent)
				l.Fields = append(l.Fields, f)
			}
		}
	}
	errs = append(errs, l.checkSharedNames(agents)...)
	for i, k := range s.Kept {
		if k.Name == "" || slices.Contains(Columns(), k.Name) || l.Index(k.Name) >= 0 {
			errs = append(errs, &ColumnError{k.Name, "the name of another column", known})
		}
		f := field{Field: KeptSpecs[k.Kind].Field, spec: KeptSpecs[k.Kind], kept: i}
		f.Name = k.Name
		l.Fields = append(l.Fields, f)
	}
	l.setDerived(len(agents))
	return l, errors.Join(errs...)
}

// setDerived sets the values that depend on the fields, for that number of agents.
func (l *Schema) setDerived(agents int) {
	l.streaks = l.pages && !l.Wide && !slices.ContainsFunc(l.Fields, func(f field) bool { return f.spec.byRow })
	for i := range l.Fields {
		l.Fields[i].at = i
	}
	l.preferences = slices.ContainsFunc(l.Fields, func(f field) bool { return f.spec.preference != nil })
	l.verdicts = slices.ContainsFunc(l.Fields, func(f field) bool { return f.spec.perAgent })
	if !l.Wide {
		return
	}
	l.Agents = make([][]int, agents)
	for i, f := range l.Fields {
		if f.spec.perAgent {
			l.Agents[f.agent] = append(l.Agents[f.agent], i)
		}
	}
}

// Index returns the index of the column of that name; -1 if there is none.
func (l *Schema) Index(name string) int {
	return slices.IndexFunc(l.Fields, func(f field) bool { return f.Name == name })
}

// checkSharedNames returns an error for each pair of agents whose columns would have the same name. There is none in
// the long layout.
func (l *Schema) checkSharedNames(agents []string) (errs []error) {
	owners := map[string]int{}
	reported := map[[2]int]bool{}
	for _, f := range l.Fields {
		if !l.Wide || !f.spec.perAgent {
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

// A sharedError says that two agents have columns with the same name in the wide layout.
type sharedError struct{ name, a, b string }

// Error names the agents and the column, and the remedy.
func (e *sharedError) Error() string {
	return fmt.Sprintf("the agents %q and %q would share the column %s: leave one of them out, or use the long layout", e.a, e.b, e.name)
}

// Unwrap returns ErrColumn.
func (e *sharedError) Unwrap() error { return ErrColumn }

// wideToken returns the suffix of the names of an agent's columns, which SQL accepts without quotes: the agent's
// name in lower case with underscores for all characters except letters and digits; "star" for "*".
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

// ColumnNames returns the names of all columns for the agents, in their order. The errors are those of NewSchema.
func (s Shape) ColumnNames(agents []string) ([]string, error) {
	l, err := NewSchema(s, agents)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(l.Fields))
	for i, f := range l.Fields {
		names[i] = f.Name
	}
	return names, nil
}

// Schemas returns two schemas: all describes the rows to gather, which have the columns to sort and partition by;
// written describes the files, which do not have the partition columns. Both are the same without sorting and
// partitions. The errors are those of NewSchema, and ErrPartition.
func (s Shape) Schemas(agents []string) (all, written *Schema, err error) {
	written, err = NewSchema(s, agents)
	if err == nil {
		err = checkPartition(s.Partition)
	}
	if err != nil || len(s.Partition)+len(s.Sort) == 0 {
		return written, written, err
	}
	gathered := *written
	all = &gathered
	all.pages, all.streaks, all.Fields = false, false, slices.Clone(written.Fields)
	var errs []error
	for _, name := range slices.Concat(s.Partition, s.Sort) {
		col, at := Lookup(name), all.Index(name)
		switch {
		case s.Layout == Wide && (col.perAgent || name == NameAgent):
			errs = append(errs, fmt.Errorf("%w by %s: in the wide layout, each agent has its own column for it: use the long layout",
				ErrPartition, name))
		case at >= 0 && all.Fields[at].spec != col:
			errs = append(errs, fmt.Errorf("%w by %s: a kept column of the input has the same name: remove it from -keep",
				ErrPartition, name))
		case at < 0:
			all.Fields = append(all.Fields, field{Field: col.Field, spec: col})
		}
	}
	written.Fields = slices.DeleteFunc(written.Fields, func(f field) bool { return slices.Contains(s.Partition, f.Name) })
	if len(written.Fields) == 0 {
		errs = append(errs, fmt.Errorf("%w: the files would have no columns, because the partition columns are in the directory names: write more columns",
			ErrPartition))
	}
	for _, f := range written.Fields {
		written.from = append(written.from, all.Index(f.Name))
	}
	all.setDerived(len(agents))
	written.setDerived(len(agents))
	return all, written, errors.Join(errs...)
}

// Needs lists what columns require besides the verdicts of a batch. It is for one column, or for all columns,
// partitions and filters of a table.
type Needs struct {
	Directives []robots.Directive // [engine.StoreOptions].Directives has these
	LogAgents  bool               // [engine.StoreOptions].LogAgents is not off
	Ranges     bool               // [engine.StoreOptions].Ranges is not nil
	Sitemaps   bool               // [engine.StoreOptions].Sitemaps is not nil
	Times      bool               // the rows have times, see [engine.Batch].Times
}

// AddNeeds adds the needs of another column to n.
func (n *Needs) AddNeeds(more Needs) {
	for _, d := range more.Directives {
		if !slices.Contains(n.Directives, d) {
			n.Directives = append(n.Directives, d)
		}
	}
	n.LogAgents, n.Ranges, n.Times = n.LogAgents || more.LogAgents, n.Ranges || more.Ranges, n.Times || more.Times
	n.Sitemaps = n.Sitemaps || more.Sitemaps
}

// NeedsOf returns the needs of the columns and partitions with these names. Unknown names are ignored.
func NeedsOf(names ...string) (n Needs) {
	for _, name := range names {
		if s := Lookup(name); s != nil {
			n.AddNeeds(s.needs)
		}
	}
	return n
}

// ErrDirectives is the error of a column that requires lines of a directive which the store does not keep.
var ErrDirectives = errors.New("the store was built without the directives that the columns need")

// ErrLogAgents is the error of a column that requires agents from the log.
var ErrLogAgents = errors.New("the store was built for agents that do not come from the log")

// ErrRanges is the error of a column that requires lists of IP addresses.
var ErrRanges = errors.New("the store was built without lists of addresses")

// ErrSitemaps is the error of a column that requires sitemaps.
var ErrSitemaps = errors.New("the store was built without sitemaps")

// Check returns an ErrDirectives, ErrLogAgents, ErrRanges or ErrSitemaps if a store does not meet the needs. It does
// not check Times.
func (n Needs) Check(store engine.StoreOptions) error {
	for _, d := range n.Directives {
		if !slices.Contains(store.Directives, d) {
			return ErrDirectives
		}
	}
	if n.LogAgents && store.LogAgents == engine.LogAgentsOff {
		return ErrLogAgents
	}
	if n.Ranges && store.Ranges == nil {
		return ErrRanges
	}
	if n.Sitemaps && store.Sitemaps == nil {
		return ErrSitemaps
	}
	return nil
}
