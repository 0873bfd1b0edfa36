package diff

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/ci"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/pipeline"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/listings"
	"github.com/robobatch/robobatch/internal/witness"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// Limits: for the generated paths of an origin their number, bytes and steps; and the number of crawlers that the
// files may name.
const (
	pathsOfFew   = 40_000
	pathsOfMany  = 4_000
	fewOrigins   = 50
	pathBytes    = 64 << 20
	pathSteps    = 1 << 28 // some seconds per origin
	allSteps     = 1 << 31 // for all origins together
	leastSteps   = 1 << 23
	agentsOfFile = 200
)

// makePaths finds the origins whose rules differ, and returns a source of test paths for them. Without -agent, the
// crawlers are * and all crawlers that the robots.txt files name, so the rules are prepared again for these.
func (d *run) makePaths(ctx context.Context) (*pathSource, error) {
	origins, same, err := engine.Differing(d.Old.Store, d.Now.Store)
	if err != nil {
		return nil, err
	}
	d.tried = &Tried{Origins: int64(len(origins)), Equal: int64(same)}
	src := &pathSource{dialect: d.Now.Opt.Dialect &^ robots.URLAsIs, tried: d.tried}
	src.most = witness.Limits{Paths: pathsOfFew, Bytes: pathBytes, Steps: max(leastSteps, min(pathSteps, allSteps/int64(max(1, len(origins)))))}
	if len(origins) > fewOrigins {
		src.most.Paths = pathsOfMany
	}
	if d.Memory.Limit > 0 {
		src.most.Bytes = min(src.most.Bytes, d.Memory.Limit/16)
	}
	// Divide the origins into parts whose robots.txt files fit into a memory limit in bytes; 0 means no limit.
	// Reading the captures of one part takes a pass over all captures.
	size := max(1, len(origins))
	if d.Memory.Limit > 0 {
		size = int(max(1, d.Memory.Limit/16/robots.MaxBytes))
	}
	src.parts = slices.Collect(slices.Chunk(origins, size))
	src.read = func(origins []robots.Origin) ([]site, error) {
		sites := make([]site, len(origins))
		for _, side := range d.Sides() {
			moment := listings.Moment{AsOf: side.Opt.AsOf, Dialects: []robots.Dialect{side.Opt.Dialect}}
			copies, err := listings.Copies(ctx, side.About(origins).Responses(), origins, moment)
			if err != nil {
				return nil, err
			}
			for i, origin := range origins {
				if c := copies[origin]; len(c) > 0 && c[0].Outcome.Effect == robots.UseRules {
					body := c[0].Response.Body
					sum := sha256.Sum256(body)
					r := &readRules{robots.Parse(body, side.Opt.Dialect), robots.PreferencesOf(body, side.Opt.Dialect), side.Opt.Dialect, hex.EncodeToString(sum[:8])}
					if sites[i].now = r; side == d.Old {
						sites[i].old, sites[i].now = r, nil
					}
				}
			}
		}
		return sites, nil
	}
	agents := []string{"*"}
	for _, part := range src.parts {
		sites, err := src.read(part)
		if err != nil {
			return nil, err
		}
		for i := range sites {
			agents = d.addNames(agents, &sites[i])
		}
	}
	if len(agents) > 1 {
		if err := d.reload(ctx, agents); err != nil {
			return nil, err
		}
	}
	for _, name := range flags.AgentsOf(&d.Now.Opt) {
		d.approved.agents = append(d.approved.agents, robots.NewAgent(name, d.Now.Opt.Dialect))
		d.approved.names = append(d.approved.names, name)
	}
	src.approved = d.approved
	d.approved.oldRules, d.approved.newRules = d.Old.Store.NewLookup(), d.Now.Store.NewLookup()
	if src.rows = pathRows; d.Memory.Limit > 0 {
		src.rows = min(src.rows, d.LogOpt.BatchRows)
	}
	return src, ci.CheckGates(d.gates, flags.AgentsOf(&d.Now.Opt))
}

// addNames appends the crawlers that the groups of a site name, up to agentsOfFile in total; none if -agent is given.
// If there are more, it records in d.tried whether the rules differ for a crawler that was left out.
func (d *run) addNames(names []string, s *site) []string {
	if len(d.Now.Opt.Agents) > 0 {
		return names
	}
	for _, side := range []*readRules{s.old, s.now} {
		if side == nil {
			continue
		}
		for i := range side.Groups {
			for _, token := range side.Groups[i].Agents {
				known := slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, string(token)) })
				switch {
				case known || token.IsPolicy():
				case len(names) < agentsOfFile:
					names = append(names, strings.Clone(string(token)))
				case !d.tried.AgentsCut:
					a := robots.NewAgent(string(token), side.dialect)
					old, now := s.old.claims(a), s.now.claims(a)
					d.tried.AgentsCut = !old.equal(&now)
				}
			}
		}
	}
	return names
}

// reload loads the rules of both sides again for other crawlers, and divides the memory for their number.
func (d *run) reload(ctx context.Context, agents []string) error {
	if d.Memory.Agents = len(agents); d.Memory.Limit > 0 {
		if err := d.Divide(); err != nil { // a row has a verdict for each
			return err
		}
	}
	for _, side := range d.Sides() {
		if err := side.Unload(); err != nil {
			return err
		}
		side.Opt.Agents = agents
		if err := side.Load(ctx, d.tempDir(), &d.Console); err != nil {
			return err
		}
	}
	return nil
}

// comparePaths evaluates the paths with both sides, writes the files of -out and -approve, and prints the report.
// -approve turns the gates off.
func (d *run) comparePaths(ctx context.Context, src *pathSource, sink *changesSink) error {
	if err := d.Decide(ctx, src, sink); err != nil {
		return pipeline.Cause(err)
	}
	if err := sink.Finish(); err != nil {
		return err
	}
	d.WarnOnce(warning.Disputes(&d.Stats.Disputes, "path"))
	if d.out.Name != "" {
		var s summary.Report
		err := d.out.Commit(func(f *output.File) error {
			err := f.Commit()
			s.WarnFormulas(f)
			return err
		})
		if err != nil {
			return err
		}
		d.WarnOnce(s.Warnings)
	}
	if d.approve != "" {
		f, err := atomicfile.Create(d.approve, d.Out)
		if err != nil {
			return err
		}
		if err := d.approved.writeFile(f); err != nil {
			return errors.Join(err, f.Close())
		}
		if err := f.Commit(); err != nil {
			return err
		}
		d.gates = nil // all changes have just been approved
	}
	return d.print(sink, 0)
}

// A pathSource yields the paths of origins as the rows of a log.
type pathSource struct {
	parts    [][]robots.Origin // remaining
	read     func(origins []robots.Origin) ([]site, error)
	err      error
	origins  []robots.Origin // origins of the current part
	sites    []site          // sites of these origins
	approved *Approvals
	dialect  robots.Dialect // dialect of the patterns from which the paths are generated
	most     witness.Limits // per origin
	rows     int            // maximum per batch
	tried    *Tried

	next  int      // index of the next origin
	paths []string // remaining paths of the previous origin
	line  int64
	url   []byte
}

// Maximum size of a batch: its rows, and its bytes, which its last path may exceed.
const (
	pathRows  = 4096
	batchText = 128 << 10
)

// Next fills b with paths of one origin; further batches have its remaining paths. It returns false after the last
// origin, or if a robots.txt cannot be read, see Err.
func (s *pathSource) Next(b *engine.Batch) bool {
	b.Reset()
	for len(s.paths) == 0 {
		if s.next == len(s.origins) {
			// Read the robots.txt files of more origins.
			if len(s.parts) == 0 {
				return false
			}
			s.origins, s.parts, s.next = s.parts[0], s.parts[1:], 0
			if s.sites, s.err = s.read(s.origins); s.err != nil {
				return false
			}
		}
		at := &s.sites[s.next]
		if sides := at.sides(s.approved.agents); len(sides) > 0 || at.old == nil || at.now == nil {
			made := witness.Make(sides, s.most)
			s.paths = made.All
			s.tried.Paths += int64(len(made.All))
			if made.Cut {
				s.tried.Cut++
			}
			s.approved.addSite(s.origins[s.next], *at)
		}
		*at = site{}
		s.next++
	}
	n := min(len(s.paths), s.rows)
	for i, path := range s.paths[:n] {
		if len(b.Data) >= batchText {
			n = i
			break
		}
		s.line++
		s.url = append(append(s.url[:0], s.origins[s.next-1]...), s.dialect.ReadablePath([]byte(path))...)
		b.AddURL(s.url, s.line)
	}
	s.paths = s.paths[n:]
	return true
}

// Err returns the error of reading a robots.txt again.
func (s *pathSource) Err() error { return s.err }

// Close does nothing.
func (s *pathSource) Close() error { return nil }
