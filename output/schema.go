package output

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A column is an index of fields. In the wide layout those of agents follow, see wideColumn.
type column int

// The columns, in their default order.
const (
	colLine column = iota
	colInput
	colURL
	colOrigin
	colAgent
	colAllowed
	colReason
	colRuleLine
	colRule
	colCanonical
	colViolation
	numColumns = int(iota)
)

// A kind is the type of a column's values.
type kind uint8

const (
	kindInt64 kind = iota
	kindInt32
	kindBool
	kindText       // UTF-8 that rarely repeats
	kindDictionary // UTF-8 that repeats: each text is stored once
	kindTime       // microseconds since 1970, in UTC
	kindFloat      // 64 bits
)

// A field describes a column.
type field struct {
	name     string
	kind     kind
	nullable bool
	optional bool // it is written only if it is named
}

// fields is the schema: the only place that knows names, types and nullability.
var fields = [numColumns]field{
	colLine:      {name: "line", kind: kindInt64},
	colInput:     {name: "input", kind: kindDictionary},
	colURL:       {name: "url", kind: kindText, nullable: true},
	colOrigin:    {name: "origin", kind: kindDictionary, nullable: true},
	colAgent:     {name: "agent", kind: kindDictionary},
	colAllowed:   {name: "allowed", kind: kindBool, nullable: true},
	colReason:    {name: "reason", kind: kindDictionary},
	colRuleLine:  {name: "rule_line", kind: kindInt32, nullable: true},
	colRule:      {name: "rule", kind: kindDictionary, nullable: true},
	colCanonical: {name: CanonicalURL, kind: kindText, nullable: true, optional: true},
	colViolation: {name: Violation, kind: kindBool, nullable: true, optional: true},
}

// CanonicalURL is the name of the column that needs a store built with [engine.StoreOptions].Canonical.
const CanonicalURL = "canonical_url"

// Violation is the name of the column that needs a store built with [engine.StoreOptions].LogAgents.
const Violation = "violation"

// ErrColumn is the kind of the errors about the choice of columns.
var ErrColumn = errors.New("no such choice of columns")

// ErrCanonical is the error of a choice of the column [CanonicalURL] without what it takes.
var ErrCanonical = errors.New("the store was built without canonical URLs")

// ErrViolation is the error of a choice of the column [Violation] without what it takes.
var ErrViolation = errors.New("the store was built for agents that do not come from the log")

// A ColumnError is a column that cannot be chosen.
type ColumnError struct {
	Name   string
	Reason string // what is wrong with it: "unknown", "named twice"
}

// Error names the column, what is wrong, and what to do: the columns there are, if it is none of them.
func (e *ColumnError) Error() string { return e.choose(Columns()) }

// choose is Error where there are these columns.
func (e *ColumnError) choose(columns []string) string {
	remedy := "name it once"
	if !slices.Contains(columns, e.Name) {
		remedy = "choose from " + strings.Join(columns, ",")
	}
	return fmt.Sprintf("column %q is %s: %s", e.Name, e.Reason, remedy)
}

// Unwrap returns [ErrColumn].
func (e *ColumnError) Unwrap() error { return ErrColumn }

// Columns returns the names of all columns in their default order.
func Columns() []string {
	names := make([]string, numColumns)
	for i, f := range fields {
		names[i] = f.name
	}
	return names
}

// DefaultColumns returns the names of the columns that are written unless others are named: all but
// [CanonicalURL] and [Violation].
func DefaultColumns() []string {
	return slices.DeleteFunc(Columns(), func(name string) bool {
		col, _ := lookup(name)
		return fields[col].optional
	})
}

// ParseColumns splits a comma-separated list of column names, which picks columns and orders them. Spaces around a
// name are dropped. The empty list is [DefaultColumns]. The error joins a [ColumnError] for every fault.
func ParseColumns(list string) ([]string, error) {
	if strings.TrimSpace(list) == "" {
		return DefaultColumns(), nil
	}
	names := splitNames(list)
	if _, err := pick(names); err != nil {
		return nil, err
	}
	return names, nil
}

// splitNames splits a list of names at its commas.
func splitNames(list string) []string {
	names := strings.Split(list, ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return names
}

// pick returns the columns of the given names; those of DefaultColumns for no names.
func pick(names []string) ([]column, error) {
	if len(names) == 0 {
		names = DefaultColumns()
	}
	var errs []error
	cols := make([]column, 0, len(names))
	var seen [numColumns]bool
	for _, name := range names {
		col, ok := lookup(name)
		switch {
		case !ok:
			errs = append(errs, &ColumnError{Name: name, Reason: "unknown"})
		case seen[col]:
			errs = append(errs, &ColumnError{Name: name, Reason: "named twice"})
		default:
			seen[col] = true
			cols = append(cols, col)
		}
	}
	return cols, errors.Join(errs...)
}

// lookup finds a column by its name.
func lookup(name string) (column, bool) {
	for i, f := range fields {
		if f.name == name {
			return column(i), true
		}
	}
	return 0, false
}
