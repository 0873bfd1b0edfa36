package main

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
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
	partitionBy string
	sort        string
}

// define defines the flags of a form.
func (f *storageForm) define(fs *flag.FlagSet) {
	fs.StringVar(&f.compression, "compression", "", "")
	fs.Func("level", "", positive(&f.level))
	fs.Func("row-group", "", positive(&f.rowGroup))
	fs.StringVar(&f.bloom, "bloom", "", "")
	fs.StringVar(&f.partitionBy, "partition-by", "", "")
	fs.StringVar(&f.sort, "sort", "", "")
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
	if out.Sort, err = output.ParseSort(f.sort); err != nil {
		errs = append(errs, usage("-sort: %w", withHint(err, f.sort, enumerated["sort"])))
	}
	out.Level, out.RowGroup = f.level, f.rowGroup
	if f.bloom != "" {
		for _, name := range strings.Split(f.bloom, ",") {
			out.Bloom = append(out.Bloom, strings.TrimSpace(name))
		}
	}
	for _, err := range parts(out.CheckContainer(agents)) {
		for _, err := range parts(err) {
			errs = append(errs, usage("-%s: %w", containerFlag(err), err))
		}
	}
	return errors.Join(errs...)
}

// settleParts sets what the output is partitioned by, and its format: out is its name, which is a directory's then. It is called before settle.
func (f *storageForm) settleParts(out string, opt *output.Options) error {
	var errs []error
	var err error
	if opt.Partition, err = output.ParsePartition(f.partitionBy); err != nil {
		for _, err := range parts(err) {
			errs = append(errs, usage("-partition-by: %w", err))
		}
		opt.Partition = nil
	}
	if out == stdName {
		errs = append(errs, usage("-partition-by: standard output has no directories: name one with -out"))
	}
	if _, err := output.FormatOf(out); err == nil && out != stdName {
		errs = append(errs, usage("-partition-by: -out %s is a file's name: name a directory, such as %s/", out, strings.TrimSuffix(out, filepath.Ext(out))))
	}
	return errors.Join(errs...)
}

// sortShare is the part of -max-memory that rows which are sorted take.
const sortShare = 4

// shareMemory divides the memory that a run may take between rules and rows, if rows are held.
func shareMemory(limit int64, opt *output.Options) (rules int64) {
	if limit <= 0 || opt.Sort == output.SortNone && len(opt.Partition) == 0 {
		return limit
	}
	opt.SortMemory = limit / sortShare
	return limit - opt.SortMemory
}
