package engine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/robots"
)

// testLists returns lists for Googlebot, with a time, and for Ownbot, without.
func testLists(t *testing.T) *ranges.Lists {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"googlebot.json": `{"creationTime": "2026-08-15T00:00:00Z", "prefixes": [{"ipv4Prefix": "66.249.64.0/27"}]}`,
		"own.txt":        "45.90.2.0/24\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lists, err := ranges.Load(ranges.Options{Paths: []string{filepath.Join(dir, "googlebot.json"), "Ownbot=" + filepath.Join(dir, "own.txt")}})
	if err != nil {
		t.Fatal(err)
	}
	return lists
}

// clientRow is a row of a log with addresses.
type clientRow struct {
	logRow
	client string
	at     int64 // microseconds since 1970
}

// clientBatch returns the rows as a Source would yield them.
func clientBatch(rows []clientRow) *Batch {
	plain := make([]logRow, len(rows))
	for i, r := range rows {
		plain[i] = r.logRow
	}
	b := logBatch(plain)
	for _, r := range rows {
		span := NoURL
		if r.client != "" {
			span = Span{uint32(len(b.Data)), uint32(len(r.client))}
		}
		b.Data = append(b.Data, r.client...)
		b.Clients, b.Times = append(b.Clients, span), append(b.Times, r.at)
	}
	return b
}

// verifiedRows are rows with each answer. Impostors do not violate rules, and neither do clients without an address.
var verifiedRows = func() (rows []clientRow) {
	at := time.Date(2026, 8, 14, 0, 0, 0, 0, time.UTC).UnixMicro()
	for _, r := range [][3]string{
		{googleHeader, "66.249.64.5", "x"},
		{googleHeader, "[::ffff:66.249.64.5]:443", "private"},
		{googleHeader, "45.90.1.7", "private"},
		{googleHeader, "45.90.1.7", "x"},
		{googleHeader, "-", "private"},
		{googleHeader, "", "private"},
		{googleHeader, "10.0.0.1", "private"},
		{gptHeader, "45.90.1.7", "x"},
		{browserHeader, "45.90.1.7", "private"},
		{"Ownbot/1", "45.90.2.9", "own"},
		{"ownBOT/2", "45.90.1.7", "own"},
	} {
		rows = append(rows, clientRow{logRow{r[0], "https://a.com/" + r[2]}, r[1], at})
	}
	rows = append(rows, clientRow{logRow{googleHeader, "https://a.com/private"}, "45.90.1.7", at - 365*24*3600e6})
	return append(rows, clientRow{logRow{googleHeader, "https://a.com/private"}, "45.90.1.7", NoTime})
}()

const (
	verifiedRobots = logRobots + "\nUser-agent: Ownbot\nDisallow: /own\n"

	wantVerified = "yes,yes,no,no,,,,unpublished,,yes,no,stale,no"
	wantProofs   = "googlebot.json 66.249.64.0/27,googlebot.json 66.249.64.0/27,,,,,,,,own.txt 45.90.2.0/24,,,"
	wantViolated = "false true null false null null true true null true null true null"
)

// TestVerified checks the answers and their proofs, and that impostors do not violate rules: with a store in memory, a
// pack, and a memory limit, and with rows that another store decides as well.
func TestVerified(t *testing.T) {
	opt := StoreOptions{Dialect: robots.Google, LogAgents: LogAgentsStar, Ranges: testLists(t)}
	pack := makePack(t, robots.Google, robots.Response{Origin: "https://a.com", Status: 200, Body: []byte(verifiedRobots)})
	stores := waysToOpen(t, pack, opt)
	stores["built"] = buildStore(t, opt, "https://a.com", verifiedRobots)
	for kind, s := range stores {
		b, c := clientBatch(verifiedRows), newCounter(s, 1)
		s.NewEvaluator().Evaluate(b)
		checkVerified(t, kind, s, b)
		if b.UntimedRows != 1 || b.UntimedLists != 2 {
			t.Errorf("%s: %d rows and %d of lists without a time", kind, b.UntimedRows, b.UntimedLists)
		}
		all := newBusiest(s, nil)
		c.countBatch(b)
		all.countSites(b)
		stats := sumCounts([]*counter{c}, all)
		google := stats.Agents[slices.Index(s.opt.Agents, "Googlebot")]
		want := [ranges.NumAnswers]VerifiedCount{ranges.Null: {3, 3}, ranges.Yes: {2, 1}, ranges.No: {3, 2}, ranges.Stale: {1, 1}}
		if google.Verified != want || google.Violations != 3 {
			t.Errorf("%s: Googlebot has %+v", kind, google)
		}
		if len(stats.Named) != 1 || stats.Named[0].Verified != [ranges.NumAnswers]VerifiedCount{ranges.Yes: {1, 1}, ranges.No: {1, 1}} {
			t.Errorf("%s: others have %+v", kind, stats.Named)
		}
		if n, unusable, _ := stats.Census.Requests(); n != 12 || unusable != 3 {
			t.Errorf("%s: %d requests of crawlers, %d without an address", kind, n, unusable)
		}
		if kind != "built" {
			continue
		}
		for _, text := range []string{verifiedRobots, "User-agent: *\nDisallow: /\n"} {
			b := clientBatch(verifiedRows)
			run := Options{Old: s, twins: newTwins(s, buildStore(t, opt, "https://a.com", text))}
			w := run.newWorker(buildStore(t, opt, "https://a.com", text), 1, 1)
			w.Evaluate(b)
			checkVerified(t, "two stores", s, b)
		}
	}
}

// checkVerified checks what was found of verifiedRows.
func checkVerified(t *testing.T, kind string, s *Store, b *Batch) {
	t.Helper()
	var verified, proofs, violated []string
	for i, answer := range b.Verified {
		verified, proofs = append(verified, answer.String()), append(proofs, s.NewLookup().ProofName(b.Proofs[i]))
		violated = append(violated, [...]string{"null", "false", "true"}[b.Violations[i]])
	}
	if got := strings.Join(verified, ","); got != wantVerified {
		t.Errorf("%s: verified %s, want %s", kind, got, wantVerified)
	}
	if got := strings.Join(proofs, ","); got != wantProofs {
		t.Errorf("%s: proofs %s, want %s", kind, got, wantProofs)
	}
	if got := strings.Join(violated, " "); got != wantViolated {
		t.Errorf("%s: violations %s, want %s", kind, got, wantViolated)
	}
}

// TestVerifiedAllocs checks that rows of crawlers with ever new addresses do not allocate.
func TestVerifiedAllocs(t *testing.T) {
	s := buildStore(t, StoreOptions{Dialect: robots.Google, LogAgents: LogAgentsStar, Ranges: testLists(t)}, "https://a.com", verifiedRobots)
	e := s.NewEvaluator()
	batches := make([]*Batch, 3)
	for k := range batches {
		rows := slices.Repeat(verifiedRows, 300)
		for i := range rows {
			rows[i].client = strings.Repeat("1", 1+i%3) + "." + strings.Repeat("2", 1+i/3%3) + ".3." + strings.Repeat("4", 1+i/9%3)
		}
		batches[k] = clientBatch(rows)
		e.Evaluate(batches[k])
	}
	n := 0
	if allocs := testing.AllocsPerRun(20, func() {
		b := batches[n%len(batches)]
		n++
		b.Agents, b.Violations, b.Verified, b.Proofs, b.senders = b.Agents[:0], b.Violations[:0], b.Verified[:0], b.Proofs[:0], b.senders[:0]
		b.Sites, b.Rulings, b.Verdicts, b.streaks = b.Sites[:0], b.Rulings[:0], b.Verdicts[:0], b.streaks.reset()
		e.Evaluate(b)
	}); allocs > 0 {
		t.Errorf("%v allocations in %d rows", allocs, batches[0].Len())
	}
}
