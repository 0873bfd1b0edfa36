package columnar

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output/parquet"
	"github.com/robobatch/robobatch/robots"
)

// A spec describes a column of the schema. To add a column, add a spec and the function that gathers it; all other
// code depends only on the type of its values.
type spec struct {
	parquet.Field
	choice    choice
	perAgent  bool // in the wide layout, each agent has such a column
	beside    bool // Verdicts of package output support it, because it depends only on the row
	partition bool // an output can be partitioned by it
	streaks   bool // it is gathered by streaks, if the chunk is
	byRow     bool // it may vary within a streak, so a chunk with this column is not gathered by streaks
	needs     Needs

	// preference sets the value of a column of preferences in c, whose Preference is set.
	preference func(c *preferenceCell) present

	gather func(g *gathering, f *field, c column)
	spans  func(b *engine.Batch, f *field) []engine.Span // the texts of a column of Text
}

// A choice says when a column is written if the user does not name columns.
type choice uint8

const (
	byDefault  choice = iota // always
	longOnly                 // in the long layout
	ifNamed                  // never
	ofLog                    // if agents come from the log
	ofRanges                 // if crawlers of the log are verified by IP address
	ofSitemaps               // if there are sitemaps
	never                    // cannot be named either: only for partitions
	ofChanges                // only with Options.Old
)

// Names of columns that other code needs.
const (
	NameOrigin   = "origin"
	NameAgent    = "agent"
	nameRule     = "rule"
	nameRuleLine = "rule_line"
	NameBinding  = "binding"
	nameAllowed  = "allowed"

	nameVerified   = "verified"
	nameVerifiedBy = "verified_by"
)

// CanonicalURL is the name of the column of URLs without the query parameters of Clean-param lines.
const CanonicalURL = "canonical_url"

// Violation is the name of the column that says whether a crawler of the log fetched a disallowed URL.
const Violation = "violation"

// PartitionDate is the name of the partitions by day.
const PartitionDate = "date"

const nullable = true

// newField returns a field with the default encoding.
func newField(name string, t parquet.Type, nullable bool) parquet.Field {
	return parquet.Field{Name: name, Type: t, Nullable: nullable}
}

// columnSpecs are the columns in their default order.
var columnSpecs = []*spec{
	{Field: parquet.Field{Name: "line", Type: parquet.Int64, Delta: true}, gather: func(g *gathering, _ *field, col column) {
		c := col.(*intColumn)
		copy(c.extend(g.to-g.from), g.batch.Lines[g.from:g.to])
		c.repeat(g.to-g.from, g.agents)
	}},
	{Field: newField("input", parquet.Dictionary, false), streaks: true, gather: func(g *gathering, _ *field, col column) {
		c, i, name := col.(*dictColumn), g.batch.Input, ""
		if i < len(g.names.inputs) { // otherwise the rows do not come from files
			name = g.names.inputs[i]
		}
		c.fill(c.dict.addNumbered(i, name), (g.to-g.from)*g.agents)
	}},
	{
		Field:  newField("url", parquet.Text, nullable),
		gather: gatherTexts, spans: func(b *engine.Batch, _ *field) []engine.Span { return b.URLs },
	},
	{
		Field: newField(NameOrigin, parquet.Dictionary, nullable), beside: true, partition: true, streaks: true,
		gather: gatherOrigins,
	},
	{
		Field: newField(NameAgent, parquet.Dictionary, false), choice: longOnly, beside: true, partition: true, streaks: true,
		gather: func(g *gathering, _ *field, col column) { // the agents of the run, or those of the log
			c := col.(*dictColumn)
			if len(g.batch.Agents) == 0 {
				g.addAgentTexts(c, (*Numbering).addAgent)
				return
			}
			ids := c.extend(g.to - g.from)
			for i := range ids {
				ids[i] = g.names.addRowAgent(c.dict, g.batch, g.from+i)
			}
		},
	},
	{
		Field: newField(nameAllowed, parquet.Bool, nullable), perAgent: true, beside: true, partition: true, streaks: true,
		gather: func(g *gathering, _ *field, col column) { // null if unknown
			c := col.(*boolColumn)
			n := len(g.verdicts)
			if g.uniform && g.verdicts[0].Access == engine.Allowed {
				c.append(allTrue[:n], allPresent[:n], 0)
				return
			}
			c.addAccess(g.verdicts)
			c.setStreaks(g.streaks)
		},
	},
	{
		Field: newField("reason", parquet.Dictionary, false), choice: longOnly, perAgent: true, beside: true, partition: true, streaks: true,
		gather: gatherReasons,
	},
	{
		Field: newField(nameRuleLine, parquet.Int32, nullable), perAgent: true, beside: true, streaks: true,
		gather: gatherRules,
	},
	{
		Field: newField(nameRule, parquet.Dictionary, nullable), choice: longOnly, perAgent: true, beside: true, streaks: true,
		gather: gatherRules,
	},
	{
		Field: newField(CanonicalURL, parquet.Text, nullable), choice: ifNamed, beside: true,
		needs:  Needs{Directives: []robots.Directive{robots.CleanParamLines}},
		gather: gatherTexts, spans: func(b *engine.Batch, _ *field) []engine.Span { return b.Canonicals },
	},
	{
		Field: newField(Violation, parquet.Bool, nullable), choice: ofLog, beside: true, byRow: true, needs: Needs{LogAgents: true},
		gather: func(g *gathering, _ *field, col column) { // null if unknown
			c := col.(*boolColumn)
			violations := g.batch.Violations[g.from*g.agents : g.to*g.agents]
			values, present := c.extendNullable(len(violations))
			for i, v := range violations {
				values[i], present[i] = v == engine.Violated, 1
				if v == engine.ViolationUnknown {
					present[i] = 0
					c.Nulls++
				}
			}
		},
	},
	{Field: newField(NameBinding, parquet.Dictionary, false), choice: ifNamed, beside: true, streaks: true, gather: func(g *gathering, _ *field, col column) {
		g.addAgentTexts(col.(*dictColumn), func(n *Numbering, d *Dictionary, agent int) int32 {
			b := n.catalog.Binding(agent)
			return d.addNumbered(int(b), b.String())
		})
	}},
	{
		Field: newField(nameVerified, parquet.Dictionary, nullable), choice: ofRanges, beside: true, byRow: true, needs: Needs{LogAgents: true, Ranges: true},
		gather: func(g *gathering, _ *field, col column) {
			c := col.(*dictColumn)
			answers := g.batch.Verified[g.from*g.agents : g.to*g.agents]
			ids, present := c.extendNullable(len(answers))
			for i, a := range answers {
				if ids[i], present[i] = 0, 0; a == ranges.Null {
					c.Nulls++
					continue
				}
				ids[i], present[i] = c.dict.addNumbered(int(a), a.String()), 1
			}
		},
	},
	{
		Field: newField(nameVerifiedBy, parquet.Dictionary, nullable), choice: ofRanges, beside: true, byRow: true, needs: Needs{LogAgents: true, Ranges: true},
		gather: func(g *gathering, _ *field, col column) { // null if it was not verified
			c := col.(*dictColumn)
			proofs := g.batch.Proofs[g.from*g.agents : g.to*g.agents]
			ids, present := c.extendNullable(len(proofs))
			for i, p := range proofs {
				if ids[i], present[i] = 0, 0; p == 0 {
					c.Nulls++
					continue
				}
				ids[i], present[i] = g.names.proof(c.dict, p), 1
			}
		},
	},
	sourceSpec(robots.ByUsage), sourceLineSpec(robots.ByUsage), sourceSpec(robots.BySignal), sourceLineSpec(robots.BySignal),
	{
		Field: newField("license", parquet.Dictionary, nullable), choice: ifNamed, beside: true, streaks: true,
		needs: Needs{Directives: []robots.Directive{robots.LicenseLines}}, gather: gatherLicenses,
	},
	useSpec(robots.TrainAI), useSpec(robots.Search), useSpec(robots.AIInput),
	sourceSpec(robots.ByPolicy), sourceLineSpec(robots.ByPolicy),
	{
		Field: newField("in_sitemap", parquet.Bool, nullable), choice: ofSitemaps, byRow: true, needs: Needs{Sitemaps: true},
		gather: func(g *gathering, _ *field, col column) { // null if the URL is invalid
			c := col.(*boolColumn)
			n := g.to - g.from
			values, present := c.extendNullable(n)
			for i, l := range g.batch.Listed[g.from:g.to] {
				if values[i], present[i] = l == engine.IsListed, 1; l == engine.ListedUnknown {
					present[i] = 0
					c.Nulls += g.agents
				}
			}
			c.repeat(n, g.agents)
		},
	},
	{
		Field: newField(PartitionDate, parquet.Dictionary, nullable), choice: never, partition: true, needs: Needs{Times: true},
		gather: gatherDates,
	},
	{Field: newField(nameAllowedOld, parquet.Bool, nullable), choice: ofChanges, gather: func(g *gathering, _ *field, col column) {
		col.(*boolColumn).addAccess(g.batch.Old.Verdicts[g.from:g.to])
	}},
	{Field: newField(nameRuleLineOld, parquet.Int32, nullable), choice: ofChanges, gather: func(g *gathering, _ *field, col column) {
		g.appendOldRules(&col.(*int32Column).values, func(_, line int32) int32 { return line })
	}},
	{Field: newField(nameRuleOld, parquet.Dictionary, nullable), choice: ofChanges, gather: func(g *gathering, _ *field, col column) {
		g.appendOldRules(&col.(*dictColumn).values, func(id, _ int32) int32 { return id })
	}},
	{Field: newField(nameChange, parquet.Dictionary, false), choice: ofChanges, byRow: true, gather: func(g *gathering, _ *field, col column) {
		c := col.(*dictColumn)
		ids := c.extend(g.to - g.from)
		for i, change := range g.batch.Changes[g.from:g.to] {
			ids[i] = c.dict.addNumbered(int(change), change.String())
		}
	}},
}

// KeptSpecs has the spec of a column of the input for each kind, without a name.
var KeptSpecs = [...]*spec{
	engine.KeptText: {
		Field:  newField("", parquet.Text, nullable),
		gather: gatherTexts, spans: func(b *engine.Batch, f *field) []engine.Span { return b.Kept[f.kept].Texts },
	},
	engine.KeptInt:  {Field: newField("", parquet.Int64, nullable), gather: gatherKeptInts},
	engine.KeptTime: {Field: newField("", parquet.Time, nullable), gather: gatherKeptInts},
	engine.KeptFloat: {Field: newField("", parquet.Double, nullable), gather: func(g *gathering, f *field, col column) {
		gatherKept(g, f, &col.(*floatColumn).values, g.batch.Kept[f.kept].Floats)
	}},
	engine.KeptBool: {Field: newField("", parquet.Bool, nullable), gather: func(g *gathering, f *field, col column) {
		c := col.(*boolColumn)
		values, levels := c.extendNullable(g.to - g.from)
		for i, n := range g.batch.Kept[f.kept].Ints[g.from:g.to] {
			values[i] = n != 0
		}
		c.Nulls += g.setKeptLevels(f, levels)
		c.repeat(len(values), g.agents)
	}},
}

// A field is a column of a table.
type field struct {
	parquet.Field
	spec  *spec
	agent int // the agent of the column, in the wide layout
	kept  int // index in engine.Batch.Kept, for a column of the input
	at    int // index in Schema.Fields
}

// ErrColumn is wrapped by errors about the choice of columns.
var ErrColumn = errors.New("invalid choice of columns")

// A ColumnError says why a column cannot be written.
type ColumnError struct {
	Name   string
	Reason string   // "unknown", "named twice"
	Known  []string // the columns to choose from
}

// Error names the column and the reason, and lists the known columns if the column is unknown.
func (e *ColumnError) Error() string {
	remedy := "name it once"
	if !slices.Contains(e.Known, e.Name) {
		remedy = "choose from " + strings.Join(e.Known, ",")
	}
	return fmt.Sprintf("column %q is %s: %s", e.Name, e.Reason, remedy)
}

// Unwrap returns ErrColumn.
func (e *ColumnError) Unwrap() error { return ErrColumn }

// specNames returns the names of the columns for which want returns true.
func specNames(want func(*spec) bool) (names []string) {
	for _, s := range columnSpecs {
		if want(s) {
			names = append(names, s.Name)
		}
	}
	return names
}

// Columns returns the names of all columns in their default order.
func Columns() []string { return specNames(func(s *spec) bool { return s.choice < never }) }

// LogColumns returns the names of the columns that are written by default after Layout.DefaultColumns if agents come
// from the log.
func LogColumns() []string { return specNames(func(s *spec) bool { return s.choice == ofLog }) }

// RangesColumns returns the names of the columns that are written by default after LogColumns if crawlers are verified
// by IP address.
func RangesColumns() []string { return specNames(func(s *spec) bool { return s.choice == ofRanges }) }

// SitemapColumns returns the names of the columns that are written by default after RangesColumns if there are
// sitemaps.
func SitemapColumns() []string {
	return specNames(func(s *spec) bool { return s.choice == ofSitemaps })
}

// VerdictColumns returns the names of the columns that Verdicts of package output support: those that depend only on
// the row.
func VerdictColumns() []string { return specNames(func(s *spec) bool { return s.beside }) }

// Partitions returns the names that ParsePartition accepts: columns, and [PartitionDate], the day of
// [engine.Batch.Times].
func Partitions() []string { return specNames(func(s *spec) bool { return s.partition }) }

// ParseColumns splits a comma-separated list of column names, in the order of the output. Spaces around names are
// dropped. The empty list means [Layout.DefaultColumns] of [Long], [Usage] the columns of preferences except those of
// policies, and a leading "+" the default columns. The error joins a [ColumnError] for every invalid name.
func ParseColumns(list string) ([]string, error) {
	if strings.TrimSpace(list) == "" {
		return Long.DefaultColumns(), nil
	}
	return parseColumns(AddColumns(list, Long.DefaultColumns()), Columns())
}

// Usage is the name for all columns of preferences in a list of columns.
const Usage = "usage"

// AddColumns replaces a leading "+" of the list by the default columns that the list does not name. It returns other
// lists unchanged.
func AddColumns(list string, defaults []string) string {
	if more, ok := strings.CutPrefix(strings.TrimSpace(list), "+"); ok {
		names := splitNames(more)
		others := slices.DeleteFunc(slices.Clone(defaults), func(name string) bool { return slices.Contains(names, name) })
		return strings.Join(append(others, more), ",")
	}
	return list
}

// ParseVerdictColumns is like [ParseColumns], for [VerdictColumns]; it returns nil for the empty list.
func ParseVerdictColumns(list string) ([]string, error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	return parseColumns(AddColumns(list, Long.VerdictDefaults()), VerdictColumns())
}

// VerdictDefaults returns the names of the default columns of Verdicts: [Layout.DefaultColumns] that they support,
// except the agent, which the caller knows.
func (l Layout) VerdictDefaults() []string {
	return slices.DeleteFunc(l.DefaultColumns(), func(name string) bool { return !Lookup(name).beside || name == NameAgent })
}

// parseColumns splits a comma-separated list of columns, which must be among known.
func parseColumns(list string, known []string) ([]string, error) {
	names := splitNames(list)
	if _, err := Pick(names, known); err != nil {
		return nil, err
	}
	return names, nil
}

// splitNames splits a comma-separated list of names, drops spaces around them, and replaces Usage by the columns of
// preferences except those of policies.
func splitNames(list string) []string {
	var names []string
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name == Usage {
			names = append(names, specNames(func(s *spec) bool { return s.needs.HasUsage() && !strings.HasPrefix(s.Name, "policy_") })...)
		} else {
			names = append(names, name)
		}
	}
	return names
}

// Pick returns the columns with these names, which must be among known. The error joins a [ColumnError] for every
// invalid name.
func Pick(names, known []string) (picked []*spec, err error) {
	var errs []error
	for i, name := range names {
		switch s := Lookup(name); {
		case s == nil || !slices.Contains(known, name):
			errs = append(errs, &ColumnError{name, "unknown", known})
		case slices.Contains(names[:i], name):
			errs = append(errs, &ColumnError{name, "named twice", known})
		default:
			picked = append(picked, s)
		}
	}
	return picked, errors.Join(errs...)
}

// Lookup returns the column of that name; nil if there is none.
func Lookup(name string) *spec {
	for _, s := range columnSpecs {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// ErrPartition is wrapped by errors about the columns that partition an output.
var ErrPartition = errors.New("cannot partition the output")

// ParsePartition splits a comma-separated list of the columns that partition the output; "" means no partitions. The
// error is ErrPartition.
func ParsePartition(list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	names := splitNames(list)
	return names, checkPartition(names)
}

// checkPartition returns the joined errors of columns to partition by: an ErrPartition for each that is unsuitable or
// named twice.
func checkPartition(names []string) error {
	var errs []error
	for i, name := range names {
		switch {
		case !slices.Contains(Partitions(), name):
			errs = append(errs, fmt.Errorf("%w by %q: use %s", ErrPartition, name, strings.Join(Partitions(), ", ")))
		case slices.Contains(names[:i], name):
			errs = append(errs, fmt.Errorf("%w: %s is named twice", ErrPartition, name))
		}
	}
	return errors.Join(errs...)
}
