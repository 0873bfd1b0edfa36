package engine

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/robobatch/robobatch/internal/pack"
	"github.com/robobatch/robobatch/robots"
)

// A resolver finds out what is in force for the sites of a pack. It is for one goroutine; use newResolver.
type resolver struct {
	file    *pack.Reader
	history *robots.History
	own     *pack.Record // of the site in question
	ownURL  string
	other   pack.Buffer // for the records of where redirects lead
	loaded  []robots.Response
	texts   []int // by number of the response
	err     error
}

func newResolver(file *pack.Reader, d robots.Dialect) *resolver {
	r := &resolver{file: file}
	r.history = robots.NewHistoryOf(d, r.load)
	return r
}

// A packOutcome is what is in force for a site.
type packOutcome struct {
	robots.Outcome
	text int // if the effect is UseRules
}

// outcome returns what is in force for a site at a moment.
func (r *resolver) outcome(site *pack.Record, origin robots.Origin, asOf time.Time) (packOutcome, error) {
	r.start(site, origin)
	o := r.textOf(r.history.Outcome(origin, asOf))
	return o, r.err
}

// periods calls each with what is in force for a site, one after the other, and since when; see [robots.History.Periods].
func (r *resolver) periods(site *pack.Record, origin robots.Origin, each func(from int64, o packOutcome)) error {
	r.start(site, origin)
	for _, p := range r.history.Periods(origin) {
		each(p.From, r.textOf(p.Outcome))
	}
	return r.err
}

// start begins to find out about a site.
func (r *resolver) start(site *pack.Record, origin robots.Origin) {
	r.history.Reset()
	r.own, r.ownURL, r.texts, r.err = site, string(origin)+robots.TxtPath, r.texts[:0], nil
}

// textOf returns the outcome with the text that it is about. If there is none where there must be, that is r.err.
func (r *resolver) textOf(out robots.Outcome) packOutcome {
	o := packOutcome{out, pack.NoText}
	if o.Effect == robots.UseRules && r.err == nil {
		if o.text = r.texts[o.Capture]; o.text == pack.NoText {
			r.err = errText
		}
	}
	return o
}

// load returns the responses for a URL.
func (r *resolver) load(url string) []robots.Response {
	record := r.own
	if url != r.ownURL {
		kind, name := recordOf(url)
		var err error
		if record, _, err = findRecord(r.file, kind, []byte(name), &r.other); err != nil {
			r.err = err
		}
	}
	r.loaded = r.loaded[:0]
	if record == nil {
		return nil
	}
	for i := range record.Captures {
		c := &record.Captures[i]
		r.loaded = append(r.loaded, robots.Response{
			FetchedAt: c.At, File: c.File, Status: c.Status, Size: c.Size, Location: c.Location, Error: c.Error,
		})
		r.texts = append(r.texts, c.Text)
	}
	return r.loaded
}

// findRecord returns the record of that name and its number, or nil if there is none. It belongs to b.
func findRecord(file *pack.Reader, kind pack.Kind, name []byte, b *pack.Buffer) (*pack.Record, uint32, error) {
	lo, hi := file.Candidates(kind, name)
	for ; lo < hi; lo++ {
		record, err := b.Read(file, kind, lo)
		if err != nil || string(record.Name) == string(name) {
			return record, lo, err
		}
	}
	return nil, 0, nil
}

// scanPack returns how many sites have something in force at the moment, and their hash, see [Store.RulesHash].
func scanPack(ctx context.Context, file *pack.Reader, d robots.Dialect, asOf time.Time) (inForce int64, sum [32]byte, err error) {
	var (
		hash  = sha256.New()
		buf   pack.Buffer
		chunk []byte
		r     = newResolver(file, d)
	)
	for site, err := range buf.All(file, pack.Site) {
		if err == nil && inForce%1024 == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return 0, sum, err
		}
		h := siteHash{origin: robots.Origin(site.Name)}
		o, err := r.outcome(site, h.origin, asOf)
		if err != nil {
			return 0, sum, err
		}
		if o.Effect == robots.NoRecord {
			continue
		}
		inForce++
		if h.effect, h.cause = o.Effect, o.Cause; o.Effect == robots.UseRules {
			if chunk, err = file.Chunk(chunk[:0], file.Text(o.text)); err != nil {
				return 0, sum, err
			}
			c := pack.NewCursor(chunk)
			h.text = readKey(&c)
		}
		h.write(hash)
	}
	hash.Sum(sum[:0])
	return inForce, sum, nil
}
