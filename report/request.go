package report

import "github.com/robobatch/robobatch/engine"

// A request is what rows share that are alike: the same URL, decided in the same way for the same
// crawler. Rows that are alike are counted together, and what is counted by path, rule or origin is
// added up once for all of them, when the request leaves the table or the run ends.
type request struct {
	key    uint64 // of the URL, crawler and verdicts; never 0
	hash   uint64 // of the URL
	counts counts
	at     uint32 // where the URL begins in batch.text, which has n bytes
	site   engine.SiteID
	kind   int32 // index of kinds.all
	did    int32 // index of ruled.all: what rules did; -1 if there is no robots.txt
	n      uint16
	prefix uint16 // of the URL: what is before the path
	agent  uint16 // the crawler that fetched; 0 without crawlers of the log
	denies uint16 // of the verdicts: how many deny

	// missed is the most rows that may have come before, when the request was not in the table.
	missed uint32

	// Of a row that is not in the table: for how many it stands, 0 if none of what is counted by row is, and
	// whether the URL is to be told from others.
	stands uint32
	alone  bool // it is such a row
	isURL  bool
}

// A batch is requests and their URLs.
type batch struct {
	all   []request
	text  []byte
	moves int // requests of another site than the one before
}

// add adds a request.
func (b *batch) add(r request, url []byte) *request {
	r.at, r.n = uint32(len(b.text)), uint16(len(url))
	if n := len(b.all); n > 0 && b.all[n-1].site != r.site {
		b.moves++
	}
	b.text = append(b.text, url...)
	b.all = append(b.all, r)
	return &b.all[len(b.all)-1]
}

// url returns the URL of a request. It is valid until a request is added.
func (b *batch) url(r *request) []byte { return b.text[r.at:][:r.n] }

// reset removes all.
func (b *batch) reset() { b.all, b.text, b.moves = b.all[:0], b.text[:0], 0 }

// isFull reports whether the requests are to be added up: soon if they come by site, and else when there are
// many, so that there are several of most sites.
func (b *batch) isFull(many int) bool {
	n := len(b.all)
	return n >= many || len(b.text) >= many*urlBytes || n%leaving == 0 && b.moves < n/4
}

// counts are what is counted of rows. All but rows are parts of rows.
type counts struct {
	rows       int64
	violations int64
	served     int64 // answered by 2xx or 304
	failed     int64 // answered by 4xx or 5xx
}

func (c *counts) add(o *counts) {
	c.rows += o.rows
	c.violations += o.violations
	c.served += o.served
	c.failed += o.failed
}
