package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/output"
)

// A report is what is known at the end of a run: the contents of the summary and, field by field, of -stats.
type report struct {
	Version string `json:"version"`
	Dialect string `json:"dialect"`
	asked
	Agents    []string      `json:"agents"`
	RulesHash string        `json:"rules_hash"`
	Output    string        `json:"output"`          // as named now, "-" for standard output; "" if there is none
	Fault     string        `json:"fault,omitempty"` // what broke the logs off
	Inputs    []inputReport `json:"inputs"`
	Rules     rulesReport   `json:"rules"`
	Counts    counts        `json:"counts"`
	Invalid   int64         `json:"invalid_bytes"` // bytes of text that were not UTF-8, written as %XX
	Run       runReport     `json:"run"`
}

// An inputReport is one log.
type inputReport struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`  // as stored; -1 if unknown
	Format string `json:"format"` // of its lines, "auto" if none was read
}

// A rulesReport is about the robots.txt files.
type rulesReport struct {
	Files      int      `json:"files"`    // that are used
	Origins    int      `json:"origins"`  // that they are for
	Texts      int      `json:"texts"`    // distinct ones
	Patterns   int      `json:"patterns"` // in force for the agents
	TableBytes int64    `json:"table_bytes"`
	TextBytes  int64    `json:"text_bytes"`
	Skipped    []string `json:"skipped"` // files that are not used, and why
	Broken     int64    `json:"broken_records"`
	FirstOf    []string `json:"first_broken_records"` // up to 100 of them: where, and what is wrong

	pack bool // Files are a rule pack, which does not know what was not used and broken where it was compiled
}

// counts are the numbers that depend on nothing but the inputs and the flags. They stand in the output's metadata, too.
type counts struct {
	URLs        int64            `json:"urls"`
	Rows        int64            `json:"rows"`
	Origins     int64            `json:"origins"`
	Allowed     int64            `json:"allowed"`
	Disallowed  int64            `json:"disallowed"`
	Null        int64            `json:"null"`
	Reasons     map[string]int64 `json:"reasons"` // all of them, those with no rows too
	RuleLineSum int64            `json:"rule_line_sum"`
	Violations  int64            `json:"violations"`     // with -agent-from-log
	Skipped     int64            `json:"skipped_agents"` // rows of the logs that -unknown-agents skip leaves out
	Undated     int64            `json:"undated_rows"`   // with -as-of log, of origins with a robots.txt: rows without a time,
	Early       int64            `json:"early_rows"`     // and rows older than all captures of theirs
	Written     int64            `json:"written"`        // rows of the output
	URLBytes    int64            `json:"url_bytes"`
	EmptyLines  int64            `json:"empty_lines"`
	LongLines   int64            `json:"long_lines"`
	HeaderLines int64            `json:"header_lines"` // and comments
	Refused     map[string]int64 `json:"refused"`      // lines that are not of the format, by reason
	OddRequests map[string]int64 `json:"odd_requests"` // rows whose request is none for a URL, by kind

	incomplete bool // the run was ended: they count rows that were not written
}

// lines returns how many lines have something to say.
func (c *counts) lines() int64 { return c.URLs + sum(c.Refused) }

// sum returns the sum of counts.
func sum(counts map[string]int64) (n int64) {
	for _, count := range counts {
		n += count
	}
	return n
}

// A runReport is how the run went on this machine.
type runReport struct {
	Seconds       float64 `json:"seconds"`           // wall clock, all in all
	RulesSeconds  float64 `json:"rules_seconds"`     // the part of it until the rules were compiled
	CPUSeconds    float64 `json:"cpu_seconds"`       // 0 if unknown
	RulesCPU      float64 `json:"rules_cpu_seconds"` // the part of it until the rules were compiled
	URLsPerSecond float64 `json:"urls_per_second"`   // in the rest of it
	PeakMemory    int64   `json:"peak_memory_bytes"`
}

// newReport collects what is known when all rows are evaluated.
func newReport(j *job, s engine.Stats) *report {
	mem, problems := j.store.Memory(), j.rules.Problems()
	r := &report{
		asked: j.asked, Version: j.outOpt.Version, Dialect: j.store.Dialect().String(), Agents: j.store.AgentNames(), RulesHash: j.store.RulesHash(),
		Rules: rulesReport{
			Files: j.rules.NumFiles(), Origins: j.store.InForce(), Texts: mem.Files, Patterns: mem.Rules,
			TableBytes: mem.Tables, TextBytes: mem.Text, Skipped: append([]string{}, j.rules.Skipped()...),
			Broken: problems.Total, FirstOf: make([]string, len(problems.First)), pack: j.rules.Pack() != "",
		},
		Counts: counts{
			URLs: s.URLs, Rows: s.Rows, Origins: s.Origins, Allowed: s.Allowed, Disallowed: s.Denied, Null: s.Unknown,
			Reasons: make(map[string]int64, engine.NumReasons), RuleLineSum: s.RuleLines, URLBytes: s.URLBytes,
			Violations: s.Violations, Skipped: s.Skipped, Undated: s.Undated, Early: s.Early,
			EmptyLines: j.logs.EmptyLines(), LongLines: j.logs.LongLines(), HeaderLines: j.logs.HeaderLines(),
			Refused: j.logs.Refused(), OddRequests: j.logs.OddRequests(),
		},
	}
	for i, record := range problems.First {
		r.Rules.FirstOf[i] = record.Error()
	}
	for i, n := range s.Reasons {
		r.Counts.Reasons[engine.Reason(i).String()] = n
	}
	for _, in := range j.logs.Inputs() {
		r.Inputs = append(r.Inputs, inputReport{in.Name, in.Size, in.Format.String()})
	}
	return r
}

// describe puts the inputs and the counts into the output's metadata, which Arrow has in front of the rows, when these are
// not known yet.
func (r *report) describe(f *output.File, format output.Format) {
	r.Counts.Written = f.Rows()
	if format != output.Parquet {
		return
	}
	f.SetMetadata(output.KeyInputs, jsonText(r.Inputs))
	if r.Counts.incomplete {
		return
	}
	f.SetMetadata(output.KeyCounts, jsonText(r.Counts))
}

// written notes what is known when the output of that name is complete.
func (r *report) written(f *output.File, name string) {
	r.Output = name
	r.Invalid = f.InvalidBytes()
}

// measure notes what the run took so far.
func (r *report) measure(j *job) {
	cpu, peak := usedResources()
	rest := time.Since(j.loaded)
	r.Run = runReport{
		Seconds: time.Since(j.started).Seconds(), RulesSeconds: j.loaded.Sub(j.started).Seconds(),
		CPUSeconds: cpu.Seconds(), RulesCPU: j.loadCPU.Seconds(),
		URLsPerSecond: float64(r.Counts.URLs) / max(rest.Seconds(), 1e-9), PeakMemory: peak,
	}
}

// jsonText returns v as JSON.
func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain values always have a form in JSON
	}
	return string(b)
}

// save writes the report as JSON.
func (r *report) save(name string, stdout io.Writer) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("-stats: %w", err)
		}
	}()
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	f, err := atomicfile.Create(name, stdout)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(text, '\n')); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Commit()
}
