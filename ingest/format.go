package ingest

import (
	"fmt"
	"iter"
	"slices"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

// A Format is the name of a log format, such as "combined". The zero value is Auto.
type Format = weblog.Format

// Auto detects the format of each log from its first lines.
const Auto = weblog.Auto

// Formats returns all formats, Auto first.
func Formats() []Format { return weblog.Formats() }

// ParseFormat returns the format for a name, ignoring case. It also accepts other common names, and a pattern with "$"
// or "%" as in nginx and Apache. "" and "auto" mean Auto. The error lists the valid names.
func ParseFormat(name string) (Format, error) { return weblog.ParseFormat(name) }

// URLs is the format of a list of URLs. Parquet, Sitemap and WARC are formats that are not line-based.
const (
	URLs    = weblog.URLs
	Parquet = weblog.Parquet
	Sitemap = weblog.Sitemap
	WARC    = weblog.WARC
)

// Fields say which fields of the lines are read.
type Fields = weblog.Options

// FieldNames returns the names of fields that mean the same in every format, with the kinds of their values.
func FieldNames() map[string]engine.KeptKind { return weblog.Names() }

// FieldKind returns the kind of values of a field: the kind in [FieldNames], also for a format's own name of such a
// field, and KeptText for other fields.
func FieldKind(field string) engine.KeptKind { return weblog.KindOf(field) }

// NameClient is the name of the field and role for the client address.
const NameClient = weblog.NameClient

// FieldRoles returns the roles of [Fields].Named.
func FieldRoles() []string { return weblog.Roles() }

// RequestFields reads the fields of single requests that are not in a log.
type RequestFields = weblog.Fields

// A KnownField is a field name that is known for a role.
type KnownField = weblog.KnownField

// KnownFields yields the known field names by role, starting with the names that any program may use.
func KnownFields() iter.Seq[KnownField] { return weblog.KnownFields() }

// A Took says which fields of a log are read.
type Took = weblog.Took

// Left is a field that is not read, although a role lacks its content.
type Left = weblog.Left

// kindNames are the kinds in messages.
var kindNames = [...]string{engine.KeptText: "text", engine.KeptInt: "int", engine.KeptTime: "time", engine.KeptFloat: "float", engine.KeptBool: "bool"}

// Kept returns the kept columns with their kinds, in the order of LogOptions.Keep.
func (l *Logs) Kept() []KeptColumn { return l.opt.Keep }

// findKinds sets the kinds of columns that keep their own kind, see KeptColumn.Own. It opens the Parquet files among
// the inputs. It returns an error if inputs have different kinds.
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
			switch k, kind := &l.opt.Keep[c], kinds[c]; {
			case !k.Own:
			case k.Of == "":
				k.Kind, k.Of = kind, in.Name
			case k.Kind != kind:
				return &NameError{
					Name: in.Name, Err: fmt.Errorf("-keep %s: the field is %s here, and %s in %s", k.Field, kindNames[kind], kindNames[k.Kind], fault.Display(k.Of)),
					Remedy: fmt.Sprintf("name one kind for all, as in -keep %s:%s", k.Field, kindNames[max(kind, k.Kind)]),
				}
			}
		}
	}
	return nil
}

// kinds sets the elements of kinds, one for each kept column, to the kinds of the columns in the file. It leaves an
// element unchanged if the file has no such column.
func (p *parquetLog) kinds(kinds []engine.KeptKind) {
	for i, index := range p.records.Kept() {
		for _, c := range p.columns {
			if c, ok := c.(*parquetColumn); ok && c.index == index {
				kinds[i] = c.kind()
			}
		}
	}
}
