package engine

import (
	"bytes"

	"github.com/zeebo/xxh3"
)

// A prefixMemo remembers recent prefixes of URLs, as written, with their site and the ruling in force. For these,
// the host is neither normalised nor looked up again. Even in logs in random order, most URLs have one of a few
// hosts. It takes 256 KiB, about as much as stays in the processor's cache. The zero prefixMemo is empty.
type prefixMemo struct{ entries []prefixEntry }

const (
	prefixEntries = 1 << 12
	prefixMost    = 55 // length of the longest prefix that is remembered, in bytes
)

// A prefixEntry is a prefix and its site, in one cache line.
type prefixEntry struct {
	site SiteID
	id   RulingID
	size uint8 // 0 if the entry is empty
	text [prefixMost]byte
}

// find returns the site of a prefix if the memo has it. The prefix must not be empty.
func (m *prefixMemo) find(prefix []byte) (site SiteID, id RulingID, ok bool) {
	if m.entries == nil {
		return 0, 0, false
	}
	e := m.entry(prefix)
	return e.site, e.id, string(e.text[:e.size]) == string(prefix)
}

// remember adds a prefix, which is a robots.URL.Prefix, unless its ruling depends on the time.
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

// prefixLen returns the length of a URL's prefix, if that prefix is in the memo or is a normalised origin. It is 0
// if the prefix cannot be either.
func prefixLen(url []byte) int {
	const scheme = len("http://")
	if len(url) < scheme+2 {
		return 0
	}
	n := bytes.IndexByte(url[scheme+1:], '/') // for https://, the second slash is at index 7
	if n < 0 || scheme+1+n > prefixMost {
		return 0
	}
	return scheme + 1 + n
}
