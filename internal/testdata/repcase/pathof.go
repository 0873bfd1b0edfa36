package repcase

import "bytes"

// PathOf returns the part of a URL that patterns are matched with, not normalised, by the definition of
// google/robotstxt's GetPathParamsQuery, except that it does not put the "/" before a path that lacks it. It takes any
// bytes, while [robots.SplitURL] wants a scheme and a host; where both have an answer it is the same.
func PathOf(url []byte) []byte {
	const starts = "/?;"
	url = bytes.TrimPrefix(url, []byte("//"))
	rest := url
	first := bytes.IndexAny(url, starts)
	if sep := bytes.Index(url, []byte("://")); sep >= 0 && sep < first {
		rest = url[sep+len("://"):]
	}
	path := bytes.IndexAny(rest, starts)
	if hash := bytes.IndexByte(url, '#'); path < 0 || hash >= 0 && hash < len(url)-len(rest)+path {
		return nil
	}
	path0, _, _ := bytes.Cut(rest[path:], []byte("#"))
	return path0
}
