// Package summary holds the facts at the end of a run: counts, inputs, flags and times. It prints them as a table,
// writes them as JSON for -stats, and adds them to the metadata of the output. Only cmd/robobatch imports it.
//
// The JSON files next to the outputs are sealed, so that a modified byte is detected; the sizes and hashes in them
// detect modified outputs. The seal is the last field of the object: the 128-bit XXH3 of all previous bytes of the
// file. It detects damage and accidental edits. It is not a signature: anyone can recompute it.
package summary

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/internal/measure"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// A Report holds the content of the summary. In JSON, it is the file of -stats.
type Report struct {
	Version string `json:"version"`
	Dialect string `json:"dialect"`
	Asked
	Agents    []string `json:"agents"`
	RulesHash string   `json:"rules_hash"`
	RulesName string   `json:"rules_name"` // as given in -rules

	// Preferences names the drafts that define the columns of usage preferences; "" without such columns.
	Preferences string `json:"preferences,omitempty"`

	Output string      `json:"output"`                // name of the output at this time; "-" for standard output; "" if there is no output
	File   *File       `json:"output_file,omitempty"` // nil for a directory, or if there is no output
	Parts  []NamedFile `json:"parts,omitempty"`       // files of a partitioned output, unless there are more than 10,000
	Beside []NamedFile `json:"beside,omitempty"`      // other complete files: of -rejects and -report
	Fault  string      `json:"fault,omitempty"`       // the error that ended the logs early

	Unverified *Unverified `json:"unverified,omitempty"` // rows before the fault or limit; nil if none

	Inputs  []Input      `json:"inputs"`
	Rules   Rules        `json:"rules"`
	Counts  Counts       `json:"counts"`
	ByAgent []AgentCount `json:"by_agent"`         // with -agent-from-log, only agents with requests
	Ranges  *Ranges      `json:"ranges,omitempty"` // nil without -ranges and -hosts
	Busiest Busiest      `json:"busiest"`

	// With -agent-from-log, clients whose requests cannot be violations:
	Others  *Clients `json:"other_clients,omitempty"`    // browsers and unknown crawlers
	Unbound *Clients `json:"unbound_crawlers,omitempty"` // crawlers that robots.txt need not bind

	Invalid  int64             `json:"invalid_bytes"` // invalid UTF-8 bytes of text, written as %XX
	Warnings []warning.Warning `json:"warnings"`      // in the order of detection
	Run      Run               `json:"run"`

	Heading string `json:"-"` // heading of the summary; if "", the heading names the logs and the output

	grown      []string          // logs that grew, see ingest.Logs.Grown
	read       ingest.Counts     // includes those of Counts
	badBytes   int64             // bytes of invalid URLs
	aboutRules []warning.Warning // see package warning
	local      int64             // with -ranges, crawler requests from the server itself
}

// Unverified describes the rows of one log, the last that was read, that were evaluated although the checksum after
// them was not reached.
type Unverified struct {
	Input    string `json:"input"`
	FromLine int64  `json:"from_line"` // first line, up to the end of the output
}

// String returns the place: "line 9,164 of a.zst".
func (u *Unverified) String() string {
	return fmt.Sprintf("line %s of %s", msg.Number(u.FromLine), msg.Input(u.Input))
}

// A File identifies the bytes of an output.
type File struct {
	Bytes int64  `json:"bytes"`
	XXH3  string `json:"xxh3"`           // 128-bit hash
	Tag   string `json:"etag,omitempty"` // ETag in object storage
}

// A NamedFile is a File with a name.
type NamedFile struct {
	Name string `json:"name"` // current name; for a part, relative to the output
	File
}

// A Took says which fields of a log are read.
type Took struct {
	Producer string   `json:"producer,omitempty"`
	Fields   []string `json:"fields,omitempty"` // as in "url = uri + args"
	Unread   []string `json:"unread_fields,omitempty"`

	of *ingest.Took // nil if they are the same as for the previous log, or if another run read the log
}

// An Input is one log.
type Input struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`               // stored size; -1 if unknown
	Format string `json:"format"`              // format of its lines, "auto" if none was read
	Field  string `json:"url_field,omitempty"` // the URL column, if it was recognised by its values and not by its name
	Took          // empty if the same as for the previous log

	Taken, Other string `json:"-"` // see ingest.Input
	headless     bool   // see ingest.Input
}

// A Rules describes the robots.txt files.
type Rules struct {
	Files      int      `json:"files"`    // number of files used
	Origins    int      `json:"origins"`  // number of their origins
	Texts      int      `json:"texts"`    // number of distinct texts
	Patterns   int      `json:"patterns"` // in force for the agents
	TableBytes int64    `json:"table_bytes"`
	TextBytes  int64    `json:"text_bytes"`
	Skipped    []string `json:"skipped"` // unused files, with the reason
	Broken     int64    `json:"broken_records"`
	FirstOf    []string `json:"first_broken_records"` // up to 100, with place and fault

	pack bool // whether the rules are a pack, which does not record invalid or unused files
}

// Counts are the numbers that depend only on the inputs and flags. They are also in the metadata of the output.
type Counts struct {
	URLs        int64            `json:"urls"`
	Rows        int64            `json:"rows"`
	Origins     *int64           `json:"origins"`                 // nil if unknown, see Add
	About       bool             `json:"origins_about,omitempty"` // Origins is accurate to one percent
	Allowed     int64            `json:"allowed"`
	Disallowed  int64            `json:"disallowed"`
	Null        int64            `json:"null"`
	Reasons     map[string]int64 `json:"reasons"` // all reasons, including those without rows
	RuleLineSum int64            `json:"rule_line_sum"`
	Violations  int64            `json:"violations"`     // with -agent-from-log
	Skipped     int64            `json:"skipped_agents"` // rows skipped by -unknown-agents skip
	Strays      int64            `json:"stray_rows"`     // rows whose origin has no robots.txt in the rules
	Early       int64            `json:"early_rows"`     // rows of origins with captures, all of which are newer than -as-of
	Undated     int64            `json:"undated_rows"`   // with -as-of log: rows of such origins without a time
	Timeless    int64            `json:"timeless_rows"`  // with -as-of log: verdicts by undated rules
	Unfetched   int64            `json:"unfetched_rows"` // crawler rows that only a failed fetch of robots.txt disallows
	Written     int64            `json:"written"`        // rows of the output
	URLBytes    int64            `json:"url_bytes"`
	EmptyLines  int64            `json:"empty_lines"`
	LongLines   int64            `json:"long_lines"`
	HeaderLines int64            `json:"header_lines"` // including comments
	Refused     map[string]int64 `json:"refused"`      // lines that do not match the format, by reason
	OddRequests map[string]int64 `json:"odd_requests"` // rows whose request is not for a URL, by the kind of request

	Incomplete bool `json:"-"` // the run was interrupted: counts include rows that were not written
}

// Bad returns the number of lines with content, if all of them were rejected or have no valid URL; 0 otherwise, and
// if rows of unknown agents were skipped.
func (c *Counts) Bad() int64 {
	switch bad := c.Reasons[engine.ReasonBadURL.String()]; {
	case bad != c.Rows || c.Skipped > 0:
		return 0
	default:
		return c.URLs + Sum(c.Refused)
	}
}

// Lines returns the number of lines with content.
func (c *Counts) Lines() int64 { return c.URLs + Sum(c.Refused) }

// Sum returns the sum of counts.
func Sum(counts map[string]int64) (n int64) {
	for _, count := range counts {
		n += count
	}
	return n
}

// A Run describes the execution of the run.
type Run struct {
	Seconds       float64 `json:"seconds"`           // wall-clock time in total
	RulesSeconds  float64 `json:"rules_seconds"`     // the part until the rules were compiled
	CPUSeconds    float64 `json:"cpu_seconds"`       // 0 if unknown
	RulesCPU      float64 `json:"rules_cpu_seconds"` // the part until the rules were compiled
	URLsPerSecond float64 `json:"urls_per_second"`   // for the remaining time
	PeakMemory    int64   `json:"peak_memory_bytes"`
}

// A Source is the state at the end of a run, from which New makes the report.
type Source struct {
	Asked   Asked
	Version string
	Name    string // name of the rules, as given
	Store   *engine.Store
	Rules   *rulefiles.Files
	Logs    *ingest.Logs
	Stats   engine.Stats
}

// New makes the report after all rows are evaluated. The store must still be open. Warnings are empty; [Report.Warn]
// returns those about the rows. Output and Run are not set.
func New(src Source) *Report {
	mem, problems, lines, s := src.Store.Memory(), src.Rules.Problems(), src.Logs.Counts(), src.Stats
	r := &Report{
		Asked: src.Asked, Version: src.Version, Dialect: src.Store.Options().Dialect.String(), Agents: src.Store.Options().Agents,
		RulesHash: src.Store.RulesHash(), RulesName: src.Name, Warnings: []warning.Warning{}, ByAgent: []AgentCount{}, read: lines, badBytes: s.BadBytes,
		Rules: Rules{
			Files: src.Rules.Len(), Origins: src.Store.InForce(), Texts: mem.Files, Patterns: mem.Rules,
			TableBytes: mem.Tables, TextBytes: mem.Text, Skipped: append([]string{}, src.Rules.Skipped()...),
			Broken: problems.Total, FirstOf: make([]string, len(problems.First)), pack: src.Rules.Pack() != "",
		},
		Counts: Counts{
			URLs: s.URLs, Rows: s.Rows, Origins: &s.Origins, About: s.About, Allowed: s.Allowed, Disallowed: s.Denied, Null: s.Unknown,
			Reasons: make(map[string]int64, engine.NumReasons), RuleLineSum: s.RuleLines, URLBytes: s.URLBytes,
			Violations: s.Violations, Skipped: s.Skipped,
			Strays: s.Strays, Early: s.Early, Undated: s.Undated, Timeless: s.Timeless, Unfetched: s.Unfetched,
			EmptyLines: lines.Empty, LongLines: lines.Long, HeaderLines: lines.Headers, Refused: lines.Refused, OddRequests: lines.Odd,
		},
	}
	if needs := (output.Needs{Directives: src.Store.Options().Directives}); needs.HasUsage() {
		r.Preferences = robots.UsageRevision
	}
	for i, record := range problems.First {
		r.Rules.FirstOf[i] = record.Error()
	}
	for i, n := range s.Reasons {
		r.Counts.Reasons[engine.Reason(i).String()] = n
	}
	// Record the counts by agent, origin and rule.
	look := src.Store.NewLookup()
	if r.AgentFromLog {
		r.Others, r.Unbound = &Clients{}, &Clients{}
	}
	all := make([]engine.NamedCount, 0, len(s.Agents)+len(s.Named))
	for i, n := range s.Agents {
		all = append(all, engine.NamedCount{Name: r.Agents[i], AgentCount: n})
	}
	for i, n := range append(all, s.Named...) {
		binding := look.Binding(i)
		c := AgentCount{
			Agent: n.Name, Rows: n.Allowed + n.Denied + n.Unknown, Bound: binding.String(),
			Allowed: n.Allowed, Disallowed: n.Denied, Null: n.Unknown,
			Verified: verifiedOf(src.Store, &n),
		}
		if r.AgentFromLog {
			c.Violations = &n.Violations
			if c.Rows == 0 {
				continue
			}
			switch {
			case i == 0: // "*"
				r.Others.addAgent(&c)
			case binding != engine.Bound:
				r.Unbound.addAgent(&c)
			}
		}
		r.ByAgent = append(r.ByAgent, c)
	}
	r.Busiest = Busiest{[]BusyOrigin{}, s.TopOriginsOff, []BusyRule{}, s.TopRulesOff, nil}
	for _, o := range s.TopOrigins {
		if o.Rows > 0 {
			r.Busiest.Origins = append(r.Busiest.Origins, BusyOrigin(o))
		}
	}
	for i := range s.TopRules {
		r.Busiest.Rules = appendRule(r.Busiest.Rules, &s.TopRules[i])
		r.Busiest.Violated = appendRule(r.Busiest.Violated, &s.TopViolated[i])
	}
	r.aboutRules = slices.Concat(warning.WithoutRobots(src.Store, &s), warning.Rules(&s.Odd, "origin"), warning.MisreadGroups(src.Store, &s), warning.Disputes(&s.Disputes, "row"), warning.Senders(&s))
	r.Ranges, r.local = rangesOf(src.Store), s.Census.Local()
	r.grown = src.Logs.Grown()
	if at := src.Logs.Unsure(); at.From > 0 {
		r.Unverified = &Unverified{Input: at.Name, FromLine: at.From}
	}
	var before *ingest.Took
	for _, in := range src.Logs.Inputs() {
		input := Input{Name: in.Name, Bytes: in.Size, Format: in.Format.String(), Field: in.Field, Taken: in.Taken, Other: in.Other, headless: in.Headless}
		if in.Took != nil && in.Took != before {
			input.Took = Took{in.Took.Producer, in.Took.Fields, in.Took.Unread, in.Took}
		}
		before = in.Took
		r.Inputs = append(r.Inputs, input)
	}
	return r
}

// originsText returns the number of origins, formatted by count, with "about" if it is approximate; "" if unknown.
func (c *Counts) originsText(count func(int64) string) string {
	switch {
	case c.Origins == nil:
		return ""
	case c.About:
		return "about " + count(*c.Origins)
	}
	return count(*c.Origins)
}

// mostTook is the maximum number of lines that the summary has about the fields of logs.
const mostTook = 40

// FieldLines describes the fields that were read: one line for each log whose fields differ from those of the
// previous log, and a second line if the log has fields that are not read. After mostTook lines, it only says that
// there are others.
func (r *Report) FieldLines() (lines []string) {
	for i, in := range r.Inputs {
		if len(in.Fields) == 0 {
			continue
		}
		if len(lines) >= mostTook {
			return append(lines, "other logs have other fields, listed in -stats")
		}
		name, same := msg.Input(in.Name), 0
		for _, next := range r.Inputs[i+1:] {
			if len(next.Fields) > 0 || next.Format != in.Format {
				break
			}
			same++
		}
		if same > 0 {
			name += fmt.Sprintf(" and %s like it", msg.Count(int64(same), "log"))
		}
		by := in.Format
		if in.Producer != "" {
			by += " of " + in.Producer
		}
		lines = append(lines, fmt.Sprintf("%s: %s: %s", name, by, strings.Join(in.Fields, "; ")))
		if len(in.Unread) > 0 {
			lines = append(lines, name+": not read: "+strings.Join(in.Unread, ", "))
		}
	}
	return lines
}

// Describe sets Counts.Written, and adds the inputs and the counts to the metadata of a Parquet file. In Arrow,
// metadata precedes the rows, when the counts are not known yet, and text formats have none. Counts of an interrupted
// run are not added.
func (r *Report) Describe(f *output.File, format output.Format) {
	r.Counts.Written = f.Rows()
	if u := r.Unverified; u != nil {
		f.SetMetadata("robobatch.unverified_input", u.Input)
		f.SetMetadata("robobatch.unverified_from_line", strconv.FormatInt(u.FromLine, 10))
	}
	if format != output.Parquet {
		return
	}
	f.SetMetadata(output.KeyInputs, jsonText(r.Inputs))
	if r.Counts.Incomplete {
		return
	}
	f.SetMetadata(output.KeyCounts, jsonText(r.Counts))
}

// RecordOutput records the name, size and hash of a complete output, or those of its parts.
func (r *Report) RecordOutput(f *output.File, name string) {
	r.Output = name
	r.Invalid = f.InvalidBytes()
	if size, hash := f.Sum(); hash != "" {
		r.File = &File{Bytes: size, XXH3: hash}
	}
	for _, part := range f.Parts() {
		r.Parts = append(r.Parts, NamedFile{filepath.ToSlash(part.Name), File{Bytes: part.Bytes, XXH3: part.XXH3}})
	}
}

// Alone reports whether the output is partitioned and no other run writes to it: then the run has written a marker.
func (r *Report) Alone() bool {
	return slices.ContainsFunc(r.Parts, func(p NamedFile) bool { return p.Name == output.PartitionMarker })
}

// RecordFiles records the sizes and hashes of the other files that the run wrote, such as a report. It skips empty
// names, objects, and everything that is not a regular file, such as a pipe.
func (r *Report) RecordFiles(names ...string) error {
	for _, name := range names {
		if info, err := os.Stat(name); name == "" || storage.IsRemote(name) || err != nil || !info.Mode().IsRegular() {
			continue
		}
		size, hash, err := storage.Sum(name)
		if err != nil {
			return err
		}
		r.Beside = append(r.Beside, NamedFile{name, File{Bytes: size, XXH3: hash}})
	}
	return nil
}

// Times are points in time of a run.
type Times struct {
	Started time.Time
	Loaded  time.Time     // when the rules were prepared
	LoadCPU time.Duration // CPU time of the process until then
}

// Measure sets Run to the time and memory that the process has taken so far.
func (r *Report) Measure(t Times) {
	cpu, peak := measure.Used()
	rest := time.Since(t.Loaded)
	r.Run = Run{
		Seconds: time.Since(t.Started).Seconds(), RulesSeconds: t.Loaded.Sub(t.Started).Seconds(),
		CPUSeconds: cpu.Seconds(), RulesCPU: t.LoadCPU.Seconds(),
		URLsPerSecond: float64(r.Counts.URLs) / max(rest.Seconds(), 1e-9), PeakMemory: peak,
	}
}

// Save writes the report as sealed JSON, and completes the file. After an error, the file is dropped. Errors of the
// file are of type [*github.com/robobatch/robobatch/internal/atomicfile.Error].
func (r *Report) Save(f storage.Output) error {
	text, err := Text(r)
	if err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Commit()
}

// jsonText encodes v as JSON.
func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain values can always be encoded as JSON
	}
	return string(b)
}

// Asked holds the values, as given, of the flags that change values of rows. They are written to -stats and to the
// metadata of the output.
type Asked struct {
	Missing string `json:"missing"`
	URLAsIs bool   `json:"url_as_is"`
	Limit   int64  `json:"limit"` // 0 means none

	AgentFromLog  bool   `json:"agent_from_log"`
	UnknownAgents string `json:"unknown_agents"`          // "" without AgentFromLog
	CrawlersHash  string `json:"crawlers_hash"`           // hash of the file of -crawlers; "" without it
	Cache         string `json:"cache"`                   // "" is 24h, see engine.StoreOptions
	RangesHash    string `json:"ranges_hash"`             // hash of the files of -ranges and -hosts; "" without them
	RangesAge     string `json:"ranges_age"`              // "" without them
	SitemapsHash  string `json:"sitemaps_hash,omitempty"` // hash of the URLs of -in-sitemap; "" without it
	Layout        string `json:"layout"`
	Where         string `json:"where"`              // "" means all rows
	Timezone      string `json:"timezone,omitempty"` // time zone of the days in a page and in -partition-by date; "" means UTC
	Reading
	InputForm
}

// A Reading holds the flags that choose captures and say how robots.txt is read.
type Reading struct {
	Dialect    string `json:"-"` // recorded elsewhere
	AgentChars string `json:"agent_chars"`
	EmptyAllow string `json:"yandex_empty_allow"`
	AsOf       string `json:"as_of"` // "" means the newest captures; AsOfLog means those in force at the time of each row
}

// An InputForm holds the flags that say how the lines of the logs are read.
type InputForm struct {
	Format string   `json:"format"`
	Base   string   `json:"base"`
	Field  []string `json:"field"` // role=name
	Keep   []string `json:"keep"`

	ClientAt int `json:"client_at"` // 1 is the first of several addresses, -1 the last; 0 means that the flag is not given
}

// Describe adds the flags to the metadata of the output; flags of optional features only if they are given.
func (a *Asked) Describe(f *output.File) {
	for _, entry := range []struct {
		key, value string
		asked      bool
	}{
		{"missing", a.Missing, true},
		{"url_as_is", strconv.FormatBool(a.URLAsIs), true},
		{"limit", strconv.FormatInt(a.Limit, 10), true},
		{"layout", a.Layout, true},
		{"where", a.Where, a.Where != ""},
		{"agent_from_log", "true", a.AgentFromLog},
		{"unknown_agents", a.UnknownAgents, a.AgentFromLog},
		{"crawlers_hash", a.CrawlersHash, a.CrawlersHash != ""},
		{"cache", a.Cache, a.Cache != ""},
		{"ranges_hash", a.RangesHash, a.RangesHash != ""},
		{"ranges_age", a.RangesAge, a.RangesHash != ""},
		{"sitemaps_hash", a.SitemapsHash, a.SitemapsHash != ""},
		{"timezone", a.Timezone, a.Timezone != ""},
	} {
		if entry.asked {
			f.SetMetadata("robobatch."+entry.key, entry.value)
		}
	}
	at := ""
	if a.ClientAt != 0 {
		at = strconv.Itoa(a.ClientAt)
	}
	for _, pair := range slices.Concat(a.Metadata(), [][2]string{
		{"robobatch.format", a.Format},
		{"robobatch.base", a.Base},
		{"robobatch.field", strings.Join(a.Field, ",")},
		{"robobatch.client_at", at},
		{"robobatch.keep", strings.Join(a.Keep, ",")},
	}) {
		f.SetMetadata(pair[0], pair[1])
	}
}

// Metadata returns the flags as metadata of an output, except for the dialect, which package output adds.
func (r *Reading) Metadata() [][2]string {
	return [][2]string{
		{"robobatch.agent_chars", r.AgentChars},
		{"robobatch.yandex_empty_allow", r.EmptyAllow},
		{"robobatch.as_of", r.AsOf},
	}
}

// AsOfLog is the value of -as-of for which each row is evaluated with the captures in force at its time.
const AsOfLog = "log"

// ByRow reports whether each row is evaluated with the captures in force at its time.
func (r *Reading) ByRow() bool { return r.AsOf == AsOfLog }

// Verified counts the rows of crawlers by verification result, with -ranges or -hosts. The counts add up to all rows
// of crawlers.
type Verified struct {
	Yes         Clients `json:"yes"`
	No          Clients `json:"no"` // impostors
	Unpublished Clients `json:"unpublished"`
	Stale       Clients `json:"stale"`
	NoAddress   Clients `json:"no_address"` // no address, or not a public one
}

// verifiedOf returns the counts of an agent; nil without lists, and for clients that are not crawlers.
func verifiedOf(store *engine.Store, a *engine.NamedCount) *Verified {
	if store.Options().Ranges == nil || a.Name == "*" {
		return nil
	}
	of := func(answer ranges.Answer) Clients { return Clients{a.Verified[answer].Rows, a.Verified[answer].Denied} }
	return &Verified{Yes: of(ranges.Yes), No: of(ranges.No), Unpublished: of(ranges.Unpublished), Stale: of(ranges.Stale), NoAddress: of(ranges.Null)}
}

// addVerified returns the sum of both counts; if one of them is nil, the other. It changes neither.
func (v *Verified) addVerified(o *Verified) *Verified {
	if v == nil || o == nil {
		return cmp.Or(v, o)
	}
	sum := *v
	for i, part := range sum.parts() {
		part.addClients(o.parts()[i])
	}
	return &sum
}

// parts returns the counts in order.
func (v *Verified) parts() []*Clients {
	return []*Clients{&v.Yes, &v.No, &v.Unpublished, &v.Stale, &v.NoAddress}
}

// rows returns the number of all rows.
func (v *Verified) rows() (n int64) {
	for _, part := range v.parts() {
		n += part.Rows
	}
	return n
}

// String formats the counts that are not 0: "yes 3, impostors 2".
func (v *Verified) String() string {
	var list []string
	for i, name := range [...]string{"verified", "impostors", "unpublished", "stale", "no address"} {
		if n := v.parts()[i].Rows; n > 0 {
			list = append(list, name+" "+msg.Number(n))
		}
	}
	return strings.Join(list, ", ")
}

// Ranges describes the address lists that verify crawlers.
type Ranges struct {
	Lists  int    `json:"lists"`
	Oldest string `json:"oldest,omitempty"` // day of the oldest list; "" if none has a time
	Newest string `json:"newest,omitempty"`
}

// rangesOf returns the address lists of a store; nil without lists.
func rangesOf(store *engine.Store) *Ranges {
	lists := store.Options().Ranges
	if lists == nil {
		return nil
	}
	r := &Ranges{Lists: lists.Len()}
	if oldest, newest, ok := lists.Span(); ok {
		r.Oldest, r.Newest = oldest.Format("2006-01-02"), newest.Format("2006-01-02")
	}
	return r
}

// Impostors says how many crawler requests came from impostors, for a command that includes them in its counts; "" if
// there are none.
func (r *Report) Impostors() string {
	all := r.allVerified()
	if all == nil || all.No.Rows == 0 {
		return ""
	}
	return fmt.Sprintf("%s of %s by crawlers came from addresses outside the crawler's lists, and are counted anyway; robobatch -where impostors lists them",
		msg.Number(all.No.Rows), msg.Count(all.rows(), "request"))
}

// allVerified returns the counts of all crawlers; nil without lists.
func (r *Report) allVerified() (all *Verified) {
	for _, a := range r.ByAgent {
		all = all.addVerified(a.Verified)
	}
	return all
}

// verifiedLines returns the lines of the summary about verification results, and about the crawlers with the most
// impostors; nil without address lists.
func (r *Report) verifiedLines() (t table) {
	all := r.allVerified()
	if all == nil {
		return nil
	}
	took := func(c *Clients) string { return msg.Number(c.Disallowed) + " disallowed: " }
	stale := "too far from the lists"
	if r.Ranges != nil && r.Ranges.Newest != "" {
		stale = "the lists are from " + r.Ranges.Newest // "2026-08-15", or "2026-04-12 to 2026-08-15"
		if oldest := r.Ranges.Oldest; oldest != r.Ranges.Newest {
			stale = "the lists are from " + oldest + " to " + r.Ranges.Newest
		}
	}
	none := "no public IP address"
	if r.local > 0 {
		none += ", " + msg.Number(r.local) + " from loopback"
	}
	t = table{
		{"verified", msg.Number(all.Yes.Rows), "of " + msg.Count(all.rows(), "request") + " of crawlers, " + msg.Number(all.Yes.Disallowed) + " disallowed", true},
		{"impostors", msg.Number(all.No.Rows), took(&all.No) + "not from the crawler's addresses", true},
		{"unpublished", msg.Number(all.Unpublished.Rows), took(&all.Unpublished) + "no list covers the crawler", all.Unpublished.Rows > 0},
		{"stale", msg.Number(all.Stale.Rows), took(&all.Stale) + stale, all.Stale.Rows > 0},
		{"no address", msg.Number(all.NoAddress.Rows), took(&all.NoAddress) + none, all.NoAddress.Rows > 0},
	}
	agents := slices.DeleteFunc(slices.Clone(r.ByAgent), func(a AgentCount) bool { return a.Verified == nil || a.Verified.No.Rows == 0 })
	slices.SortStableFunc(agents, func(a, b AgentCount) int { return cmp.Compare(b.Verified.No.Rows, a.Verified.No.Rows) })
	for _, a := range agents[:min(shortAgents, len(agents))] {
		t = append(t, line{"as " + a.Agent, msg.Number(a.Verified.No.Rows), "impostors of " + msg.Count(a.Rows, "request"), true})
	}
	return t
}
