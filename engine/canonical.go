package engine

import (
	"bytes"

	"github.com/robobatch/robobatch/robots"
)

// cleanParams returns the clean-param lines of a robots.txt. Few files have any, and the others are not read again.
func cleanParams(body []byte, d robots.Dialect) robots.CleanParams {
	if !bytes.Contains(bytes.ToLower(body), []byte("clean-param")) {
		return nil
	}
	return robots.Inspect(body, d).CleanParams
}

// CleanParams returns the clean-param lines of the robots.txt that is in force for a site: nil if it has none, or if the
// Store was built without [StoreOptions].Canonical. The site must be one of the store's.
func (s *Store) CleanParams(id SiteID) robots.CleanParams {
	switch {
	case s.pack != nil:
		return s.pack.site(id).clean()
	case s.cleans == nil:
		return nil
	}
	return s.cleans[id]
}

// HasCanonical reports whether the Store was built with [StoreOptions].Canonical, so that batches get their Canonicals.
func (s *Store) HasCanonical() bool { return s.cleans != nil || s.pack != nil && s.pack.cleans }

// canonicalize fills b.Canonicals. A URL that loses parameters is written behind the others in b.Data.
func (e *Evaluator) canonicalize(b *Batch) {
	for i, site := range b.Rulings() {
		span := b.URLs[i]
		if _, stray := site.Stray(); site == NoSite {
			span = NoURL
		} else if !stray {
			if params := e.clean(site); len(params) > 0 {
				span = b.clean(span, params, e.store.dialect)
			}
		}
		b.Canonicals = append(b.Canonicals, span)
	}
}

// clean returns the clean-param lines that are in force for a site.
func (e *Evaluator) clean(id SiteID) robots.CleanParams {
	if e.store.pack == nil {
		return e.store.cleans[id]
	}
	return e.sites.Site(id).clean()
}

// clean returns the clean-param lines of a site of a pack.
func (s *Site) clean() robots.CleanParams {
	if s.more == nil {
		return nil
	}
	return s.more.clean
}

// clean returns the span of a URL without the parameters that do not count.
func (b *Batch) clean(url Span, params robots.CleanParams, d robots.Dialect) Span {
	at := len(b.Data)
	b.Data = params.AppendCanonical(b.Data, b.Data[url.Off:url.Off+url.Len], d)
	if len(b.Data)-at == int(url.Len) { // nothing was cut
		b.Data = b.Data[:at]
		return url
	}
	return Span{uint32(at), uint32(len(b.Data) - at)}
}
