package engine

import "github.com/robobatch/robobatch/engine/internal/rules"

// An ahead fetches what many rows will need, before the first of them is looked at. With 100,000 origins in random
// order each row asks for a site, its origin, its ruling and its tables, which are in memory that no cache has: each
// read waits for the one before. Reads of several rows wait together.
type ahead struct {
	reader rules.AheadReader // nil if it has nothing to fetch
	names  [][]byte
	found  [rules.AheadRows]rules.Found
	ids    [rules.AheadRows]RulingID
	missed int  // prefixes of the batch that the memo did not have
	useful bool // the last batch missed many
	sum    byte // of what was read, so that it is
}

// begin begins a batch of n rows. Where the memo knows nearly all prefixes, looking ahead only costs.
func (a *ahead) begin(n int) {
	const share = 4
	a.useful = a.reader != nil && a.missed > n/share
	a.missed = 0
}

// sites has the memo know the prefixes of the rows from first on that it does not know yet.
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

// rules fetches the rules of rows.
func (a *ahead) rules(rows []rulingRow) {
	ids, last := a.ids[:0], rules.NoRuling
	for _, r := range rows {
		if r.id != last {
			ids, last = append(ids, r.id), r.id
		}
	}
	a.sum += a.reader.Fetch(ids)
}
