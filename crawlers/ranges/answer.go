package ranges

import (
	_ "embed" // the registries
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// An Answer says whether a request came from the crawler that its User-Agent names.
type Answer uint8

// The zero Answer is Null: unknown.
const (
	Null        Answer = iota // no crawler, no address, or an address that is not on the internet
	Yes                       // a list has the address, or a host name proves it
	No                        // no list of the crawler has the address: an impostor
	Stale                     // the snapshots are too far from the time of the request
	Unpublished               // there is no list for the crawler
	NumAnswers  = int(iota)
)

// answers are the values of the column verified.
var answers = [...]string{Null: "", Yes: "yes", No: "no", Stale: "stale", Unpublished: "unpublished"}

// String returns the value of the column verified, "" for Null.
func (a Answer) String() string { return answers[a] }

// NoTime is the time of a request if it is unknown.
const NoTime = math.MinInt64

// trust is the maximum distance from a snapshot at which an address in it counts as the operator's.
const trust = 90 * 24 * time.Hour

// DefaultAge is the default for Options.Age: the maximum distance from a snapshot at which an address that is not
// in it counts as an impostor's.
const DefaultAge = 7 * 24 * time.Hour

// A Speaker identifies the lists for one crawler. [Lists.Speaker] returns it.
type Speaker int32

// A Proof identifies the proof of an address: a prefix of a list, or a host. Zero means no proof.
type Proof int32

// Verify says whether a request from an address at a time, in microseconds since 1970, came from the crawler of s, with
// the proof if it did. The zero Addr is unknown. Verify implements section 12 of the specification of crawlers'
// identity: with several lists, the answer is Yes if one of them says Yes, No if all say No, and
// otherwise Stale. It is safe for concurrent use and does not allocate.
func (l *Lists) Verify(s Speaker, client netip.Addr, at int64) (Answer, Proof) {
	client = client.WithZone("").Unmap()
	if !client.IsValid() || !isGlobal(client) {
		return Null, 0
	}
	return l.verifyGlobal(s, client, at)
}

// VerifyClient is like [Lists.Verify], for a parsed client.
func (l *Lists) VerifyClient(s Speaker, client *Client, at int64) (Answer, Proof) {
	if client.Network == 0 {
		return Null, 0
	}
	return l.verifyGlobal(s, client.Addr, at)
}

// verifyGlobal is Verify for a global address that has no zone and is not IPv4-mapped. It asks the lists first, then
// the host names.
func (l *Lists) verifyGlobal(s Speaker, client netip.Addr, at int64) (Answer, Proof) {
	lists := l.speakers[s].lists
	answer := No
	if len(lists) == 0 {
		answer = Unpublished
	}
	for _, i := range lists {
		switch a, proof := l.lists[i].verify(client, at, l.age); a {
		case Yes:
			return Yes, proof
		case No:
		default:
			answer = Stale
		}
	}
	if l.hosts != nil {
		if proof := l.hosts.verify(client, l.speakers[s].suffixes); proof != 0 {
			return Yes, proof
		}
	}
	return answer, 0
}

// verify verifies an address by one list: by the snapshots before and after the request, or, without a time of the
// request or of the snapshots, by all snapshots. age is the distance from a snapshot up to which a missing address is
// an impostor's. The proof is 0 unless the answer is Yes.
func (l *list) verify(client netip.Addr, at int64, age time.Duration) (Answer, Proof) {
	row := &l.rows[l.prefixes.find(client)]
	if at == NoTime || len(l.times) == 0 {
		if row.ever != 0 {
			return Yes, row.ever
		}
		return No, 0
	}
	after, found := slices.BinarySearch(l.times, at) // the oldest snapshot after the request
	if found {
		after++
	}
	answer := Stale
	for _, i := range [...]int{after - 1, after} {
		if i < 0 || i >= len(l.times) {
			continue
		}
		apart := uint64(max(at, l.times[i])) - uint64(min(at, l.times[i]))
		switch proof := l.proofAt(row, i); {
		case proof != 0 && apart <= uint64(trust.Microseconds()):
			return Yes, proof
		case proof == 0 && apart <= uint64(age.Microseconds()):
			answer = No
		}
	}
	return answer, 0
}

// ProofName returns the text of the column verified_by, such as "googlebot.json 66.249.64.0/27" or a host name; ""
// without a proof.
func (l *Lists) ProofName(p Proof) string { return l.proofs[p] }

// Proofs returns the number of proofs; each Proof is less than it.
func (l *Lists) Proofs() int { return len(l.proofs) }

//go:embed special.tsv
var specialText string

// A specialPrefix is a line of IANA's registries of special-purpose addresses.
type specialPrefix struct {
	prefix    netip.Prefix
	reachable bool // globally
}

// specialPrefixes are all lines of special.tsv.
var specialPrefixes = func() (all []specialPrefix) {
	for line := range strings.SplitSeq(specialText, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		prefix, reachable, _ := strings.Cut(line, "\t")
		reachable, _, _ = strings.Cut(reachable, "\t")
		all = append(all, specialPrefix{netip.MustParsePrefix(prefix), reachable == "True"})
	}
	return all
}()

// special maps special-purpose addresses to the value reachable or unreachable.
var special = func() table {
	prefixes := make([]valued, len(specialPrefixes))
	for i, s := range specialPrefixes {
		prefixes[i] = valued{s.prefix, unreachable}
		if s.reachable {
			prefixes[i].value = reachable
		}
	}
	return newTable(prefixes)
}()

// The values of special.
const (
	reachable   = 1
	unreachable = 2
)

// isGlobal reports whether clients on the internet can have an address, by the longest match in special.tsv, if
// there is one.
func isGlobal(addr netip.Addr) bool { return special.find(addr) != unreachable }
