package engine

import (
	"bytes"

	"github.com/zeebo/xxh3"
)

// A prefixMemo remembers the sites of the prefixes of URLs that were met lately, as they are written, so that the host of
// a URL is not brought into normal form and looked up again. In logs in random order too, most URLs are of few hosts.
// The zero prefixMemo is empty. It takes 256 KiB, about what stays in the cache of a processor.
type prefixMemo struct{ entries []prefixEntry }

const (
	prefixEntries = 1 << 12
	prefixMost    = 59 // bytes of the longest prefix that is remembered
)

// A prefixEntry is a prefix and its site: one line of the cache.
type prefixEntry struct {
	site SiteID
	size uint8 // 0 if the entry is empty
	text [prefixMost]byte
}

// get returns the site of a prefix, if it is remembered.
func (m *prefixMemo) get(prefix []byte) (site SiteID, ok bool) {
	if m.entries == nil {
		return 0, false
	}
	e := m.entry(prefix)
	return e.site, string(e.text[:e.size]) == string(prefix)
}

// put remembers the site of a prefix, a robots.URL.Prefix, for which it is always the same.
func (m *prefixMemo) put(prefix []byte, site SiteID) {
	if len(prefix) > prefixMost {
		return
	}
	if m.entries == nil {
		m.entries = make([]prefixEntry, prefixEntries)
	}
	e := m.entry(prefix)
	e.site, e.size = site, uint8(copy(e.text[:], prefix))
}

func (m *prefixMemo) entry(prefix []byte) *prefixEntry {
	return &m.entries[xxh3.Hash(prefix)%prefixEntries]
}

// prefixLen returns the length of what must be the prefix of a URL if it is one that was put, or an origin in normal form; 0 if that cannot be.
func prefixLen(url []byte) int {
	const scheme = len("http://")
	if len(url) < scheme+2 {
		return 0
	}
	n := bytes.IndexByte(url[scheme+1:], '/') // of https://, the second slash is at 7
	if n < 0 || scheme+1+n > prefixMost {
		return 0
	}
	return scheme + 1 + n
}
