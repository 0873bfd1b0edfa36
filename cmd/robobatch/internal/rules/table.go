package rules

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/outputs"
	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/internal/listings"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/output/parquet"
	"github.com/robobatch/robobatch/robots"
)

// A Format is a file format of a listing.
type Format uint8

// The formats of listings.
const (
	Parquet Format = iota // ".parquet"
	JSON                  // one JSON object per line; ".jsonl"
)

// ErrFormat is the kind of error that FormatOf returns.
var ErrFormat = errors.New("unknown format of a listing")

// FormatOf returns the format for the name of a listing: by its extension, or JSON for "-", standard output.
func FormatOf(name string) (Format, error) {
	switch ext := strings.ToLower(filepath.Ext(name)); {
	case name == "-", ext == ".jsonl":
		return JSON, nil
	case ext == ".parquet":
		return Parquet, nil
	}
	return 0, fmt.Errorf("%w of %s: its name must end in .parquet or .jsonl, or be - for JSON Lines on standard output", ErrFormat, name)
}

// Options configure a listing.
type Options struct {
	Format   Format
	Agents   []string       // list the rules that bind these crawlers; if empty, list every group
	Dialect  robots.Dialect // dialect in which the rules were read
	Version  string         // of the program; "" is "devel"
	Metadata [][2]string    // further metadata, Parquet only
}

// A File is a listing of rules. The file gets its name only when it is complete. It is not safe for concurrent use.
type File struct {
	file     storage.Output
	agents   []robots.Agent
	names    []string
	sink     *sink
	table    listTable
	metadata [2][]string // keys and values
	rows     int64
}

// Create creates a listing with that name; "-" writes to stdout. Errors of the file are of type [*atomicfile.Error].
// After Create, call Commit or Close.
func Create(name string, stdout io.Writer, opt Options) (*File, error) {
	file, err := storage.Create(name, stdout)
	if err != nil {
		return nil, err
	}
	f := &File{file: file, names: opt.Agents, sink: &sink{Writer: bufio.NewWriterSize(file, 256<<10)}}
	for _, a := range opt.Agents {
		f.agents = append(f.agents, robots.NewAgent(a, opt.Dialect))
	}
	pairs := [][2]string{{output.KeyVersion, cmp.Or(opt.Version, "devel")}, {output.KeyDialect, opt.Dialect.String()}}
	for _, pair := range append(pairs, opt.Metadata...) {
		f.metadata[0] = append(f.metadata[0], pair[0])
		f.metadata[1] = append(f.metadata[1], fieldtext.Valid(pair[1]))
	}
	if opt.Format == JSON {
		j := &listJSON{sink: f.sink}
		j.values = json.NewEncoder(&j.value)
		j.values.SetEscapeHTML(false)
		f.table = j
		return f, nil
	}
	fields := make([]parquet.Field, len(listColumns))
	for i, c := range listColumns {
		fields[i] = c.Field
	}
	f.table, err = parquet.NewTable(f.sink, fields, parquet.Options{
		CreatedBy: "robobatch version " + fieldtext.Valid(cmp.Or(opt.Version, "devel")), Codec: parquet.Zstd, Level: 1,
	})
	if err != nil {
		return nil, errors.Join(file.Wrap("create", err), file.Close())
	}
	return f, nil
}

// Rows returns the number of rows written.
func (f *File) Rows() int64 { return f.rows }

// Commit completes the listing and gives it its name. After an error, the listing is dropped and an existing file is
// unchanged.
func (f *File) Commit() error {
	err := f.table.Close(f.metadata[0], f.metadata[1])
	if err == nil {
		err = f.sink.Flush()
	}
	if err != nil {
		return errors.Join(f.file.Wrap("write", err), f.file.Close())
	}
	return f.file.Commit()
}

// Close drops the listing, unless Commit was called.
func (f *File) Close() error { return f.file.Close() }

// Write adds the rows of one origin: one about its robots.txt, and those about the body, if it is read.
func (f *File) Write(l *listings.Listing) error {
	rows := lister{file: listedFile(l), table: f.table}
	rows.addRow(listRow{item: itemFile})
	rows.file.url, rows.file.reason = "", "" // they may be long, so they are written once
	if l.Report != nil {
		// Add the rows about the body.
		r := l.Report
		if len(f.agents) == 0 {
			rows.addGroups(r)
		}
		for i, agent := range f.agents {
			rows.agent(r, f.names[i], agent)
		}
		for _, s := range r.Sitemaps {
			rows.addRow(listRow{item: itemSitemap, line: s.Line, value: &s.URL})
		}
		for _, h := range r.Hosts {
			if h.Valid {
				rows.addRow(listRow{item: itemHost, line: h.Line, value: &h.Value})
				break // only the first one counts
			}
		}
		for _, c := range r.CleanParams {
			value := strings.Join(c.Params, "&") + " " + c.Path
			rows.addRow(listRow{item: itemCleanParam, line: c.Line, value: &value})
		}
		if r.Preferences != nil {
			rows.addPreferences(r.Preferences, f)
		}
		for _, d := range r.About(robots.Origin(rows.file.origin)) {
			rows.addRow(listRow{item: itemDiagnostic, line: d.Line, code: string(d.Code), value: &d.Text})
		}
	}
	f.rows += rows.count
	if rows.err == nil {
		_, err := f.sink.Write(nil)
		rows.err = err
	}
	return f.file.Wrap("write", rows.err)
}

// A sink buffers and counts output. Errors are sticky.
type sink struct {
	*bufio.Writer
	pos int64
}

// Write appends p.
func (s *sink) Write(p []byte) (int, error) {
	n, err := s.Writer.Write(p)
	s.pos += int64(n)
	return n, err
}

// Tell returns the number of bytes written.
func (s *sink) Tell() int64 { return s.pos }

// Values of the column item.
const (
	itemFile       = "robots_txt"
	itemGroup      = "group"
	itemNoGroup    = "no_group"
	itemAllow      = "allow"
	itemDisallow   = "disallow"
	itemDelay      = "crawl_delay"
	itemSitemap    = "sitemap"
	itemHost       = "host"
	itemCleanParam = "clean_param"
	itemLicense    = "license"
	itemDiagnostic = "diagnostic"
)

// A listRow is a row of a listing. Texts are bytes as found and may be invalid UTF-8; "" means null, except in the
// field value.
type listRow struct {
	*listFile
	item   string
	group  int32 // 1-based; 0 is null
	agents string
	line   int32 // 1-based; 0 is null
	code   string
	value  *string // nil is null
}

// A listFile has the fields that all rows of an origin share.
type listFile struct {
	origin, source string
	outcome        string
	url, reason    string           // the URL after redirects, and the error of a failed fetch; set only in the first row
	fetched        bool             // there is a response
	response       *robots.Response // zero value without a response
	truncated      bool
}

// listedFile returns the fields that all rows of an origin share. They refer to memory of l.
func listedFile(l *listings.Listing) *listFile {
	f := &listFile{origin: string(l.Origin), outcome: "rules", response: &robots.Response{}}
	if l.Outcome.Effect == robots.NoRecord {
		f.outcome = "no_record"
		return f
	}
	if l.Outcome.Effect != robots.UseRules {
		f.outcome = l.Outcome.Cause.String()
	}
	f.source, f.fetched, f.response = l.Response.Name, true, &l.Response
	f.reason = l.Response.Error
	f.url = cmp.Or(l.Response.URL, string(l.Response.Origin)+robots.TxtPath)
	f.truncated = l.Report != nil && l.Report.File.Truncated
	return f
}

// A lister makes the rows of one origin.
type lister struct {
	file  *listFile
	table listTable
	cells []parquet.Cell // scratch
	count int64
	named int   // bytes of repeated agent names
	err   error // the first error
}

// addRow adds a row to the listing, and counts it. After the first error, it does nothing.
func (l *lister) addRow(r listRow) {
	if l.err == nil {
		r.listFile = l.file
		l.cells = l.cells[:0]
		for _, c := range listColumns {
			l.cells = append(l.cells, c.cell(&r))
		}
		l.err = l.table.Add(l.cells)
		l.count++
	}
}

// maxRepeated is the maximum number of bytes for the group names that the rows of one origin repeat, so that a
// listing is not much larger than the robots.txt. Above the limit, only the row of the group has the names.
const maxRepeated = 1 << 20

// addGroups adds the rows for the groups of the file and their rules. The rows for crawl delays follow, because their
// groups may differ; they name only agents that no earlier delay names.
func (l *lister) addGroups(r *robots.Report) {
	for i := range r.File.Groups {
		g, id := &r.File.Groups[i], int32(i+1)
		agents := agentList(g.Star, g.Agents)
		l.addRow(listRow{item: itemGroup, group: id, agents: agents})
		if n := len(agents) * len(g.Rules); l.named+n > maxRepeated {
			agents = ""
		} else {
			l.named += n
		}
		l.addRules(g.Rules, id, agents)
	}
	named := map[string]bool{}
	for i := range r.Delays {
		g := &r.Delays[i]
		if g.Line == 0 {
			continue
		}
		star := g.Star && !named["*"]
		named["*"] = named["*"] || g.Star
		var agents []robots.ProductToken // agents for which it is the first group
		for _, a := range g.Agents {
			if folded := strings.ToLower(string(a)); !named[folded] {
				named[folded] = true
				agents = append(agents, a)
			}
		}
		if star || len(agents) > 0 {
			l.addDelay(g.Seconds, g.Line, agentList(star, agents))
		}
	}
}

// agent adds the rows for the groups, rules and crawl delay that bind one crawler. If no group binds it, it adds a
// row that says so.
func (l *lister) agent(r *robots.Report, name string, a robots.Agent) {
	groups := r.File.Binding(a)
	if len(groups) == 0 {
		l.addRow(listRow{item: itemNoGroup, agents: name})
	}
	for _, i := range groups {
		g, id := &r.File.Groups[i], int32(i+1)
		names := agentList(g.Star, g.Agents)
		l.addRow(listRow{item: itemGroup, group: id, agents: name, value: &names})
		l.addRules(g.Rules, id, name)
	}
	if seconds, ok := r.CrawlDelay(a); ok {
		l.addDelay(seconds, 0, name)
	}
}

// addPreferences adds the rows for usage preferences and the license. For the crawlers of f, these are the lines that
// bind them; without crawlers, all lines. Their groups may differ from the groups of the rules.
func (l *lister) addPreferences(p *robots.Preferences, f *File) {
	if len(f.agents) == 0 {
		early := p.Early
		early[robots.ByPolicy] = nil // these are rules of groups
		l.addStatements("", &early)
		for i := range p.Groups {
			g := &p.Groups[i]
			agents := agentList(g.Star, g.Agents)
			if n := len(agents) * g.Len(); l.named+n > maxRepeated {
				agents = ""
			} else {
				l.named += n
			}
			l.addStatements(agents, &g.Bound)
		}
	}
	for i, agent := range f.agents {
		bound := p.Select(agent)
		l.addStatements(f.names[i], &bound)
	}
	if p.License.Line > 0 {
		l.addRow(listRow{item: itemLicense, line: p.License.Line, value: &p.License.URL})
	}
}

// addStatements adds a row for each line about preferences. agents are the names of the crawlers that the lines bind;
// "" means all crawlers, or too many to repeat.
func (l *lister) addStatements(agents string, bound *robots.Bound) {
	for source := range bound {
		for i := range bound[source] {
			s := &bound[source][i]
			l.addRow(listRow{item: robots.Sources[source].Column, agents: agents, line: s.Line, value: &s.Value})
		}
	}
}

// addRules adds a row for each rule of a group. group is its number, from 1; agents are its names.
func (l *lister) addRules(rules []robots.Rule, group int32, agents string) {
	for i := range rules {
		r := &rules[i]
		item := itemDisallow
		if r.Allow != (r.Value == "") { // as written, see robots.Rule.String
			item = itemAllow
		}
		l.addRow(listRow{item: item, group: group, agents: agents, line: r.Line, value: &r.Value})
	}
}

func (l *lister) addDelay(seconds float64, line int32, agents string) {
	value := strconv.FormatFloat(seconds, 'f', -1, 64)
	l.addRow(listRow{item: itemDelay, agents: agents, line: line, value: &value})
}

// agentList joins the names of a group with commas. Product tokens cannot contain commas.
func agentList(star bool, tokens []robots.ProductToken) string {
	var names []string
	if star {
		names = append(names, "*")
	}
	for _, t := range tokens {
		names = append(names, string(t))
	}
	return strings.Join(names, ",")
}

// A listColumn is a column of listings: its field, and its value in a row.
type listColumn struct {
	parquet.Field
	cell func(r *listRow) parquet.Cell
}

// listColumns is the schema of listings. A new column goes last.
var listColumns = []listColumn{
	{newField("origin", parquet.Dictionary, false), func(r *listRow) parquet.Cell { return parquet.Cell{Text: fieldtext.Valid(r.origin)} }},
	{newField("source", parquet.Dictionary, nullable), func(r *listRow) parquet.Cell { return textCell(r.source) }},
	{newField("url", parquet.Dictionary, nullable), func(r *listRow) parquet.Cell { return textCell(r.url) }},
	{newField("outcome", parquet.Dictionary, false), func(r *listRow) parquet.Cell { return textCell(r.outcome) }},
	{newField("status", parquet.Int32, nullable), func(r *listRow) parquet.Cell { return intCell(int64(r.response.Status)) }},
	{newField("error", parquet.Dictionary, nullable), func(r *listRow) parquet.Cell { return textCell(r.reason) }},
	{newField("fetched_at", parquet.Time, nullable), func(r *listRow) parquet.Cell {
		at := r.response.FetchedAt.UTC()
		return parquet.Cell{Null: at.IsZero() || at.Year() < 1 || at.Year() > 9999, Int: at.UnixMicro()}
	}},
	{newField("size", parquet.Int64, nullable), func(r *listRow) parquet.Cell {
		return parquet.Cell{Null: !r.fetched, Int: r.response.Size}
	}},
	{newField("truncated", parquet.Bool, nullable), func(r *listRow) parquet.Cell {
		c := parquet.Cell{Null: !r.fetched}
		if r.truncated {
			c.Int = 1
		}
		return c
	}},
	{newField("item", parquet.Dictionary, false), func(r *listRow) parquet.Cell { return textCell(r.item) }},
	{newField("group_id", parquet.Int32, nullable), func(r *listRow) parquet.Cell { return intCell(int64(r.group)) }},
	{newField("agents", parquet.Dictionary, nullable), func(r *listRow) parquet.Cell { return textCell(r.agents) }},
	{newField("line", parquet.Int32, nullable), func(r *listRow) parquet.Cell { return intCell(int64(r.line)) }},
	{newField("code", parquet.Dictionary, nullable), func(r *listRow) parquet.Cell { return textCell(r.code) }},
	{newField("value", parquet.Text, nullable), func(r *listRow) parquet.Cell {
		if r.value == nil {
			return parquet.Cell{Null: true}
		}
		return parquet.Cell{Text: fieldtext.Valid(*r.value)}
	}},
}

const nullable = true

// newField returns a field with that name and type.
func newField(name string, t parquet.Type, nullable bool) parquet.Field {
	return parquet.Field{Name: name, Type: t, Nullable: nullable}
}

// textCell returns a text; null for "".
func textCell(s string) parquet.Cell { return parquet.Cell{Null: s == "", Text: fieldtext.Valid(s)} }

// intCell returns a number; null for 0.
func intCell(n int64) parquet.Cell { return parquet.Cell{Null: n == 0, Int: n} }

// A listTable writes a listing in a file format.
type listTable interface {
	// Add adds a row, which is valid until Add returns.
	Add(row []parquet.Cell) error
	// Close writes the remaining rows, and metadata if the format has any.
	Close(keys, values []string) error
}

// A listJSON writes a listing as one JSON object per line, with all columns.
type listJSON struct {
	sink   *sink
	line   []byte
	value  bytes.Buffer
	values *json.Encoder // encodes to value
}

// Add writes a row as a line, with all columns.
func (j *listJSON) Add(row []parquet.Cell) error {
	j.line = j.line[:0]
	for i, cell := range row {
		j.value.Reset()
		if err := j.values.Encode(outputs.JSONValue(listColumns[i].Type, cell)); err != nil {
			return err
		}
		j.line = append(fieldtext.JSON.Lead(j.line, i, listColumns[i].Name), bytes.TrimSuffix(j.value.Bytes(), []byte("\n"))...)
	}
	_, err := j.sink.Write(append(j.line, fieldtext.JSON.End...))
	return err
}

// Close does nothing: everything is already written, and the format has no metadata.
func (j *listJSON) Close(_, _ []string) error { return nil }
