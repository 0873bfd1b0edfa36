package waste

import (
	"bytes"
	"slices"
)

// Ids in paths, as in /s/d41d8cd98f00b204e980/cart, are those of sessions if the same pages are asked for behind many of
// them, and without one as well: then an id adds no page. Commits, things and visitors of a site have pages that nobody
// asks for without them.

// The signs that ids in paths are those of sessions.
const (
	leastPathIDs = 100 // of a directory
	leastPages   = 20  // that are asked for behind many ids
	leastBehind  = 5   // ids a page is asked for behind
	mostIDSeg    = 3   // segments before the id
)

// sessionDirs are the names of directories whose ids are those of sessions even if no page is asked for without one.
var sessionDirs = newNameSet("s", "sid", "sess", "session", "sessionid", "phpsessid", "jsessionid")

// pathIDs count the pages behind the ids of directories, which are open one for each depth.
type pathIDs [mostIDSeg]idDir

// An idDir is a directory that has ids.
type idDir struct {
	path   []byte // with a slash behind it
	pages  groups // of ids
	ids    int64
	shared int64 // ids that several crawlers asked for, or others as well
	id     []byte
	by     int // the crawler that asked for the id first; -1 is several
}

// idOf returns which segment of a path is an id that something follows; 0 if none is. The first segment is none: no rule
// could close the pages behind it.
func idOf(path []byte, segs []seg) int {
	for n := 1; n < len(segs) && n <= mostIDSeg; n++ {
		s := segs[n]
		if s.to-s.from >= leastToken && s.to < len(path) && isToken(path[s.from:s.to]) {
			return n
		}
	}
	return 0
}

// take counts a URL, and hands a directory that it ends to end.
func (p *pathIDs) take(v *Visit, path []byte, segs []seg, end func(*idDir)) {
	n := idOf(path, segs)
	if n == 0 {
		return
	}
	d, s := &p[n-1], segs[n]
	if !bytes.Equal(d.path, path[:s.from]) {
		end(d)
		d.clear()
		d.path = append(d.path, path[:s.from]...)
	}
	if id := path[s.from:s.to]; !bytes.Equal(d.id, id) {
		d.id, d.ids, d.by = append(d.id[:0], id...), d.ids+1, v.Spent[0].Crawler
	}
	for _, by := range v.Spent {
		if d.by >= 0 && (by.Crawler != d.by || v.Others > 0) {
			d.shared, d.by = d.shared+1, -1
		}
	}
	d.pages.addMember(hashOf(path[s.to:]), hashOf(d.id))
}

// clear empties it.
func (d *idDir) clear() {
	d.path, d.id, d.ids, d.shared = d.path[:0], d.id[:0], 0, 0
	d.pages.clear()
}

// candidate returns the candidate of a directory; nil if it has too few pages that come again, or too many others.
func (d *idDir) candidate() *candidate {
	if d.ids < leastPathIDs {
		return nil
	}
	pages, behind, all := d.pages.large(leastBehind)
	if len(pages) < leastPages || 5*behind < 4*all || !isPlain(string(d.path)) {
		return nil
	}
	pages = slices.Clone(pages[:min(len(pages), mostWords)])
	dir, zeros := slices.Clone(d.path), d.pages.zeros
	parent := dir[:bytes.LastIndexByte(dir[:len(dir)-1], '/')] // of dir
	isNamed := sessionDirs.find(dir[len(parent)+1:len(dir)-1]) >= 0 && 50*d.shared <= d.ids
	asked := map[uint64]bool{} // pages without an id
	t := &candidate{ruleTest: ruleTest{rules: []string{"Disallow: " + string(dir)}}, kind: Sessions, size: all, names: []string{string(dir)}}
	t.has = func(u *parts) bool {
		n := idOf(u.path, u.segs)
		return n > 0 && string(u.path[:u.segs[n].from]) == string(dir)
	}
	t.see = func(u *parts) {
		if !bytes.HasPrefix(u.path, parent) || bytes.HasPrefix(u.path, dir) {
			return
		}
		page := hashOf(u.path[len(parent):])
		if page>>(64-zeros) == 0 {
			if _, is := slices.BinarySearch(pages, page); is {
				asked[page] = true
			}
		}
	}
	t.is = func() bool {
		if 10*len(asked) >= 9*len(pages) && t.closesNoOther() {
			return true
		}
		t.rules = nil // the pages may be there behind ids alone
		return isNamed
	}
	return t
}
