package rules

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/pipeline"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/extent"
	"github.com/robobatch/robobatch/internal/panics"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/output/parquet"
	"github.com/robobatch/robobatch/robots"
)

// A facts holds what a robots.txt means for an agent, or what the lack of one means.
type facts struct {
	*ruled

	choice engine.Choice
	root   engine.Answer
	reason string // why there is no robots.txt, or what the file contains instead; "" if it is valid
	odd    robots.Oddity
	delay  float64
	delays bool // the group has a Crawl-delay
}

// A ruled holds the effect of a rule set, which is the same for all agents that the set binds.
type ruled struct {
	extent.Extent

	known           bool // the answer is known: something is in force
	allow, disallow int
	line            int32 // line of the rule that disallows Closed
}

// A row is the result for one origin, crawler and moment.
type row struct {
	*facts

	origin, agent string
	moment        int64 // engine.NoTime means the newest capture
	weight        float64
	weighed       bool
}

// columns are the columns of -out. A new column goes last.
var columns = slices.Concat([]output.CellColumn[row]{
	output.CellOf("origin", parquet.Dictionary, false, func(r *row) parquet.Cell { return parquet.Cell{Text: r.origin} }),
	output.CellOf("agent", parquet.Dictionary, false, func(r *row) parquet.Cell { return parquet.Cell{Text: r.agent} }),
	output.CellOf("moment", parquet.Time, true, func(r *row) parquet.Cell { return parquet.Cell{Null: r.moment == engine.NoTime, Int: r.moment} }),
	output.CellOf("group", parquet.Dictionary, true, func(r *row) parquet.Cell { return parquet.Cell{Null: !r.hasText(), Text: r.choice.String()} }),
	output.CellOf("access", parquet.Dictionary, true, func(r *row) parquet.Cell { return parquet.Cell{Null: !r.known, Text: r.Access.String()} }),
	output.CellOf("open_only_files", parquet.Bool, true, func(r *row) parquet.Cell {
		return parquet.Cell{Null: !r.known || r.Access == extent.Unknown || r.OnlyFiles == extent.Unknown, Int: bit(r.OnlyFiles == extent.All)}
	}),
	output.CellOf("root", parquet.Bool, true, func(r *row) parquet.Cell {
		return parquet.Cell{Null: !r.known, Int: bit(r.root.Access == engine.Allowed)}
	}),
	output.CellOf("allow_rules", parquet.Int32, false, func(r *row) parquet.Cell { return parquet.Cell{Int: int64(r.allow)} }),
	output.CellOf("disallow_rules", parquet.Int32, false, func(r *row) parquet.Cell { return parquet.Cell{Int: int64(r.disallow)} }),
	output.CellOf("line", parquet.Int32, true, func(r *row) parquet.Cell { return parquet.Cell{Null: r.line == 0, Int: int64(r.line)} }),
	output.CellOf("open_example", parquet.Text, true, func(r *row) parquet.Cell { return text(r.Open) }),
	output.CellOf("closed_example", parquet.Text, true, func(r *row) parquet.Cell { return text(r.Closed) }),
	output.CellOf("crawl_delay", parquet.Double, true, func(r *row) parquet.Cell { return parquet.Cell{Null: !r.delays, Float: r.delay} }),
	output.CellOf("reason", parquet.Dictionary, true, func(r *row) parquet.Cell { return text(r.reason) }),
	output.CellOf("weight", parquet.Double, true, func(r *row) parquet.Cell { return parquet.Cell{Null: !r.weighed, Float: r.weight} }),
}, preferenceColumns())

// preferenceColumns are the columns with the usage preferences for the path /, and the lines that state them.
func preferenceColumns() (all []output.CellColumn[row]) {
	for u := range robots.NumUses {
		all = append(all, output.CellOf("use_"+strings.ReplaceAll(u.String(), "-", "_"), parquet.Bool, true, func(r *row) parquet.Cell {
			p := r.root.Preferences.Uses()[u]
			return parquet.Cell{Null: p == robots.Unstated, Int: bit(p == robots.Permitted)}
		}))
	}
	for s := range robots.NumSources {
		all = append(all, output.CellOf(robots.Sources[s].Column, parquet.Dictionary, true, func(r *row) parquet.Cell { return text(r.root.Preferences.Text(s)) }))
	}
	return append(all, output.CellOf("license", parquet.Dictionary, true, func(r *row) parquet.Cell { return text(r.root.License.Value) }))
}

// text returns a text, null for "".
func text(s string) parquet.Cell { return parquet.Cell{Null: s == "", Text: s} }

// bit returns 1 for true.
func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// hasText reports whether the text of a robots.txt decides.
func (f *facts) hasText() bool {
	return f.known && f.root.Reason <= engine.ReasonNoGroup || f.root.Reason == engine.ReasonUndefined
}

// A looker determines the facts of rulings, with a cache. It must not be shared between goroutines.
type looker struct {
	*run

	look  *engine.Lookup
	root  []byte
	sets  map[ruling]*ruled
	facts map[ruling]*facts
	ids   []engine.RulingID
}

// A ruling identifies a ruling for an agent.
type ruling struct {
	id    engine.RulingID
	agent int
}

// mostFacts is the number of facts at which the cache is emptied. A cache helps because many sites share most
// rulings.
const mostFacts = 1 << 14

// factsOf returns the facts of a ruling for an agent, which are shared and must not be changed.
func (l *looker) factsOf(key ruling) *facts {
	choice, shared := l.look.Choice(key.id, key.agent), key
	if choice == engine.NoChoice || choice == engine.ByStar { // unnamed agents share the lines for *
		shared.agent = -1 - int(choice)
	}
	f := l.facts[shared]
	if f != nil {
		return f
	}
	if len(l.facts) >= mostFacts {
		clear(l.facts)
		clear(l.sets)
	}
	f = &facts{root: l.look.Answer(key.id, key.agent, l.root), choice: choice}
	f.ruled = l.ruledOf(key, &f.root)
	if odd := l.look.Odd(key.id); !f.hasText() {
		f.reason = f.root.Reason.String()
	} else if odd.IsOdd() {
		f.reason, f.odd = odd.String(), odd
	}
	if note, ok := l.look.Note(key.id, key.agent, robots.CrawlDelayLines); ok {
		seconds, err := strconv.ParseFloat(note.Value, 64)
		f.delay, f.delays = seconds, err == nil
	}
	l.facts[shared] = f
	return f
}

// ruledOf returns the effect of the rules for an agent. root is the answer for the path "/". Agents with the same
// rules share the result, which must not be changed.
func (l *looker) ruledOf(key ruling, root *engine.Answer) *ruled {
	rules, first := l.look.Rules(key.id, key.agent)
	key.agent = first
	s := l.sets[key]
	if s != nil {
		return s
	}
	// The rules are in order of precedence; a rule with an index page appears twice.
	slices.SortFunc(rules, func(a, b robots.Rule) int { return int(a.Line) - int(b.Line) })
	rules = slices.CompactFunc(rules, func(a, b robots.Rule) bool { return a.Line == b.Line })
	s = &ruled{known: root.Access != engine.Unknown}
	for i := range rules {
		rules[i].Pattern = l.opt.Dialect.PatternOf(rules[i].Value)
		if rules[i].Allow {
			s.allow++
		} else {
			s.disallow++
		}
	}
	if s.Extent = extent.Of(rules, l.opt.Dialect); !s.known {
		s.Open = ""
	}
	if s.Rule >= 0 {
		s.line = rules[s.Rule].Line
	}
	if len(rules) == 0 && root.Access == engine.Denied { // a fetch decides
		s.Extent = extent.Extent{Access: extent.None, Closed: "/", OnlyFiles: extent.None, Rule: -1}
	}
	l.sets[key] = s
	return s
}

// mostRows is the maximum number of rows that a goroutine makes at once, except that a single site may have more.
const mostRows = 1 << 12

// sites returns the sites in the order of their origins, or only that of r.only. With -as-of monthly, it also
// sets r.moments. It returns an error if there is no site of r.only.
func (r *run) sites(store *engine.Store) ([]engine.SiteID, error) {
	type site struct {
		origin robots.Origin
		id     engine.SiteID
	}
	look := store.NewLookup()
	named := make([]site, 0, store.NumSites())
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for id := range engine.SiteID(store.NumSites()) {
		origin := look.Origin(id)
		if r.only != "" && origin != r.only {
			continue
		}
		named = append(named, site{origin, id})
		if from, to, ok := look.Span(id); r.monthly && ok {
			first, last = min(first, from), max(last, to)
		}
	}
	if err := store.Err(); err != nil {
		return nil, err
	}
	if r.only != "" && len(named) == 0 {
		return nil, fmt.Errorf("count %s: %w", r.only, pipeline.ErrNotListed)
	}
	if r.monthly {
		if r.moments = []int64{engine.NoTime}; first <= last {
			r.moments = nil
			// Set the moments to the first of each month, from the first change of rules to the month after the last
			// change.
			at := time.UnixMicro(first).UTC()
			at = time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
			if at.UnixMicro() < first {
				at = at.AddDate(0, 1, 0)
			}
			for ; at.UnixMicro() <= last; at = at.AddDate(0, 1, 0) {
				r.moments = append(r.moments, at.UnixMicro())
			}
			r.moments = append(r.moments, at.UnixMicro())
		}
	}
	slices.SortFunc(named, func(a, b site) int { return cmp.Compare(a.origin, b.origin) })
	all := make([]engine.SiteID, len(named))
	for i := range named {
		all[i] = named[i].id // the names are not kept
	}
	return all, nil
}

// A part holds some sites for one goroutine, and the channel that receives their rows.
type part struct {
	sites []engine.SiteID
	rows  chan []row
}

// count evaluates all sites, and writes their rows if there is an output, which it then completes. Several goroutines
// evaluate sites, but rows are counted and written in the order of the sites.
func (r *run) count(ctx context.Context, store *engine.Store) (*counts, error) {
	sites, err := r.sites(store)
	if err != nil {
		return nil, err
	}
	if r.Name != "" {
		if err := r.Use(func(f storage.Output) (err error) {
			r.table, err = output.NewCellTable(f, output.CellFields(columns), r.tableOpt)
			return err
		}); err != nil {
			return nil, err
		}
	}
	workers := r.opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var done atomic.Int64
	defer r.Watch("origins", func() console.Sample { return console.Sample{Done: done.Load(), Total: int64(len(sites))} })()
	c := newCounts(r)
	group, ctx := panics.WithContext(ctx)
	parts, order := make(chan part), make(chan part, 2*workers)
	group.Go(func() error {
		defer close(parts)
		defer close(order)
		for s := range slices.Chunk(sites, max(1, mostRows/len(r.moments)/len(r.opt.Agents))) {
			p := part{s, make(chan []row, 1)}
			for _, to := range []chan part{order, parts} {
				select {
				case to <- p:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
		return nil
	})
	for range workers {
		group.Go(func() error {
			l := &looker{run: r, look: store.NewLookup(), sets: map[ruling]*ruled{}, facts: map[ruling]*facts{}}
			l.root, _ = r.opt.Dialect.Path([]byte("/"), nil)
			for p := range parts {
				p.rows <- l.rows(p.sites)
			}
			return store.Err()
		})
	}
	group.Go(func() error {
		for p := range order {
			select {
			case rows := <-p.rows:
				for i := range rows {
					c.add(&rows[i], i%len(r.moments)*len(r.opt.Agents)+i/len(r.moments)%len(r.opt.Agents))
					if r.table == nil {
						continue
					}
					r.cells = output.AppendCells(r.cells[:0], columns, &rows[i])
					if err := r.Use(func(f storage.Output) error { return f.Wrap("write", r.table.Add(r.cells)) }); err != nil {
						return err
					}
				}
			case <-ctx.Done():
				return ctx.Err()
			}
			done.Add(int64(len(p.sites)))
		}
		return nil
	})
	if err := group.Wait(); err != nil || r.table == nil {
		return c, err
	}
	return c, r.Commit(func(f storage.Output) error {
		if err := r.table.Close(); err != nil {
			return f.Wrap("write", err)
		}
		return f.Commit()
	})
}

// rows returns one row per site, agent and moment, sorted in this order. Rows share their facts.
func (l *looker) rows(sites []engine.SiteID) []row {
	all := make([]row, 0, len(sites)*len(l.moments)*len(l.opt.Agents))
	for _, site := range sites {
		origin := l.look.Origin(site)
		l.ids = l.look.InForce(l.ids[:0], site, l.moments)
		weight, weighed := l.weight(origin)
		for n, agent := range l.opt.Agents {
			for i, id := range l.ids {
				all = append(all, row{
					facts: l.factsOf(ruling{id, n}), origin: string(origin), agent: agent, moment: l.moments[i], weight: weight, weighed: weighed,
				})
			}
		}
	}
	return all
}
