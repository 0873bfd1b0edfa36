package conduct

import (
	"errors"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/build"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/targets"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warn"
	"github.com/robobatch/robobatch/internal/place"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/output/parquet"
)

// The files, by their places in files.
const (
	ofOut = iota
	ofRows
	ofChanges
)

// files are the tables that are written. Those without a name are not.
type files struct{ all []*file }

// A file is a table that appears under its name when it is complete.
type file struct {
	guard.Sink[place.Output]
	flag  string
	opt   output.CellOptions
	table *output.CellTable // nil if it is not written
}

// addFile adds the file of a flag.
func (f *files) addFile(flag, name string, format output.Format, csv output.CSVForm) {
	t := &file{flag: flag, opt: output.CellOptions{Format: format, CSV: csv, Version: build.Version()}}
	t.Name = name
	f.all = append(f.all, t)
}

// names returns the names of those that are written.
func (f *files) names() (names []string) {
	for _, t := range f.all {
		if t.Name != "" {
			names = append(names, t.Name)
		}
	}
	return names
}

// check checks that the files overwrite nothing that is read, nor each other.
func (f *files) check(read targets.Inputs) error {
	var errs []error
	var others []targets.Other
	for _, t := range f.all {
		if t.Name == "" {
			continue
		}
		errs = append(errs, targets.CheckFile(t.flag, t.Name, read, others...))
		others = append(others, targets.Other{Flag: t.flag, Name: t.Name})
	}
	return errors.Join(errs...)
}

// create begins the files.
func (f *files) create(byAgent bool) error {
	columns := [...][]parquet.Field{ofOut: rowFields(byAgent), ofRows: output.CellFields(requestColumns), ofChanges: output.CellFields(changeColumns)}
	for i, t := range f.all {
		if t.Name == "" {
			continue
		}
		err := t.Create(func() (place.Output, error) { return place.Create(t.Name, nil) })
		if err == nil {
			err = t.Use(func(out place.Output) (err error) {
				t.table, err = output.NewCellTable(out, columns[i], t.opt)
				return err
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addRow adds a row to the table, if it is written.
func (t *file) addRow(row []parquet.Cell) error {
	if t.table == nil {
		return nil
	}
	return t.Use(func(out place.Output) error { return out.Wrap("write", t.table.Add(row)) })
}

// commit completes all files, or none, and prints the warning about them.
func (f *files) commit(c *console.Console) error {
	var written []*file
	var formulas output.Formulas
	for _, t := range f.all {
		if t.table == nil {
			continue
		}
		if err := t.Use(func(out place.Output) error { return out.Wrap("write", t.table.Close()) }); err != nil {
			return err
		}
		formulas.Add(t.table.Formulas())
		written = append(written, t)
	}
	var set targets.Set
	if err := set.Begin(f.names()...); err != nil {
		return err
	}
	if err := errors.Join(commitAll(written, nil), set.End()); err != nil {
		return err
	}
	c.WarnOnce(warn.Formulas(formulas))
	return nil
}

// commitAll gives all files their names, or none. No other goroutine can drop one of them meanwhile.
func commitAll(files []*file, outs []place.Output) error {
	if len(files) == 0 {
		return place.CommitAll(outs...)
	}
	return files[0].Commit(func(out place.Output) error { return commitAll(files[1:], append(outs, out)) })
}

// close drops the files that are not complete.
func (f *files) close() error {
	errs := make([]error, 0, len(f.all))
	for _, t := range f.all {
		errs = append(errs, t.Close())
	}
	return errors.Join(errs...)
}

// drop is close for any goroutine. It reports whether a file was complete.
func (f *files) drop() (committed bool, err error) {
	for _, t := range f.all {
		if t.Name == "" {
			continue
		}
		done, errFile := t.Drop()
		committed, err = committed || done, errors.Join(err, errFile)
	}
	return committed, err
}
