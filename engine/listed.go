package engine

import (
	"bytes"

	"github.com/robobatch/robobatch/robots"
	"github.com/robobatch/robobatch/sitemap"
)

// A Listed says whether a URL is in the sitemaps of StoreOptions.Sitemaps.
type Listed uint8

// The values of Listed.
const (
	ListedUnknown Listed = iota // the URL is bad
	NotListed
	IsListed
)

// A lister looks up URLs in sitemaps. It is for one goroutine.
type lister struct {
	set    *sitemap.Set
	prefix []byte // URL.Prefix of the last URL
	number uint32 // of its origin
	known  bool   // the sitemaps have URLs of this origin
	origin []byte // memory for origins
}

// find returns the index in the sitemaps of the URL with this prefix and normalised path.
func (l *lister) find(prefix, path []byte) (index int, ok bool) {
	if len(prefix) == 0 || !bytes.Equal(prefix, l.prefix) {
		l.prefix, l.known = append(l.prefix[:0], prefix...), false
		u, err := robots.SplitURL(prefix)
		if err == nil {
			l.origin, err = robots.AppendOrigin(l.origin[:0], u)
		}
		if err == nil {
			l.number, l.known = l.set.Origin(l.origin)
		}
	}
	if !l.known {
		return 0, false
	}
	return l.set.Find(l.number, path)
}

// list fills b.Listed, with StoreOptions.Sitemaps.
func (e *Evaluator) list(b *Batch) {
	set := e.store.opt.Sitemaps
	if set == nil {
		return
	}
	e.lister.set = set
	b.Listed = grown(b.Listed, b.Len())
	for i, site := range b.Sites {
		if b.Listed[i] = ListedUnknown; site == NoSite {
			continue
		}
		b.Listed[i] = NotListed
		path, buf := set.Dialect().Path(e.rawPath(b, i), e.path)
		e.path = buf
		if _, ok := e.lister.find(b.Data[b.URLs[i].Off:e.paths[i]], path); ok {
			b.Listed[i] = IsListed
		}
	}
}
