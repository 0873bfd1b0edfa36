package engine

import (
	"bytes"

	"github.com/zeebo/xxh3"
)

// A prefixMemo remembers the prefixes of URLs that were met lately, as they are written, with their
// site and the ruling in force for it. So the host of a URL is not brought into normal form and looked
// up again. Most URLs are of few hosts, even in logs in random order. The zero prefixMemo is empty.
// It takes 256 KiB, about as much as stays in the cache of a processor.
type prefixMemo struct{ entries []prefixEntry }

const (
	prefixEntries = 1 << 12
	prefixMost    = 55 // bytes of the longest prefix that is remembered
)

// A prefixEntry is a prefix and its site: one line of the cache.
type prefixEntry struct {
	site SiteID
	id   RulingID
	size uint8 // 0 if the entry is empty
	text [prefixMost]byte
}

// find returns the site of a prefix, if it is remembered. The prefix is not empty.
func (m *prefixMemo) find(prefix []byte) (site SiteID, id RulingID, ok bool) {
	if m.entries == nil {
		return 0, 0, false
	}
	e := m.entry(prefix)
	return e.site, e.id, string(e.text[:e.size]) == string(prefix)
}

// remember keeps the site of a prefix, a robots.URL.Prefix, if it is always the same.
func (m *prefixMemo) remember(prefix []byte, site SiteID, id RulingID) {
	if len(prefix) > prefixMost {
		return
	}
	if m.entries == nil {
		m.entries = make([]prefixEntry, prefixEntries)
	}
	e := m.entry(prefix)
	e.site, e.id, e.size = site, id, uint8(copy(e.text[:], prefix))
}

func (m *prefixMemo) entry(prefix []byte) *prefixEntry {
	return &m.entries[xxh3.Hash(prefix)%prefixEntries]
}

// prefixLen returns how long the prefix of a URL must be if it was put, or if it is an origin in
// normal form. It is 0 if the prefix cannot be either.
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
