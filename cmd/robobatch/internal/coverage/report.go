// Package coverage counts the requests of a log per rule of robots.txt: requests that the rule decides, requests that
// it matches while another rule decides, and rules that match no request. Unlike a verdict, this needs all rules that
// match a path. To save memory, it has one counter for all requests that match the same set of rules and are decided
// by the same rule. Only cmd/robobatch imports it.
package coverage

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"
	"time"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/output/parquet"
)

// A Rule holds the counts of a rule. A request counts once for each agent that the rule binds.
type Rule struct {
	Kind    string  `json:"kind"` // "rule"
	Origin  string  `json:"origin"`
	Origins int     `json:"origins"` // requested origins with this robots.txt
	Agent   *string `json:"agent"`   // null unless counted by agent
	Line    int32   `json:"line"`
	Allow   bool    `json:"allow"`
	Rule    string  `json:"rule"`

	Decided Count `json:"decided"`
	Matched Count `json:"matched"` // without deciding

	WonBy []Winner `json:"won_by"` // up to three rules that decided instead, by number of requests
}

// A Count counts requests.
type Count struct {
	Requests int64      `json:"requests"`
	URLs     int64      `json:"urls"`  // distinct ones
	First    *time.Time `json:"first"` // null if no request has a time
	Last     *time.Time `json:"last"`
}

// A Winner is a rule that decided instead of another.
type Winner struct {
	Line     int32  `json:"line"`
	Rule     string `json:"rule"`
	Requests int64  `json:"requests"`
}

// A Head holds the totals.
type Head struct {
	Kind     string     `json:"kind"` // "log"
	Inputs   []string   `json:"inputs"`
	Agents   []string   `json:"agents"` // empty if the crawlers come from the log
	Requests int64      `json:"requests"`
	Verdicts int64      `json:"verdicts"` // one per request and agent
	Ruled    int64      `json:"ruled"`    // requests whose robots.txt has rules for an agent
	From     *time.Time `json:"from"`     // null if no request has a time
	To       *time.Time `json:"to"`
	Files    int        `json:"files"`   // distinct robots.txt files of requested origins
	Origins  int        `json:"origins"` // origins with these files
	Unmet    int        `json:"unmet"`   // origins with a robots.txt and no request
	Rules    int64      `json:"rules"`   // rules in these files, for the agents
	Decided  int64      `json:"decided"` // rules that decided a request
	Matched  int64      `json:"matched"` // rules that matched requests but decided none
	Never    int64      `json:"never"`   // rules that matched no request
}

// Head returns the totals.
func (c *Counter) Head() Head {
	h := c.headWithoutRules()
	for r := range c.Rules() {
		h.addRule(r)
	}
	return h
}

// addRule counts a rule by its kind.
func (h *Head) addRule(r *Rule) {
	h.Rules++
	switch r.kind() {
	case decided:
		h.Decided++
	case onlyMatched:
		h.Matched++
	case never:
		h.Never++
	}
}

// A kind is the strongest effect of a rule.
type kind int

const (
	decided kind = iota
	onlyMatched
	never
)

// kinds is the number of kinds.
const kinds = 3

// kind returns the strongest effect of the rule.
func (r *Rule) kind() kind {
	switch {
	case r.Decided.Requests > 0:
		return decided
	case r.Matched.Requests > 0:
		return onlyMatched
	}
	return never
}

// headWithoutRules returns the Head without names of the logs and counts of rules.
func (c *Counter) headWithoutRules() Head {
	h := Head{
		Kind: "log", Inputs: []string{}, Agents: []string{}, Requests: c.requests, Verdicts: c.verdicts, Ruled: c.withRules,
		From: moment(c.from), To: moment(c.to),
	}
	if c.from > c.to {
		h.From, h.To = nil, nil
	}
	if !c.byRow {
		h.Agents = c.store.Options().Agents
	}
	h.Files, h.Origins = c.rules.NumFiles()
	h.Unmet = max(0, c.store.InForce()-h.Origins)
	return h
}

// Rules yields the rules of all requested files, file by file, ordered by origin, agent and line. A Rule is valid
// only until the next iteration.
func (c *Counter) Rules() iter.Seq[*Rule] {
	all := c.rules.All()
	return func(yield func(*Rule) bool) {
		for r := range all {
			won := make([]Winner, 0, len(r.WonBy))
			for _, w := range r.WonBy {
				won = append(won, Winner{w.Line, fieldtext.Valid(w.Rule), w.Requests})
			}
			if !yield(&Rule{
				Kind: "rule", Origin: string(r.Origin), Origins: r.Origins, Agent: r.Agent, Line: r.Line, Allow: r.Allow, Rule: fieldtext.Valid(r.Rule),
				Decided: newCount(&r.Decided), Matched: newCount(&r.Matched), WonBy: won,
			}) {
				return
			}
		}
	}
}

// newCount returns a count of the report.
func newCount(m *aggregate.Matches) Count {
	return Count{Requests: m.Requests, URLs: m.URLs, First: m.First, Last: m.Last}
}

// moment returns a time.
func moment(micros int64) *time.Time {
	t := time.UnixMicro(micros).UTC()
	return &t
}

// A Format is a file format of the table of rules.
type Format uint8

// The formats of tables.
const (
	Parquet Format = iota
	JSON           // one object per line
)

// ErrFormat is the kind of the error of FormatOf.
var ErrFormat = errors.New("unknown format of a table of rules")

// FormatOf returns the format for the name of a table.
func FormatOf(name string) (Format, error) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jsonl":
		return JSON, nil
	case ".parquet":
		return Parquet, nil
	}
	return 0, fmt.Errorf("%w of %s: its name must end in .parquet or .jsonl", ErrFormat, name)
}

// columns is the Parquet schema of the table. A new column goes last.
var columns = []output.CellColumn[Rule]{
	output.CellOf("origin", parquet.Dictionary, false, func(r *Rule) parquet.Cell { return text(r.Origin) }),
	output.CellOf("origins", parquet.Int64, false, func(r *Rule) parquet.Cell { return number(int64(r.Origins)) }),
	output.CellOf("agent", parquet.Dictionary, true, func(r *Rule) parquet.Cell {
		if r.Agent == nil {
			return parquet.Cell{Null: true}
		}
		return text(*r.Agent)
	}),
	output.CellOf("line", parquet.Int32, false, func(r *Rule) parquet.Cell { return number(int64(r.Line)) }),
	output.CellOf("allow", parquet.Bool, false, func(r *Rule) parquet.Cell {
		if r.Allow {
			return number(1)
		}
		return number(0)
	}),
	output.CellOf("rule", parquet.Text, false, func(r *Rule) parquet.Cell { return text(r.Rule) }),
	output.CellOf("decided_requests", parquet.Int64, false, func(r *Rule) parquet.Cell { return number(r.Decided.Requests) }),
	output.CellOf("decided_urls", parquet.Int64, false, func(r *Rule) parquet.Cell { return number(r.Decided.URLs) }),
	output.CellOf("decided_first", parquet.Time, true, func(r *Rule) parquet.Cell { return at(r.Decided.First) }),
	output.CellOf("decided_last", parquet.Time, true, func(r *Rule) parquet.Cell { return at(r.Decided.Last) }),
	output.CellOf("matched_requests", parquet.Int64, false, func(r *Rule) parquet.Cell { return number(r.Matched.Requests) }),
	output.CellOf("matched_urls", parquet.Int64, false, func(r *Rule) parquet.Cell { return number(r.Matched.URLs) }),
	output.CellOf("matched_first", parquet.Time, true, func(r *Rule) parquet.Cell { return at(r.Matched.First) }),
	output.CellOf("matched_last", parquet.Time, true, func(r *Rule) parquet.Cell { return at(r.Matched.Last) }),
	output.CellOf("won_by_line", parquet.Int32, true, func(r *Rule) parquet.Cell {
		if len(r.WonBy) == 0 {
			return parquet.Cell{Null: true}
		}
		return number(int64(r.WonBy[0].Line))
	}),
	output.CellOf("won_by", parquet.Text, true, func(r *Rule) parquet.Cell {
		if len(r.WonBy) == 0 {
			return parquet.Cell{Null: true}
		}
		return text(r.WonBy[0].Rule)
	}),
}

func text(s string) parquet.Cell  { return parquet.Cell{Text: s} }
func number(n int64) parquet.Cell { return parquet.Cell{Int: n} }

// at returns a time, null if there is none.
func at(t *time.Time) parquet.Cell {
	if t == nil {
		return parquet.Cell{Null: true}
	}
	return number(t.UnixMicro())
}

// WriteTable writes all rules to a file. The caller commits or closes the file.
func (c *Counter) WriteTable(file storage.Output, format Format, version string) error {
	if format == JSON {
		out := bufio.NewWriterSize(file, 256<<10)
		lines := json.NewEncoder(out)
		lines.SetEscapeHTML(false)
		for r := range c.Rules() {
			if err := lines.Encode(r); err != nil {
				return file.Wrap("write", err)
			}
		}
		return file.Wrap("write", out.Flush())
	}
	return file.Wrap("write", c.writeParquet(file, version))
}

// writeParquet writes all rules as Parquet, with the head as metadata.
func (c *Counter) writeParquet(w io.Writer, version string) error {
	head, err := json.Marshal(c.Head())
	if err != nil {
		return err
	}
	table, err := output.NewCellTable(w, output.CellFields(columns), output.CellOptions{
		Format: output.Parquet, Version: version, Metadata: [][2]string{{"robobatch.coverage", string(head)}},
	})
	if err != nil {
		return err
	}
	row := make([]parquet.Cell, 0, len(columns))
	for r := range c.Rules() {
		row = output.AppendCells(row[:0], columns, r)
		if err := table.Add(row); err != nil {
			return err
		}
	}
	return table.Close()
}
