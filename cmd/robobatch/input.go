package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// chooseInput returns how the lines of the logs are read, and the columns that -keep makes of their fields.
func chooseInput(a *args, faults *cli.Faults) (opt ingest.LogOptions, kept []output.KeptColumn) {
	var err error
	opt.Limit, opt.Raws = a.Limit, a.rejects != ""
	opt.Fields.Agents, opt.Fields.Times = a.AgentFromLog, a.ByRow()
	opt.Format, err = ingest.ParseFormat(a.Format)
	faults.Add("format", cli.Hint(err, a.Format, formatNames()))
	if a.Base != "" {
		opt.Fields.Base, err = robots.ParseOrigin(a.Base)
		faults.Add("base", err)
	}
	opt.Fields.URL, opt.Fields.Host = a.URLField, a.HostField
	opt.Fields.Agent, opt.Fields.Time = a.UAField, a.TimeField
	for _, text := range a.Keep {
		column, name := parseKeep(text)
		if slices.ContainsFunc(kept, func(k output.KeptColumn) bool { return k.Name == name }) || column.Field == "" {
			faults.Add("keep", fmt.Errorf("%q is empty, or the name of another column: name each field once", text))
			continue
		}
		opt.Keep = append(opt.Keep, column)
		kept = append(kept, output.KeptColumn{Name: name, Kind: column.Kind})
	}
	if a.rejects == stdName {
		faults.Add("rejects", errors.New("standard output is not for rejects: name a file"))
	}
	return opt, kept
}

// keptTypes are the types that -keep can name.
var keptTypes = map[string]engine.KeptKind{
	"text": engine.KeptText, "int": engine.KeptInt, "float": engine.KeptFloat, "time": engine.KeptTime, "bool": engine.KeptBool,
}

// parseKeep reads a field and maybe its type, as in "status" and "price:float". The name is that of the column: a field
// with the name of a column of the verdicts gets "in_" before it.
func parseKeep(text string) (column ingest.KeptColumn, name string) {
	field := strings.TrimSpace(text)
	kind := ingest.FieldKind(field)
	if i := strings.LastIndexByte(field, ':'); i >= 0 {
		if named, ok := keptTypes[field[i+1:]]; ok {
			field, kind = field[:i], named
		}
	}
	name = field
	if slices.Contains(output.Columns(), name) {
		name = "in_" + name
	}
	return ingest.KeptColumn{Field: field, Kind: kind}, name
}

// A rejectLimit is how many lines may be rejected.
type rejectLimit struct {
	text  string
	none  bool    // there is no limit
	most  int64   // lines
	share float64 // of all lines, in place of most, if it is not negative
}

// parseRejectLimit reads a number, or a percentage as in "0.5%".
func parseRejectLimit(text string) (rejectLimit, error) {
	l := rejectLimit{text: text, none: text == "", share: -1}
	if l.none {
		return l, nil
	}
	var err error
	number, percent := strings.CutSuffix(text, "%")
	if percent {
		l.share, err = strconv.ParseFloat(number, 64)
		l.share /= 100
	} else {
		l.most, err = strconv.ParseInt(text, 10, 64)
	}
	if err != nil || l.most < 0 || percent && !(l.share >= 0 && l.share <= 1) {
		return l, fmt.Errorf("%q is neither a number of lines, such as 100, nor a share of them, such as 0.5%%", text)
	}
	return l, nil
}

// A policyError says that a limit that was asked for is passed.
type policyError struct{ text string }

// Error says which.
func (e *policyError) Error() string { return e.text }

// isPolicy reports whether an error is a policyError.
func isPolicy(err error) bool {
	_, ok := errors.AsType[*policyError](err)
	return ok
}

// check returns a policyError if the lines that were rejected, of all, are too many. A share is looked at when atEnd.
func (l rejectLimit) check(rejected, all int64, atEnd bool) error {
	switch {
	case l.none:
	case l.share < 0 && rejected > l.most:
		return &policyError{fmt.Sprintf("rejected so far: %s; -max-rejects is %s", say.Count(rejected, "line"), l.text)}
	case atEnd && l.share >= 0 && float64(rejected) > l.share*float64(all):
		return &policyError{fmt.Sprintf("rejected: %s of %s; -max-rejects is %s", say.Number(rejected), say.Count(all, "line"), l.text)}
	}
	return nil
}
