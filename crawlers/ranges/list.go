package ranges

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/gaissmai/bart"
)

// A snapshot is a list as it was at one time.
type snapshot struct {
	file     string // where it was read
	name     string // of the file, as verified_by shows it
	time     int64  // microseconds since 1970, or NoTime
	prefixes []netip.Prefix
}

// A list is the addresses that an operator publishes under one name: all snapshots of it, as one table.
//
// The table has each prefix that any snapshot has. An address is looked up once: the longest prefix
// that contains it leads to a row, and the row says for each snapshot which of its prefixes contains
// that prefix, and so the address.
type list struct {
	times    []int64 // of the snapshots that have one, ascending, each once
	prefixes table   // its values are indices of rows
	rows     []row   // rows[0] is for addresses that no snapshot has
	changes  []change
}

// A row is the answer of all snapshots for the addresses of one prefix, but for those in longer ones.
type row struct {
	ever       Proof // of some snapshot; the newest that has the prefix
	begin, end int32 // in changes: by ascending snapshot, the first at snapshot 0
}

// A change says that from one snapshot on, until the next change, a prefix contains the addresses of the row.
type change struct {
	snapshot int32
	proof    Proof // 0: none does
}

// find returns the row of an address.
func (l *list) find(client netip.Addr) *row { return &l.rows[l.prefixes.find(client)] }

// had returns which prefix of a snapshot has the addresses of a row, 0 if none does.
func (l *list) had(r *row, snapshot int) Proof {
	changes := l.changes[r.begin:r.end]
	if len(changes) == 0 {
		return 0
	}
	i := len(changes) - 1
	for changes[i].snapshot > int32(snapshot) { // nearly all rows have one change or two
		i--
	}
	return changes[i].proof
}

// mergeSnapshots sorts snapshots by time, those without one first, and makes one of all with the same time.
// It returns the files that differ from another of the same time.
func mergeSnapshots(all []snapshot) (merged []snapshot, differ [][2]string) {
	slices.SortStableFunc(all, func(a, b snapshot) int { return cmp.Compare(a.time, b.time) })
	for _, s := range all {
		slices.SortFunc(s.prefixes, netip.Prefix.Compare)
		s.prefixes = slices.Compact(s.prefixes)
		last := len(merged) - 1
		if last < 0 || merged[last].time != s.time {
			merged = append(merged, s)
			continue
		}
		if s.time != NoTime && !slices.Equal(merged[last].prefixes, s.prefixes) {
			differ = append(differ, [2]string{merged[last].file, s.file})
		}
		both := slices.Concat(merged[last].prefixes, s.prefixes)
		slices.SortFunc(both, netip.Prefix.Compare)
		merged[last].prefixes = slices.Compact(both)
	}
	return merged, differ
}

// compile makes the table of merged snapshots. proofs numbers all of their prefixes.
func (l *list) compile(snapshots []snapshot, proofs map[netip.Prefix]Proof) {
	sets := make([]bart.Lite, len(snapshots))
	for i, s := range snapshots {
		for _, p := range s.prefixes {
			sets[i].Insert(p)
		}
		if s.time != NoTime {
			l.times = append(l.times, s.time)
		}
	}
	untimed := len(snapshots) - len(l.times) // 0 or 1, and the first
	l.rows = make([]row, 1, 1+len(proofs))
	prefixes := make([]valued, 0, len(proofs))
	for p := range proofs {
		r := row{begin: int32(len(l.changes))}
		for i := range snapshots {
			proof := Proof(0)
			if longest, ok := sets[i].LookupPrefixLPM(p); ok {
				proof = proofs[longest]
			}
			if proof != 0 {
				r.ever = proof
			}
			if i >= untimed && (i == untimed || l.changes[len(l.changes)-1].proof != proof) {
				l.changes = append(l.changes, change{int32(i - untimed), proof})
			}
		}
		r.end = int32(len(l.changes))
		prefixes = append(prefixes, valued{p, int32(len(l.rows))})
		l.rows = append(l.rows, r)
	}
	l.prefixes = newTable(prefixes)
}
