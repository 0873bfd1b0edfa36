package container

import (
	"errors"
	"fmt"
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

// separators are the names of the separators.
var separators = []struct {
	name      string
	separator byte
}{{"comma", ','}, {"semicolon", ';'}, {"tab", '\t'}, {"bar", '|'}}

// Separators returns the names that ParseSeparator takes.
func Separators() (names []string) {
	for _, s := range separators {
		names = append(names, s.name)
	}
	return names
}

// ParseSeparator returns the separator of that name, or that is written so; 0 for "". The error is
// ErrCSV.
func ParseSeparator(name string) (byte, error) {
	if name == "" {
		return 0, nil
	}
	for _, s := range separators {
		if name == s.name || name == string(s.separator) || name == `\t` && s.separator == '\t' {
			return s.separator, nil
		}
	}
	return 0, fmt.Errorf("%w of CSV as with the separator %q: use one of %s", ErrCSV, name, strings.Join(Separators(), ", "))
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

// syntaxOf returns the syntax of the lines of a format in that form.
func (c CSVForm) syntaxOf(f Format) *fieldtext.Syntax {
	if c.Separator == 0 && !c.Safe || !f.isCSV() {
		return Specs[f].Syntax
	}
	separator := c.Separator
	if separator == 0 && Specs[f].Syntax == &fieldtext.TSV {
		separator = '\t'
	} else if separator == 0 {
		separator = ','
	}
	s := fieldtext.Separated(separator, c.Safe)
	return &s
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

// SafeSyntax returns the syntax of the lines of a format such that no cell of CSV is a formula.
func (f Format) SafeSyntax() *fieldtext.Syntax { return CSVForm{Safe: true}.syntaxOf(f) }
