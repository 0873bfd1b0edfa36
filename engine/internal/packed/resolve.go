package packed

import (
	"context"
	"math"
	"time"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/internal/captures"
	"github.com/robobatch/robobatch/internal/pack"
	"github.com/robobatch/robobatch/internal/wire"
	"github.com/robobatch/robobatch/robots"
)

// A resolver finds the rulings in force for the sites of a pack. It is for one goroutine; use newResolver.
type resolver struct {
	file    *pack.Reader
	moment  rules.Moment
	history *robots.History
	own     *pack.Record // of the current site
	ownURL  string
	other   pack.Buffer // for the records that redirects lead to
	loaded  []robots.Response
	texts   []int    // by number of the response
	caches  []uint32 // by number of the response: see rules.CacheOf
	buf     []rules.Period
	err     error
}

func newResolver(file *pack.Reader, d robots.Dialect, m rules.Moment) *resolver {
	r := &resolver{file: file, moment: m}
	r.history = robots.NewHistoryOf(d, r.load)
	return r
}

// periods returns the rulings in force for a site, with their periods. site is the record of the origin. The result is
// valid until the next call.
func (r *resolver) periods(site *pack.Record, origin robots.Origin) ([]rules.Period, error) {
	r.setSite(site, origin)
	r.buf = r.moment.AppendPeriods(r.buf[:0], r.history, origin, r.text, func(capture int) uint32 { return r.caches[capture] })
	return r.buf, r.err
}

// setSite sets the current site, and forgets the previous one with its error.
func (r *resolver) setSite(site *pack.Record, origin robots.Origin) {
	r.history.Reset()
	r.caches = r.caches[:0]
	r.own, r.ownURL, r.texts, r.err = site, string(origin)+robots.TxtPath, r.texts[:0], nil
}

// Redirects implements rules.Store. It reads all sites. After an error, the result lacks some.
func (l *loader) Redirects() map[uint32][]robots.Redirect {
	all := map[uint32][]robots.Redirect{}
	b := l.buffers.Get().(*buffer)
	defer l.buffers.Put(b)
	for number := range uint32(l.NumSites()) { // not record.All, which yields another order than that of the numbers
		site, err := b.record.Read(l.file, pack.Site, number)
		if err != nil {
			l.fail(err)
			break
		}
		origin := robots.Origin(site.Name)
		b.resolver.setSite(site, origin)
		if leads := l.Moment.AppendRedirects(nil, b.resolver.history, origin); len(leads) > 0 {
			all[number] = leads
		}
		if b.resolver.err != nil {
			l.fail(b.resolver.err)
			break
		}
	}
	return all
}

// text returns the number of the text of a response. If the response has no text, it sets r.err and returns 0.
func (r *resolver) text(capture int) int {
	if r.err == nil && r.texts[capture] == pack.NoText {
		r.err = errText
	}
	if r.err != nil {
		return 0
	}
	return r.texts[capture]
}

// load returns the responses for a URL: the robots.txt of the current site, or where its redirects lead. They
// have no bodies. The result is nil if the pack has none, or after an error, which is in r.err. It is valid until the
// next call.
func (r *resolver) load(url string) []robots.Response {
	record := r.own
	if url != r.ownURL {
		kind, name := recordOf(url)
		record = nil
		lo, hi, err := r.file.Candidates(kind, []byte(name))
		for ; lo < hi && err == nil && record == nil; lo++ {
			if record, err = r.other.Read(r.file, kind, lo); err == nil && string(record.Name) != name {
				record = nil
			}
		}
		if err != nil {
			r.err = err
		}
	}
	r.loaded = r.loaded[:0]
	if record == nil {
		return nil
	}
	for i := range record.Captures {
		c := &record.Captures[i]
		response := robots.Response{
			FetchedAt: c.At, File: c.File, Status: c.Status, Size: c.Size, Location: c.Location, Error: c.Error,
			HasMaxAge: c.MaxAge >= 0, MaxAge: time.Duration(min(c.MaxAge, math.MaxInt64/int64(time.Second))) * time.Second,
		}
		r.loaded = append(r.loaded, response)
		r.texts, r.caches = append(r.texts, c.Text), append(r.caches, rules.CacheOf(&response))
	}
	return r.loaded
}

// hashRulings hashes the rulings in force for all sites, see [rules.Digest]. inForce is the number of sites that have
// any. It reads all sites of the pack, and stops if ctx ends.
func hashRulings(ctx context.Context, file *pack.Reader, d robots.Dialect, m rules.Moment) (sum [32]byte, inForce int, err error) {
	var (
		buf    pack.Buffer
		chunk  []byte
		r      = newResolver(file, d, m)
		digest = rules.NewDigest(m, func(text int) (key captures.Key, err error) {
			if chunk, err = file.Text(chunk[:0], text); err == nil {
				c := wire.NewCursor(chunk)
				key = readKey(&c)
			}
			return key, err
		})
	)
	for site, err := range buf.All(file, pack.Site) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return sum, 0, err
		}
		origin := robots.Origin(site.Name)
		periods, err := r.periods(site, origin)
		if err == nil {
			err = digest.Add(origin, periods)
		}
		if err != nil {
			return sum, 0, err
		}
	}
	sum, inForce = digest.Sum()
	return sum, inForce, nil
}
