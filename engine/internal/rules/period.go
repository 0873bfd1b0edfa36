package rules

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/robobatch/robobatch/internal/captures"
	"github.com/robobatch/robobatch/robots"
)

// A Moment says at which time rules must be in force.
type Moment struct {
	At   time.Time // zero means, for each origin, its robots.History.NewestOf; ignored with Rows
	Rows bool      // at the time of each row
}

// A Period is an interval in which one RulingID is in force. It lasts until the next Period begins.
type Period struct {
	From  int64 // microseconds since 1970 UTC; math.MinInt64 for the first
	ID    RulingID
	Cache uint32 // see CacheOf; with CacheUndated for a fixed moment

	// Open says that some readers ignore the text in force: according to Yandex's documentation, a site is open
	// unless its robots.txt has status 200. Here the text came with another 2xx status, or it is the last good copy
	// while fetches fail.
	Open bool
}

// Values of a Period's Cache other than a number of seconds.
const (
	CacheDefault = 1<<30 - 1 // the response does not say
	CacheUndated = 1 << 31   // flag: the start is unknown; the response has no time, or only that of a file
	cacheNotOK   = 1 << 30   // flag: the status is not 200
)

// CacheOf returns for how many seconds a crawler may use a copy of a response: its max-age, below CacheDefault, or
// CacheDefault if it has none. Flags are set in the result, see CacheUndated. A failed fetch and a redirect contain
// nothing to copy, so their max-age is ignored.
func CacheOf(r *robots.Response) uint32 {
	cache := uint32(CacheDefault)
	if r.HasMaxAge && r.Error == "" && (200 <= r.Status && r.Status < 300 || 400 <= r.Status && r.Status < 500) {
		cache = uint32(min(r.MaxAge/time.Second, CacheDefault-1))
	}
	if r.File || r.FetchedAt.IsZero() {
		cache |= CacheUndated
	}
	if r.Status != 200 {
		cache |= cacheNotOK
	}
	return cache
}

// MaxAge returns for how many seconds a crawler may use a copy of the period's response. ok is false if the
// response does not say.
func (p *Period) MaxAge() (seconds int64, ok bool) {
	own := p.Cache & CacheDefault
	return int64(own), own != CacheDefault
}

// IsUndated reports whether the start of the period is unknown.
func (p *Period) IsUndated() bool { return p.Cache&CacheUndated != 0 }

// AppendPeriods appends the periods of an origin, the first of which begins at math.MinInt64; for a fixed moment there
// is one. It merges neighbours that differ only in their beginning. text returns the number of the text of a capture,
// and cache returns CacheOf for it.
func (m Moment) AppendPeriods(dst []Period, h *robots.History, o robots.Origin, text func(capture int) int, cache func(capture int) uint32) []Period {
	id := func(out robots.Outcome) RulingID {
		if out.Effect == robots.UseRules {
			return OutcomeRuling(out, text(out.Capture))
		}
		return OutcomeRuling(out, 0)
	}
	period := func(from int64, out robots.Outcome, isCopy func() bool) Period {
		p := Period{From: from, ID: id(out), Cache: CacheDefault}
		if out.Capture >= 0 {
			facts := cache(out.Capture)
			p.Cache = facts &^ cacheNotOK
			p.Open = out.Effect == robots.UseRules && (facts&cacheNotOK != 0 || isCopy())
		}
		return p
	}
	if !m.Rows {
		p := period(math.MinInt64, h.Outcome(o, m.At), func() bool { return h.IsCopy(o, m.At) })
		p.Cache |= CacheUndated
		return append(dst, p)
	}
	first := len(dst)
	for _, p := range h.Periods(o) {
		n := len(dst)
		next := period(p.From, p.Outcome, func() bool {
			return n > first && dst[n-1].ID.IsFailed() && h.IsCopy(o, time.UnixMicro(p.From))
		})
		if n == first || dst[n-1].ID != next.ID || dst[n-1].Cache != next.Cache || dst[n-1].Open != next.Open {
			dst = append(dst, next)
		}
	}
	return dst
}

// AppendRedirects appends the redirects from an origin.
func (m Moment) AppendRedirects(dst []robots.Redirect, h *robots.History, o robots.Origin) []robots.Redirect {
	if m.Rows {
		return h.Redirects(dst, o)
	}
	return h.RedirectsAt(dst, o, m.At)
}

// SiteRuling returns the ruling of a site with these periods. It is Dated if there are several periods, or if the only
// one is Open. kept is a copy of the periods, or nil if they add nothing to the ruling. A single period adds something
// if it is Open, if its start is known, or if crawlers may use a copy of its response for another time than the
// default.
func SiteRuling(periods []Period) (id RulingID, kept []Period) {
	switch id = periods[0].ID; {
	case len(periods) > 1 || periods[0].Open:
		id = Dated
	case periods[0].Cache == CacheDefault|CacheUndated:
		return id, nil
	}
	return id, slices.Clone(periods)
}

// Find returns the index of the period at a moment, and the first and last microsecond of the period. The last period
// ends at math.MaxInt64.
func Find(periods []Period, moment int64) (n int, from, to int64) {
	n = Index(periods, moment)
	to = math.MaxInt64
	if n+1 < len(periods) {
		to = periods[n+1].From - 1
	}
	return n, periods[n].From, to
}

// Index returns the index of the period at a moment. It always exists, because the first period has no beginning.
func Index(periods []Period, moment int64) int {
	return sort.Search(len(periods), func(i int) bool { return periods[i].From > moment }) - 1
}

// A Digest hashes the rulings in force at all sites, and counts the sites. Sites must be added in the order of
// their origins.
type Digest struct {
	moment  Moment
	key     func(text int) (captures.Key, error)
	hash    hash.Hash
	inForce int
}

// NewDigest returns an empty Digest. key returns the key of a text.
func NewDigest(m Moment, key func(text int) (captures.Key, error)) *Digest {
	return &Digest{moment: m, key: key, hash: sha256.New()}
}

// Add hashes a site with its periods. It skips a period with the same ruling as the previous one and, without
// Moment.Rows, a period in which nothing was fetched. The error is that of the function key.
func (d *Digest) Add(origin robots.Origin, periods []Period) (err error) {
	in := false
	for i, p := range periods {
		if p.ID == NoRobots && !d.moment.Rows || i > 0 && p.ID == periods[i-1].ID {
			continue
		}
		in = in || p.ID != NoRobots
		var key captures.Key
		if text, ok := p.ID.Text(); ok {
			if key, err = d.key(text); err != nil {
				return err
			}
		}
		effect, cause := p.ID.outcome()
		d.hash.Write([]byte(origin))
		d.hash.Write([]byte{0, byte(effect), byte(cause)})
		d.hash.Write(key[:])
		if d.moment.Rows {
			d.hash.Write(binary.BigEndian.AppendUint64(nil, uint64(p.From)))
		}
	}
	if in {
		d.inForce++
	}
	return nil
}

// Sum returns the hash, and the number of sites that have something in force at any time.
func (d *Digest) Sum() (sum [sha256.Size]byte, inForce int) {
	return [sha256.Size]byte(d.hash.Sum(nil)), d.inForce
}

// HashText formats a hash as Store.Hash returns it.
func HashText(sum [sha256.Size]byte) string { return hex.EncodeToString(sum[:]) }
