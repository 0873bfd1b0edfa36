package ingest

import (
	"iter"

	"github.com/robobatch/robobatch/engine"
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
