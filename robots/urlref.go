package robots

import (
	"strings"
)

// urlKey returns the normal form of an absolute URL, see [AppendURL].
func urlKey(raw string) (key string, ok bool) {
	u, err := SplitURL([]byte(raw))
	if err != nil {
		return "", false
	}
	b, err := AppendURL(nil, u)
	return string(b), err == nil
}

// AppendURL appends the normal form of a URL that lets redirects and the responses that they lead to
// find each other, and returns the extended buffer: origin, path and query, without dot segments,
// and escaped as far as it must be. The error is from [AppendOrigin].
func AppendURL(dst []byte, u URL) ([]byte, error) {
	dst, err := AppendOrigin(dst, u)
	if err != nil {
		return dst, err
	}
	path, _ := Dialect(0).Path(u.Path, nil)
	if len(path) == 0 || path[0] != '/' {
		dst = append(dst, '/')
	}
	text, _, _ := strings.Cut(string(path), "?")
	return append(append(dst, removeDots(text)...), path[len(text):]...), nil
}

// ResolveURL returns the normal form of the URL to which the value of a header Location leads from
// the URL base, which is in normal form (RFC 3986 section 5.2). ok is false if it leads nowhere.
func ResolveURL(base, location string) (url string, ok bool) {
	location, _, _ = strings.Cut(trimSpace(location), "#")
	scheme := strings.Index(base, "://")
	host := scheme + len("://")
	path := host + strings.IndexByte(base[host:], '/')
	dir, _, _ := strings.Cut(base[path:], "?")
	switch {
	case location == "":
		return "", false
	case schemeLen([]byte(location)) > 0:
		return urlKey(location)
	case strings.HasPrefix(location, "//"):
		return urlKey(base[:scheme+1] + location)
	case location[0] == '/':
		return urlKey(base[:path] + location)
	case location[0] == '?':
		return urlKey(base[:path] + dir + location)
	}
	if colon := strings.IndexAny(location, ":/?"); colon >= 0 && location[colon] == ':' {
		return "", false // of a scheme without an authority, such as mailto
	}
	return urlKey(base[:path] + dir[:strings.LastIndexByte(dir, '/')+1] + location)
}

// removeDots returns a path without the segments "." and ".." (RFC 3986 section 5.2.4).
func removeDots(path string) string {
	if !strings.Contains(path, "/.") {
		return path
	}
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	kept := segments[:0]
	for i, s := range segments {
		if s != "." && s != ".." {
			kept = append(kept, s)
			continue
		}
		if s == ".." && len(kept) > 0 {
			kept = kept[:len(kept)-1]
		}
		if i == len(segments)-1 {
			kept = append(kept, "")
		}
	}
	return "/" + strings.Join(kept, "/")
}
