package ingest

import (
	"fmt"
	"slices"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
)

// kindNames are the kinds in messages.
var kindNames = [...]string{engine.KeptText: "text", engine.KeptInt: "int", engine.KeptTime: "time", engine.KeptFloat: "float", engine.KeptBool: "bool"}

// Kept returns the kept columns with their kinds, in the order of LogOptions.Keep.
func (l *Logs) Kept() []KeptColumn { return l.opt.Keep }

// findKinds finds the kinds of columns that keep their own kind.
func (l *Logs) findKinds() error {
	if !slices.ContainsFunc(l.opt.Keep, func(k KeptColumn) bool { return k.Own }) {
		return nil
	}
	l.opt.Keep = slices.Clone(l.opt.Keep)
	for i := range l.inputs {
		in := &l.inputs[i]
		kinds := make([]engine.KeptKind, len(l.opt.Keep)) // text
		if in.content == unpack.Parquet && in.isFile() {
			p, err := openParquet(in, l.opt.Fields, Part{})
			if err != nil {
				continue // reported when its rows are read
			}
			p.kinds(kinds)
			if err := p.close(); err != nil {
				return fault.OfFile(in.Name, err, "check the disk")
			}
		}
		for c := range l.opt.Keep {
			if err := l.opt.Keep[c].agree(in.Name, kinds[c]); err != nil {
				return err
			}
		}
	}
	return nil
}

// agree sets the kind of a column that keeps its own kind to that of an input. It returns an error if inputs differ.
func (k *KeptColumn) agree(input string, kind engine.KeptKind) error {
	switch {
	case !k.Own:
	case k.Of == "":
		k.Kind, k.Of = kind, input
	case k.Kind != kind:
		return &NameError{
			Name: input, Err: fmt.Errorf("-keep %s: the field is %s here, and %s in %s", k.Field, kindNames[kind], kindNames[k.Kind], fault.Display(k.Of)),
			Remedy: fmt.Sprintf("name one kind for all, as in -keep %s:%s", k.Field, kindNames[max(kind, k.Kind)]),
		}
	}
	return nil
}

// kinds sets the kinds of the kept columns.
func (p *parquetLog) kinds(kinds []engine.KeptKind) {
	for i, index := range p.records.Kept() {
		for _, c := range p.columns {
			if c, ok := c.(*parquetColumn); ok && c.index == index {
				kinds[i] = c.kind()
			}
		}
	}
}
