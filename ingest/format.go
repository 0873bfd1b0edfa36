package ingest

import (
	"iter"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

// A Format is a way to write a log, by its name, as in "combined". The zero value is Auto.
type Format = weblog.Format

// Auto detects the format of each log by its first lines.
const Auto = weblog.Auto

// Formats returns all formats, Auto first.
func Formats() []Format { return weblog.Formats() }

// ParseFormat returns the format of that name, in any case, or of another name that people use for it, or the pattern
// in a text with "$" or "%", as in nginx and Apache. It is Auto for "" and "auto". The error lists the names there are.
func ParseFormat(name string) (Format, error) { return weblog.ParseFormat(name) }

// URLs is the format of a list of URLs. Parquet, Sitemap and WARC are the formats of files that are not read by lines.
const (
	URLs    = weblog.URLs
	Parquet = weblog.Parquet
	Sitemap = weblog.Sitemap
	WARC    = weblog.WARC
)

// Fields say which fields of the lines to read.
type Fields = weblog.Options

// FieldNames returns the names of fields that mean the same in every format, and the kinds of their
// values.
func FieldNames() map[string]engine.KeptKind { return weblog.Names() }

// FieldKind returns the kind of a field's values, by its name: the kind in [FieldNames], or one that a
// format has for the same. It is KeptText for others.
func FieldKind(field string) engine.KeptKind { return weblog.KindOf(field) }

// NameClient is the name of the field and the role of the client's address.
const NameClient = weblog.NameClient

// FieldRoles returns the roles of [Fields].Named.
func FieldRoles() []string { return weblog.Roles() }

// RequestFields read the fields of requests that stand in no log.
type RequestFields = weblog.Fields

// A KnownField is a name of a field that is known for a role.
type KnownField = weblog.KnownField

// KnownFields yields the names of fields that are known, by roles, and those of any program first.
func KnownFields() iter.Seq[KnownField] { return weblog.KnownFields() }

// A Took says which fields of a log are read.
type Took = weblog.Took

// Left is a field that is not read and holds what a role lacks.
type Left = weblog.Left
