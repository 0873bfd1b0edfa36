package conduct

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/ci"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/outputs"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/pipeline"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/conduct"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/output/parquet"
	"github.com/robobatch/robobatch/robots"
)

// An outcome holds the files and the text that a run writes.
type outcome struct {
	files   files
	gates   []ci.Gate
	form    string
	byAgent bool
}

// An about holds the facts about the logs that the report prints besides its counts.
type about struct {
	inputs         []string // names of the logs
	dialect        robots.Dialect
	requests       int64 // rows of the logs
	rejected       int64 // rejected lines, and rows with an invalid URL
	verified       bool  // addresses were verified
	bytes          bool  // the logs have bytes
	times, answers bool  // see conduct.Journal
}

// chooseOutcome returns the outcome that the flags ask for. It opens no file.
func (g *given) chooseOutcome(std console.Streams, faults *cli.Faults) outcome {
	o := outcome{form: g.print}
	by, err := cli.Choose("key", g.by, keys)
	faults.Add("by", err)
	o.byAgent = err == nil && keys[by] == "agent"
	_, err = cli.Choose("form", g.print, Forms)
	faults.Add("print", err)
	o.gates, err = gates.Parse(g.gates)
	faults.Add("fail", err)
	// Set the files to write.
	g.table.Out = outputs.StandardName(g.table.Out)
	var opt output.Options
	csv := g.table.ChooseCSV(faults)
	switch {
	case g.table.Out == msg.Std:
		faults.Add("out", errors.New("standard output is used for the report: name a file"))
	case g.table.Out != "":
		g.table.ChooseFormat(g.table.Out, std.Out, &opt, faults)
	case g.table.Format != "":
		faults.Add("out-format", errors.New("nothing is written: name a file with -out"))
	}
	o.files.addFile("-out", g.table.Out, opt.Format, csv)
	for _, f := range []struct{ flag, name string }{{"rows", g.rows}, {"changes", g.changes}} {
		var format output.Format
		switch {
		case outputs.StandardName(f.name) == msg.Std:
			faults.Add(f.flag, errors.New("standard output is used for the report: name a file"))
		case f.name != "":
			var err error
			format, err = output.FormatOf(f.name)
			faults.Add(f.flag, err)
		}
		o.files.addFile("-"+f.flag, f.name, format, csv)
	}
	return o
}

// Targets returns the names of the first and the last file.
func (o *outcome) Targets() (out, last string) {
	if names := o.files.names(); len(names) > 0 {
		return names[0], names[len(names)-1]
	}
	return msg.Std, msg.Std
}

// tempDir returns the directory for temporary files.
func (o *outcome) tempDir() string {
	out, _ := o.Targets()
	if out == msg.Std {
		out = "."
	}
	return pipeline.TempDir(out)
}

// report evaluates the requests, writes the files, prints the findings, and checks the gates. All files get their
// names, or none.
func (o *outcome) report(ctx context.Context, c *console.Console, facts *about, journal *conduct.Journal) error {
	columns := [...][]parquet.Field{ofOut: output.CellFields(columnsFor(o.byAgent)), ofRows: output.CellFields(requestColumns), ofChanges: output.CellFields(changeColumns)}
	for i, t := range o.files.all {
		if t.Name == "" {
			continue
		}
		err := t.Create(func() (storage.Output, error) { return storage.Create(t.Name, nil) })
		if err == nil {
			err = t.Use(func(out storage.Output) (err error) {
				t.table, err = output.NewCellTable(out, columns[i], t.opt)
				return err
			})
		}
		if err != nil {
			return err
		}
	}
	f := &findings{outcome: o, about: facts, out: c.Out, columns: columnsFor(o.byAgent), agents: map[string]*conduct.Row{}}
	f.total.First, f.total.FirstAnswer, f.total.Last = conduct.NoTime, conduct.NoTime, conduct.NoTime
	if o.form == "json" {
		f.json = bufio.NewWriter(c.Out)
	}
	f.cancel = ctx
	if err := journal.Judge(f); err != nil {
		return err
	}
	if err := cmp.Or(f.failed, ctx.Err()); err != nil {
		return err
	}
	// Complete all files or none, and print the warning about them.
	var written []*file
	var formulas output.Formulas
	for _, t := range o.files.all {
		if t.table == nil {
			continue
		}
		if err := t.Use(func(out storage.Output) error { return out.Wrap("write", t.table.Close()) }); err != nil {
			return err
		}
		formulas.Add(t.table.Formulas())
		written = append(written, t)
	}
	var set outputs.Set
	if err := set.Begin(o.files.names()...); err != nil {
		return err
	}
	if err := errors.Join(commitAll(written, nil), set.End()); err != nil {
		return err
	}
	c.WarnOnce(warning.Formulas(formulas))

	if err := f.warn(c); err != nil {
		return err
	}
	// Check the gates for each crawler over all origins.
	f.verdicts = []ci.Verdict{}
	for _, g := range f.gates {
		kind := gateKinds[slices.IndexFunc(gateKinds, func(k gateKind) bool { return k.name == g.Kind })]
		for _, name := range f.crawlers() {
			if !g.AppliesTo(name) {
				continue
			}
			count, of := kind.count(f.agents[name])
			noun := "request"
			if kind.name == "gaps_short" {
				noun = "gap"
			}
			f.verdicts = append(f.verdicts, g.Judge(name, count, of, msg.Count(count, noun)+" of "+msg.Number(of)))
		}
	}
	if err := f.print(); err != nil {
		return console.OutError(err)
	}
	return ci.Err(f.verdicts)
}

// warn prints warnings about crawlers in the log. It returns an error if a gate would always pass or always fail:
// there are no crawlers, or the log lacks a field; or if the crawler that a gate names may be misspelt.
func (f *findings) warn(c *console.Console) error {
	if f.total.Requests > f.total.Impostors && !f.about.times {
		c.Warn(warning.Warning{Code: warning.NoTimes, Count: 1, Text: "no crawler request has a time, so what crawlers knew is unknown: name the time field with -field time=name"})
	}
	if f.total.Robots > 0 && !f.about.answers {
		c.Warn(warning.Warning{Code: warning.NoAnswers, Count: f.total.Robots, Text: msg.Count(f.total.Robots, "request") + " for robots.txt by crawlers, but no status codes: these requests do not count, so crawlers may seem never to have asked; use a log with status codes"})
	}
	for _, d := range warning.Mismatches(f.mismatches) {
		c.Warn(d)
	}
	if f.total.Bytes == conduct.MostBytes {
		c.Warn(warning.Warning{Code: warning.HugeCounts, Count: 1, Text: "the sum of response sizes overflows and is capped at " + msg.Number(conduct.MostBytes) + ": check the size field"})
	}
	// Without a field that -fail needs, a gate would always pass or always fail.
	conducts := slices.ContainsFunc(f.gates, func(g ci.Gate) bool { return g.Kind != "violations" && g.Kind != "disallowed" })
	switch {
	case len(f.gates) == 0:
	case len(f.agents) == 0:
		return errors.New("-fail has nothing to check: no request of the logs is from a known crawler")
	case conducts && !f.about.times:
		return errors.New("-fail has nothing to check: no crawler request has a time: name the time field with -field time=name")
	case conducts && f.total.Robots > 0 && !f.about.answers:
		return errors.New("-fail has nothing to check: no request for robots.txt has a status code, so every crawler would count as never_asked: use a log with status codes")
	}
	idle, err := ci.WarnIdle(f.gates, f.crawlers(), f.about.dialect)
	for _, seen := range idle {
		c.Warn(seen)
	}
	return err
}
