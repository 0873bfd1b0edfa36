package engine

import "github.com/robobatch/robobatch/engine/internal/rules"

// An ahead prefetches the data of many rows. With 100,000 origins in random order, each row needs a site, its
// origin, its ruling and its tables, and none of them are in a processor cache. Each of these reads waits for the
// one before, but reads for different rows can wait at the same time.
type ahead struct {
	reader rules.AheadReader // nil if the store has nothing to prefetch
	names  [][]byte
	found  [rules.AheadRows]rules.Found
	ids    [rules.AheadRows]RulingID
	missed int  // prefixes of the batch that the memo did not have
	useful bool // the memo missed many prefixes of the last batch
	sum    byte // depends on everything read, so that the compiler keeps the reads
}

// begin begins a batch of n rows. If the memo knows nearly all prefixes, prefetching only costs time.
func (a *ahead) begin(n int) {
	const share = 4
	a.useful = a.reader != nil && a.missed > n/share
	a.missed = 0
}

// sites adds to the memo the unknown prefixes of the rows from first on.
func (a *ahead) sites(b *Batch, first int, memo *prefixMemo) {
	a.names = a.names[:0]
	for i := first; i < min(first+rules.AheadRows, b.Len()); i++ {
		url := b.URL(i)
		prefix := url[:prefixLen(url)]
		if len(prefix) == 0 {
			continue
		}
		if _, _, ok := memo.find(prefix); !ok {
			a.names = append(a.names, prefix)
		}
	}
	a.missed += len(a.names)
	a.reader.FindAll(a.names, a.found[:])
	for i, name := range a.names {
		if f := &a.found[i]; f.OK {
			memo.remember(name, SiteID(f.Site), f.ID)
		}
	}
}

// rules prefetches the rules of rows.
func (a *ahead) rules(rows []rulingRow) {
	ids, last := a.ids[:0], rules.NoRuling
	for _, r := range rows {
		if r.id != last {
			ids, last = append(ids, r.id), r.id
		}
	}
	a.sum += a.reader.Fetch(ids)
}
