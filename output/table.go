package output

import "github.com/robobatch/robobatch/output/internal/columnar"

// A Layout says which rows the table has: [Long] or [Wide].
type Layout = columnar.Layout

// The layouts.
const (
	Long = columnar.Long // a row for each URL and agent
	Wide = columnar.Wide // a row for each URL, with columns for each agent
)

// ParseLayout returns the layout of that name. The error says which names there are.
func ParseLayout(name string) (Layout, error) { return columnar.ParseLayout(name) }

// A KeptColumn is a column of the input that is written behind the columns of the verdicts. It has nulls.
type KeptColumn = columnar.KeptColumn

// A ColumnError is a column that cannot be chosen.
type ColumnError = columnar.ColumnError

// CanonicalURL is the name of the column of URLs without the parameters of clean-param lines.
const CanonicalURL = columnar.CanonicalURL

// Violation is the name of the column about the deeds of the log's crawlers.
const Violation = columnar.Violation

// PartitionDate is the name of the partitions by day.
const PartitionDate = columnar.PartitionDate

// ErrPartition is the kind of the errors about the columns that partition an output.
var ErrPartition = columnar.ErrPartition

// Columns returns the names of all columns in their default order.
func Columns() []string { return columnar.Columns() }

// LogColumns returns the names of the columns that are written by default, behind
// [Layout.DefaultColumns], if agents come from the log.
func LogColumns() []string { return columnar.LogColumns() }

// RangesColumns returns the names of the columns that are written by default, behind LogColumns, if the
// crawlers of the log are verified.
func RangesColumns() []string { return columnar.RangesColumns() }

// Needs list the needs of columns, partitions and rows from a store and from a log; see [Options.Needs].
type Needs = columnar.Needs

// SitemapColumns returns the names of the columns that are written by default, behind RangesColumns, if there are
// sitemaps.
func SitemapColumns() []string { return columnar.SitemapColumns() }

// NeedsOf returns all needs of the columns and partitions of these names. Names that are none need
// nothing.
func NeedsOf(names ...string) Needs { return columnar.NeedsOf(names...) }

// ChangeColumns returns the names of the columns of changes, see Options.Old: columns that name the
// row, then verdict and rule by the old store and by the store, then the [engine.Change].
func ChangeColumns() []string { return columnar.ChangeColumns() }

// VerdictColumns returns the names of the columns that [Verdicts] can have: those that depend on
// nothing but URL and agent.
func VerdictColumns() []string { return columnar.VerdictColumns() }

// Partitions returns the names that ParsePartition takes: of columns, and [PartitionDate], the day
// in UTC of [engine.Batch.Times].
func Partitions() []string { return columnar.Partitions() }

// ParseColumns splits a comma-separated list of column names, which picks columns and orders them.
// Spaces around a name are dropped. The empty list is [Layout.DefaultColumns] of [Long]. The error
// joins a [ColumnError] for every fault. "usage" stands for the columns of preferences, and a "+" before
// the list for the default columns.
func ParseColumns(list string) ([]string, error) { return columnar.ParseColumns(list) }

// AddColumns returns a list of columns that begins with "+" with the default ones in place of that, but for those that
// it names, and another one as it is.
func AddColumns(list string, defaults []string) string { return columnar.AddColumns(list, defaults) }

// ParseVerdictColumns is [ParseColumns] for [VerdictColumns]; the empty list is nil.
func ParseVerdictColumns(list string) ([]string, error) { return columnar.ParseVerdictColumns(list) }

// ParsePartition splits a comma-separated list of the columns that partition the output. The empty list
// is no partitions. The error is ErrPartition.
func ParsePartition(list string) ([]string, error) { return columnar.ParsePartition(list) }
