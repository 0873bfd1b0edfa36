package main

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/output"
)

// A storageForm is what the flags say of how the output is stored, apart from its name and columns. It changes no row.
type storageForm struct {
	compression string
	level       int
	rowGroup    int
	bloom       string
}

// define defines the flags of a form.
func (f *storageForm) define(fs *flag.FlagSet) {
	fs.StringVar(&f.compression, "compression", "", "")
	fs.Func("level", "", positive(&f.level))
	fs.Func("row-group", "", positive(&f.rowGroup))
	fs.StringVar(&f.bloom, "bloom", "", "")
}

// positive returns a flag's function that sets a number of at least 1.
func positive(to *int) func(string) error {
	return func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is no whole number of 1 or more: write one in digits", s)
		}
		*to = n
		return nil
	}
}

// settle sets what the form asks for, once format and columns are. The error joins a usageError for each fault.
func (f *storageForm) settle(out *output.Options, agents []string) error {
	var errs []error
	var err error
	if out.Compression, err = output.ParseCompression(f.compression); err != nil {
		errs = append(errs, usage("-compression: %w", withHint(err, f.compression, output.Compressions())))
	}
	out.Level, out.RowGroup = f.level, f.rowGroup
	if f.bloom != "" {
		for _, name := range strings.Split(f.bloom, ",") {
			out.Bloom = append(out.Bloom, strings.TrimSpace(name))
		}
	}
	for _, err := range parts(out.CheckContainer(agents)) {
		for _, err := range parts(err) {
			errs = append(errs, usage("-%s: %w", f.flagOf(err), err))
		}
	}
	return errors.Join(errs...)
}

// flagOf returns the flag that an error of [output.Options.CheckContainer] is about.
func (f *storageForm) flagOf(err error) string {
	for name, kind := range map[string]error{
		"level": output.ErrLevel, "row-group": output.ErrRowGroup, "bloom": output.ErrBloom,
	} {
		if errors.Is(err, kind) {
			return name
		}
	}
	return "compression"
}
