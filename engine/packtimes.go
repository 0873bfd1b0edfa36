package engine

import (
	"crypto/sha256"

	"github.com/robobatch/robobatch/internal/pack"
	"github.com/robobatch/robobatch/robots"
)

// changes returns what is in force for a site, and when. A SiteID behind those of the sites stands for an outcomeCode.
func (p *packStore) changes(record *pack.Record, origin robots.Origin, b *loadBuffer) (changes []change, err error) {
	err = b.resolver.periods(record, origin, func(from int64, o packOutcome) {
		id := noRecord
		if o.Effect != robots.NoRecord {
			id = SiteID(p.file.Sites()) + SiteID(o.code())
		}
		changes, _ = appendChange(changes, change{from, id})
	})
	return changes, err
}

// ruling returns what is in force where the code says so.
func (p *packStore) ruling(code outcomeCode) *Site {
	number, ok := code.text()
	if !ok {
		return p.fixed[code]
	}
	b := p.buffers.Get().(*loadBuffer)
	defer p.buffers.Put(b)
	t, err := p.text(number, b)
	if err != nil {
		p.fail(err)
		return p.broken
	}
	return &t.Site
}

// scanPackTimes returns how many sites ever have something in force, and the hash of what and when, see [Store.RulesHash].
func scanPackTimes(file *pack.Reader, d robots.Dialect) (inForce int, sum [32]byte, err error) {
	var (
		hash  = sha256.New()
		buf   pack.Buffer
		chunk []byte
		r     = newResolver(file, d)
	)
	for site, err := range buf.All(file, pack.Site) {
		if err != nil {
			return 0, sum, err
		}
		var (
			origin = robots.Origin(site.Name)
			last   outcomeCode
			ever   bool
			errs   error
		)
		err := r.periods(site, origin, func(from int64, o packOutcome) {
			if o.code() == last || errs != nil {
				return
			}
			last = o.code()
			ever = ever || o.Effect != robots.NoRecord
			h := siteHash{origin: origin, effect: o.Effect, cause: o.Cause, dated: true, from: from}
			if o.text != pack.NoText {
				if chunk, errs = file.Chunk(chunk[:0], file.Text(o.text)); errs != nil {
					return
				}
				c := pack.NewCursor(chunk)
				h.text = readKey(&c)
			}
			h.write(hash)
		})
		if err == nil {
			err = errs
		}
		if err != nil {
			return 0, sum, err
		}
		inForce += index(ever)
	}
	hash.Sum(sum[:0])
	return inForce, sum, nil
}
