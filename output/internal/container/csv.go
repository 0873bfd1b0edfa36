package container

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/internal/fieldtext"
)

// A CSVForm is how CSV is written for programs that do not read it as it usually is. The zero value
// is the usual form.
type CSVForm struct {
	Separator byte // between fields: one of ,;|\t; 0 is the format's own
	BOM       bool // a byte order mark comes first, so that Excel knows UTF-8
	Safe      bool // texts that spreadsheets would run as formulas have an apostrophe before them
}

// ErrCSV is the kind of the errors about a CSVForm.
var ErrCSV = errors.New("no such form")

// A separator is one of fields, and its name.
type separator struct {
	name string
	is   byte
}

// separators are all of them.
var separators = []separator{{"comma", ','}, {"semicolon", ';'}, {"tab", '\t'}, {"bar", '|'}}

// CSVForms returns the words that ParseCSV takes.
func CSVForms() []string {
	names := append(make([]string, 0, 2+len(separators)), "safe", "bom")
	for _, s := range separators {
		names = append(names, s.name)
	}
	return names
}

// ParseCSV returns the form of these words, which commas separate; a separator may also be written itself. The error is ErrCSV.
func ParseCSV(list string) (c CSVForm, err error) {
	switch list {
	case "":
		return c, nil
	case ",":
		list = "comma"
	}
	for word := range strings.SplitSeq(list, ",") {
		word = strings.Trim(word, " ")
		i := slices.IndexFunc(separators, func(s separator) bool {
			return word == s.name || word == string(s.is) || word == `\t` && s.is == '\t'
		})
		switch {
		case word == "safe":
			c.Safe = true
		case word == "bom":
			c.BOM = true
		case i >= 0 && c.Separator != 0:
			err = errors.Join(err, fmt.Errorf("%w of CSV as with two separators: use one", ErrCSV))
		case i >= 0:
			c.Separator = separators[i].is
		default:
			err = errors.Join(err, fmt.Errorf("%w of CSV as %q: use one of %s", ErrCSV, word, strings.Join(CSVForms(), ", ")))
		}
	}
	return c, err
}

// check returns an ErrCSV if the format does not have that form.
func (c CSVForm) check(f Format) error {
	switch isTSV := f.isCSV() && Specs[f].Syntax == &fieldtext.TSV; {
	case c == CSVForm{}:
	case !f.isCSV():
		return fmt.Errorf("%w of %s: separators, byte order marks and safe cells are for .csv and .tsv", ErrCSV, f)
	case c.Separator != 0 && isTSV && c.Separator != '\t':
		return fmt.Errorf("%w of %s: its separator is the tab; with another it is a .csv", ErrCSV, f)
	}
	return nil
}

// Begin returns the syntax of the lines of a format in that form, and the bytes that come first. Formats that do not have
// the form are as they are.
func (c CSVForm) Begin(f Format) (syntax *fieldtext.Syntax, head string) {
	syntax = Specs[f].Syntax
	if !f.isCSV() {
		return syntax, ""
	}
	if c.BOM {
		head = ByteOrderMark
	}
	if c.Separator == 0 && !c.Safe {
		return syntax, head
	}
	separator := cmp.Or(c.Separator, ',')
	if syntax == &fieldtext.TSV {
		separator = '\t'
	}
	s := fieldtext.Separated(separator, c.Safe)
	return &s, head
}

// ByteOrderMark is U+FEFF in UTF-8.
const ByteOrderMark = "\ufeff"

// MaxFormulas is how many cells are kept as examples.
const MaxFormulas = 3

// Formulas are the cells of CSV that spreadsheets would run, as fieldtext.IsFormula says. They are
// not counted in another format, and where they are written so that they are safe.
type Formulas struct {
	Cells int64
	First []string // up to 3 of them
}

// Add adds the formulas of rows that follow.
func (f *Formulas) Add(more Formulas) {
	f.Cells += more.Cells
	f.First = append(f.First, more.First[:min(len(more.First), MaxFormulas-len(f.First))]...)
}

// See counts a text that is one.
func (f *Formulas) See(text []byte) {
	f.Cells++
	if len(f.First) < MaxFormulas {
		f.First = append(f.First, string(text))
	}
}
