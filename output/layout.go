package output

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
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

// ErrLayout is the kind of the error of ParseLayout, and of a choice of [Wide] for a store whose agents come from the log.
var ErrLayout = errors.New("no such layout")

// String returns the layout's name.
func (l Layout) String() string { return layoutNames[l] }

// ParseLayout returns the layout of that name. The error is ErrLayout, with the names there are.
func ParseLayout(name string) (Layout, error) {
	if i := slices.Index(layoutNames[:], name); i >= 0 {
		return Layout(i), nil
	}
	return 0, fmt.Errorf("%w %q: use long or wide", ErrLayout, name)
}

// DefaultColumns returns the names of the columns that are written unless others are named: in the long layout those of
// the function of that name, in the wide one those without agent, reason and rule.
func (l Layout) DefaultColumns() []string {
	names := DefaultColumns()
	if l == Wide {
		names = slices.DeleteFunc(names, func(name string) bool {
			return name == fields[colAgent].name || name == fields[colReason].name || name == fields[colRule].name
		})
	}
	return names
}

// ColumnNames returns the names of all columns that a Writer with these options has for the agents, in their order. The
// error joins those of [New] about the choice of columns.
func (o Options) ColumnNames(agents []string) ([]string, error) {
	l, err := newLayout(o, agents)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range l.fields() {
		names = append(names, f.name)
	}
	return names, nil
}

// wideColumns are the columns of a verdict, which each agent has in the wide layout.
var wideColumns = [...]column{wideAllowed: colAllowed, wideReason: colReason, wideRuleLine: colRuleLine, wideRule: colRule}

// The indices of wideColumns.
const (
	wideAllowed = iota
	wideReason
	wideRuleLine
	wideRule
	numWide
)

// wideColumn returns the column of an agent in the wide layout.
func wideColumn(agent, index int) column { return column(numColumns + agent*numWide + index) }

// agent returns whose column it is, and which of wideColumns. It must be one of an agent.
func (c column) agent() (agent, index int) {
	c -= column(numColumns)
	return int(c) / numWide, int(c) % numWide
}

// base returns the column of the long layout that has the same values: itself, or that of the verdict.
func (c column) base() column {
	if int(c) < numColumns {
		return c
	}
	_, index := c.agent()
	return wideColumns[index]
}

// widen replaces each column of a verdict by those of all agents.
func (l *layout) widen(agents []string) []error {
	l.wide = make([]field, 0, len(agents)*numWide)
	for _, agent := range agents {
		for _, col := range wideColumns {
			f := fields[col]
			f.name += "_" + wideToken(agent)
			l.wide = append(l.wide, f)
		}
	}
	narrow := l.picked
	l.picked = nil
	for _, col := range narrow {
		index := slices.Index(wideColumns[:], col)
		switch {
		case col == colAgent:
			return []error{fmt.Errorf("%w: in the wide layout each agent has columns of its own in place of %s: leave that out", ErrColumn, fields[col].name)}
		case index < 0:
			l.picked = append(l.picked, col)
			continue
		}
		for a := range agents {
			l.picked = append(l.picked, wideColumn(a, index))
		}
	}
	return l.checkWide(agents)
}

// checkWide returns an error for each two agents that would share a column.
func (l *layout) checkWide(agents []string) (errs []error) {
	owners := map[string]int{}
	told := map[[2]int]bool{}
	for _, col := range l.picked {
		if int(col) < numColumns {
			continue
		}
		agent, _ := col.agent()
		name := l.field(col).name
		other, taken := owners[name]
		owners[name] = agent
		if pair := [2]int{other, agent}; taken && !told[pair] {
			told[pair] = true
			errs = append(errs, &SharedColumnError{Name: name, Of: [2]string{agents[other], agents[agent]}})
		}
	}
	return errs
}

// A SharedColumnError is a name that columns of two agents would have in the wide layout.
type SharedColumnError struct {
	Name string
	Of   [2]string // the agents
}

// Error says whose column it would be, and how to get them apart.
func (e *SharedColumnError) Error() string {
	return fmt.Sprintf("the agents %q and %q would share the column %s: leave one of them out, or use the long layout", e.Of[0], e.Of[1], e.Name)
}

// Unwrap returns [ErrColumn].
func (e *SharedColumnError) Unwrap() error { return ErrColumn }

// wideToken returns what the names of an agent's columns end in, which SQL takes without quotes: its name in lower case
// with an underscore in place of all but letters and digits; "star" for "*".
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
