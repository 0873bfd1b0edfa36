package page

import (
	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/pipeline"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/report"
)

// counts are the numbers of a page.
type counts struct {
	counter *report.Counter
	earlier *report.Earlier    // nil without a previous log
	changes *aggregate.Changes // nil without previous rules, or if the command itself counts changes
}

// Open creates the counters of a run, once its rules are prepared. The page itself counts changes only if changes is
// true; otherwise the command does. The temporary file of the counter is next to the page.
func (p *Page) Open(r *pipeline.Pipeline, changes bool) {
	if p == nil {
		return
	}
	memory, opt := r.Parts.Page, report.Options{Status: r.Status, Bytes: r.Bytes, Method: r.Method, TempDir: pipeline.TempDir(p.Name), Location: p.zone, Change: p.change, Texts: r.Now.Texts, NoRequested: !p.whatIf || r.Now.Pack() != ""}
	if opt.Conduct = r.Parts.Counts; !r.Now.Opt.Evidence {
		memory += opt.Conduct // conduct is not needed
	}
	opt.Memory = memory
	if r.Old != nil {
		opt.Old = r.Old.Store
		if changes {
			opt.Memory = memory * 3 / 4
			p.counts.changes = aggregate.NewChanges(r.Now.Store, r.Old.Store, aggregate.ChangesOptions{Memory: memory / 4, TempDir: opt.TempDir})
		}
	}
	p.counts.counter = report.NewCounter(r.Now.Store, opt)
	if p.earlier != "" {
		p.counts.earlier = report.NewEarlier(r.Now.Store, opt)
	}
}

// Counts returns the sink that counts for the page.
func (p *Page) Counts() engine.Sink { return &p.counts }

// With returns a sink that passes rows to the given sink, and also counts them for the page. It returns the sink
// itself if p is nil.
func (p *Page) With(sink engine.Sink) engine.Sink {
	if p == nil {
		return sink
	}
	return &both{sink, &p.counts}
}

// Denied returns the number of disallowing verdicts.
func (p *Page) Denied() int64 { return p.counts.counter.NumDenied() }

// Changes returns what changed compared with the previous rules; nil without previous rules, or if the command counts
// changes. For each kind of change, it has up to most rules, families and origins.
func (p *Page) Changes(most int) (*aggregate.ChangesReport, error) {
	if p.counts.changes == nil {
		return nil, nil
	}
	if err := p.counts.changes.Finish(); err != nil {
		return nil, err
	}
	return p.counts.changes.Report(most), nil
}

// both is a sink that passes batches to the sink of an output and to the counts of a page.
type both struct {
	engine.Sink
	counts *counts
}

// Write passes a batch to the counts of the page, and then to the sink.
func (b *both) Write(batch *engine.Batch) error {
	if err := b.counts.Write(batch); err != nil {
		return err
	}
	return b.Sink.Write(batch)
}

// Write counts a batch for the page and, if the page counts changes, for these.
func (c *counts) Write(b *engine.Batch) error {
	if c.changes != nil {
		if err := c.changes.Write(b.ForCrawlers()); err != nil {
			return err
		}
	}
	return c.counter.Write(b)
}

// Close does nothing.
func (c *counts) Close() error { return nil }
