package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// An inputForm is what the flags say of the lines of the logs. It stands in the record of a run.
type inputForm struct {
	Format    string   `json:"format"`
	Base      string   `json:"base"`
	URLField  string   `json:"url_field"`
	HostField string   `json:"host_field"`
	UAField   string   `json:"ua_field"`
	TimeField string   `json:"time_field"`
	Keep      []string `json:"keep"`
}

// define defines the flags of a form.
func (f *inputForm) define(fs *flag.FlagSet) {
	f.defineFields(fs)
	fs.StringVar(&f.UAField, "ua-field", "", "")
	fs.Func("keep", "", func(s string) error {
		f.Keep = append(f.Keep, strings.Split(s, ",")...)
		return nil
	})
}

// defineFields defines those that say where URLs and times are.
func (f *inputForm) defineFields(fs *flag.FlagSet) {
	fs.StringVar(&f.Format, "format", "auto", "")
	fs.StringVar(&f.Base, "base", "", "")
	fs.StringVar(&f.URLField, "url-field", "", "")
	fs.StringVar(&f.URLField, "url-column", "", "")
	fs.StringVar(&f.HostField, "host-field", "", "")
	fs.StringVar(&f.TimeField, "time-field", "", "")
}

// settle sets what the form asks for. The error joins a usageError for each fault.
func (f *inputForm) settle(logs *ingest.LogOptions, out *output.Options) error {
	var errs []error
	check := func(name string, err error) {
		if err != nil {
			errs = append(errs, usage("-%s: %w", name, err))
		}
	}
	var err error
	logs.Format, err = ingest.ParseFormat(f.Format)
	check("format", withHint(err, f.Format, enumerated["format"]))
	if f.Base != "" {
		logs.Fields.Base, err = robots.ParseOrigin(f.Base)
		check("base", err)
	}
	logs.Fields.URL, logs.Fields.Host = f.URLField, f.HostField
	logs.Fields.Agent, logs.Fields.Time = f.UAField, f.TimeField
	for _, text := range f.Keep {
		column, name := parseKeep(text)
		if slices.ContainsFunc(out.Kept, func(k output.KeptColumn) bool { return k.Name == name }) || column.Field == "" {
			check("keep", fmt.Errorf("%q is empty, or the name of another column: name each field once", text))
			continue
		}
		logs.Keep = append(logs.Keep, column)
		out.Kept = append(out.Kept, output.KeptColumn{Name: name, Kind: column.Kind})
	}
	return errors.Join(errs...)
}

// keptTypes are the types that -keep can name.
var keptTypes = map[string]engine.KeptKind{
	"text": engine.KeptText, "int": engine.KeptInt, "float": engine.KeptFloat, "time": engine.KeptTime, "bool": engine.KeptBool,
}

// parseKeep reads a field and maybe its type, as in "status" and "price:float". The name is that of the column: a field
// with the name of a column of the verdicts is set apart by "in_".
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

// metadata returns the form as metadata of an output.
func (f *inputForm) metadata() [][2]string {
	return [][2]string{
		{"robobatch.format", f.Format},
		{"robobatch.base", f.Base},
		{"robobatch.url_field", f.URLField},
		{"robobatch.host_field", f.HostField},
		{"robobatch.keep", strings.Join(f.Keep, ",")},
	}
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
	if percent, ok := strings.CutSuffix(text, "%"); ok {
		l.share, err = strconv.ParseFloat(percent, 64)
		l.share /= 100
		if err == nil && !(l.share >= 0 && l.share <= 1) {
			err = strconv.ErrRange
		}
	} else {
		l.most, err = strconv.ParseInt(text, 10, 64)
		if err == nil && l.most < 0 {
			err = strconv.ErrRange
		}
	}
	if err != nil {
		return l, fmt.Errorf("%q is neither a number of lines, such as 100, nor a share of them, such as 0.5%%", text)
	}
	return l, nil
}

// A policyError says that a limit that was asked for is passed.
type policyError struct{ text string }

// Error says which.
func (e *policyError) Error() string { return e.text }

// check returns a policyError if the lines that were rejected, of all, are too many; a share is looked at when atEnd.
func (l rejectLimit) check(rejected, all int64, atEnd bool) error {
	switch {
	case l.none:
	case l.share < 0 && rejected > l.most:
		return &policyError{fmt.Sprintf("rejected so far: %s; -max-rejects is %s", plural(rejected, "line"), l.text)}
	case atEnd && l.share >= 0 && float64(rejected) > l.share*float64(all):
		return &policyError{fmt.Sprintf("rejected: %s of %s; -max-rejects is %s", group(rejected), plural(all, "line"), l.text)}
	}
	return nil
}

// noteNothing tells where nothing came of a log, so that its format, or the site of the rules, may be another.
func (j *job) noteNothing(r *report) {
	field := ""
	if slices.ContainsFunc(r.Inputs, func(in inputReport) bool { return ingest.Format(in.Format).AnyField() }) {
		field = ", or the field with the URL with -url-field"
	}
	how := "was guessed: name another with -format" + field
	if r.Format != ingest.Auto.String() {
		how = "-format says: name another" + field
	}
	if r.Base == "" && r.formats() == "urls" {
		how += "; if lines are paths, name their site with -base"
	}
	bad, without := r.Counts.Reasons[engine.ReasonBadURL.String()], r.Counts.Reasons[engine.ReasonNoRobots.String()]
	switch {
	case r.Counts.URLs == 0 && sum(r.Counts.Refused) > 0:
		j.note("every line was refused: none is of the format %s, which %s", r.formats(), how)
	case bad > 0 && bad == r.Counts.Rows:
		j.note("no line is a URL with a scheme and a host, as the format %s wants, which %s", r.formats(), how)
	case without > 0 && without+bad == r.Counts.Rows:
		j.note("%s", noRobotsText)
	}
}

// noRobotsText is the note where the rules are of other origins than the logs.
const noRobotsText = "no URL has a robots.txt in -rules: the origins are others; http and https differ, as example.com and www.example.com do"

// formats returns the formats of the inputs, each once.
func (r *report) formats() string {
	var formats []string
	for _, in := range r.Inputs {
		if !slices.Contains(formats, in.Format) && in.Format != ingest.Auto.String() {
			formats = append(formats, in.Format)
		}
	}
	return strings.Join(formats, ", ")
}
