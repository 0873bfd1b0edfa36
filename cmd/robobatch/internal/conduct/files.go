package conduct

import (
	"errors"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/build"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/guard"
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

// commitAll gives all files their names, or none. No other goroutine can drop one of them meanwhile.
func commitAll(files []*file, outs []place.Output) error {
	if len(files) == 0 {
		return place.CommitAll(outs...)
	}
	return files[0].Commit(func(out place.Output) error { return commitAll(files[1:], append(outs, out)) })
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
