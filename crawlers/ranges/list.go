package ranges

import "net/netip"

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
