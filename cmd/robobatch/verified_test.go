package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/netip"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/crawlers"
)

var verifiedRows = flag.Int("verified-rows", 20_000, "how many requests TestVerified decides")

// A verifiedSnapshot is a published list at one time.
type verifiedSnapshot struct {
	time int64 // microseconds since 1970
	has  []bool
}

// A verifiedWorld holds address lists, and the addresses, times and crawlers of requests. Each address is at an end
// of a prefix, and each time is at the end of an age.
type verifiedWorld struct {
	lists   map[string][]verifiedSnapshot // by the name of the file without its extension, and by time
	clients []netip.Addr
	moments []int64 // unknownMoment is a row without a time
	senders []crawlers.Crawler

	special  []bool                 // by client: whether the address cannot be one of a client on the internet
	speakers [][][]verifiedSnapshot // by sender: the lists that speak for it
}

const unknownMoment = math.MinInt64

// newVerifiedWorld reads the lists of several dates below dir.
func newVerifiedWorld(t *testing.T, dir string) *verifiedWorld {
	t.Helper()
	w := &verifiedWorld{lists: map[string][]verifiedSnapshot{}, moments: []int64{unknownMoment}}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d lists, %v", len(files), err)
	}
	slices.Sort(files)
	prefixes := make([][]netip.Prefix, len(files))
	seen := map[netip.Addr]bool{}
	add := func(a netip.Addr) {
		if a.IsValid() && !seen[a] {
			seen[a] = true
			w.clients = append(w.clients, a)
		}
	}
	times := make([]int64, len(files))
	for i, name := range files {
		prefixes[i], times[i] = readVerifiedList(t, name)
		for _, p := range prefixes[i] {
			last := lastAddress(p)
			for _, a := range []netip.Addr{p.Addr(), last, p.Addr().Prev(), last.Next()} {
				add(a)
			}
		}
		const day = 24 * 3600e6
		for _, apart := range []int64{0, 1, 7 * day, 7*day + 1, 90 * day, 90*day + 1} {
			w.moments = append(w.moments, times[i]+apart, times[i]-apart)
		}
	}
	for _, a := range []string{"10.0.0.1", "192.0.2.1", "::1", "2001:db8::1", "224.0.0.1", "45.90.1.7", "198.51.100.0", "100.64.0.1"} {
		add(netip.MustParseAddr(a))
	}
	for i, name := range files {
		s := verifiedSnapshot{times[i], make([]bool, len(w.clients))}
		for k, a := range w.clients {
			s.has[k] = slices.ContainsFunc(prefixes[i], func(p netip.Prefix) bool { return p.Contains(a) })
		}
		stem := strings.TrimSuffix(path.Base(filepath.ToSlash(name)), ".json")
		w.lists[stem] = append(w.lists[stem], s)
	}
	for _, list := range w.lists {
		slices.SortFunc(list, func(a, b verifiedSnapshot) int { return int(a.time/1e6 - b.time/1e6) })
	}
	for _, a := range w.clients {
		special := []string{"10.0.0.0/8", "192.0.2.0/24", "::1/128", "2001:db8::/32", "224.0.0.0/4", "198.51.100.0/24", "100.64.0.0/10"}
		w.special = append(w.special, slices.ContainsFunc(special, func(p string) bool { return netip.MustParsePrefix(p).Contains(a) }))
	}
	for _, c := range crawlers.Set("all") {
		if len(c.Names) == 0 {
			continue
		}
		var speakers [][]verifiedSnapshot
		for _, r := range c.Ranges {
			stem := path.Base(r.Name)
			if r.Name == "anthropic/bots" {
				stem = "claudebot"
			}
			if list := w.lists[stem]; len(list) > 0 {
				speakers = append(speakers, list)
			}
		}
		w.senders, w.speakers = append(w.senders, c), append(w.speakers, speakers)
	}
	return w
}

// readVerifiedList reads a list in Google's form.
func readVerifiedList(t *testing.T, name string) (prefixes []netip.Prefix, at int64) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		CreationTime string
		Prefixes     []struct{ IPv4Prefix, IPv6Prefix string }
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	created, err := time.Parse("2006-01-02T15:04:05", strings.TrimSuffix(list.CreationTime, "Z"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list.Prefixes {
		prefixes = append(prefixes, netip.MustParsePrefix(p.IPv4Prefix+p.IPv6Prefix))
	}
	return prefixes, created.UnixMicro()
}

// lastAddress returns the last address of a prefix.
func lastAddress(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for i := p.Bits(); i < 8*len(b); i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

// refer is section 12 of the specification read aloud.
func (w *verifiedWorld) refer(sender, client int, at int64) string {
	if w.special[client] {
		return ""
	}
	yes, no := 0, 0
	for _, list := range w.speakers[sender] {
		switch referVerifiedList(list, client, at) {
		case "yes":
			yes++
		case "no":
			no++
		}
	}
	switch {
	case len(w.speakers[sender]) == 0:
		return "unpublished"
	case yes > 0:
		return "yes"
	case no == len(w.speakers[sender]):
		return "no"
	}
	return "stale"
}

// referVerifiedList is the answer of one list.
func referVerifiedList(list []verifiedSnapshot, client int, at int64) string {
	if at == unknownMoment {
		if slices.ContainsFunc(list, func(s verifiedSnapshot) bool { return s.has[client] }) {
			return "yes"
		}
		return "no"
	}
	const day = 24 * 3600e6
	before, after := -1, -1
	for i, s := range list {
		if s.time <= at {
			before = i
		} else if after < 0 {
			after = i
		}
	}
	answer := "stale"
	for _, i := range []int{before, after} {
		if i < 0 {
			continue
		}
		apart := max(list[i].time-at, at-list[i].time)
		if list[i].has[client] && apart <= 90*day {
			return "yes"
		}
		if !list[i].has[client] && apart <= 7*day {
			answer = "no"
		}
	}
	return answer
}

// A verifiedRow is one made-up request.
type verifiedRow struct{ sender, client, moment int }

// rows yields made-up requests, the same for each call.
func (w *verifiedWorld) rows(n int, yield func(i int, r verifiedRow) error) error {
	rng := rand.New(rand.NewPCG(12, 31))
	for i := range n {
		r := verifiedRow{rng.IntN(len(w.senders)), rng.IntN(len(w.clients)), rng.IntN(len(w.moments))}
		if rng.IntN(4) > 0 { // of those who have lists
			for len(w.speakers[r.sender]) == 0 {
				r.sender = rng.IntN(len(w.senders))
			}
		}
		if err := yield(i, r); err != nil {
			return err
		}
	}
	return nil
}

// writeLog writes the requests as a table. Addresses are written in all notations that occur in logs.
func (w *verifiedWorld) writeLog(name string, n int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	fmt.Fprintln(out, "url,user_agent,ip,time")
	err = w.rows(n, func(i int, r verifiedRow) error {
		client := w.clients[r.client].String()
		switch a := w.clients[r.client]; {
		case i%5 == 1 && a.Is4():
			client = "::ffff:" + client
		case i%5 == 2 && a.Is4():
			client += ":4711"
		case i%5 == 3 && a.Is6():
			client = "[" + client + "]:443"
		case i%5 == 4 && a.Is6():
			client += "%eth0"
		}
		at := ""
		if m := w.moments[r.moment]; m != unknownMoment {
			at = time.UnixMicro(m).UTC().Format(time.RFC3339Nano)
		}
		_, err := fmt.Fprintf(out, "/%c/%d,%s/1,%s,%s\n", "ap"[i%2], i, w.senders[r.sender].Names[0], client, at)
		return err
	})
	return errors.Join(err, out.Flush(), f.Close())
}

// TestVerified compares the columns verified, verified_by and violation with a slow reference, for runs with files
// and with a pack, with 1 and 8 workers, in CSV and in Parquet.
func TestVerified(t *testing.T) {
	lists, err := filepath.Abs("../../crawlers/ranges/testdata")
	if err != nil {
		t.Fatal(err)
	}
	w := newVerifiedWorld(t, lists)
	t.Chdir(t.TempDir())
	if err := os.WriteFile("robots.txt", []byte("User-agent: *\nDisallow: /p/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.writeLog("log.csv", *verifiedRows); err != nil {
		t.Fatal(err)
	}
	decide := func(arguments ...string) {
		t.Helper()
		if code := run(arguments, console.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}); code != exitDone {
			t.Fatalf("%q: exit code %d", arguments, code)
		}
	}
	decide("compile", "-quiet", "-rules", "robots.txt", "-origin", "https://a.example", "-out", "robots.rbp")
	job := []string{"-quiet", "-progress", "off", "-in", "log.csv", "-base", "https://a.example", "-agent-from-log"}
	decide(slices.Concat(job, []string{"-rules", "robots.txt", "-columns", "violation,line", "-out", "plain.csv"})...)
	for _, c := range []struct{ rules, workers, ext string }{
		{"robots.txt", "1", "csv"},
		{"robots.txt", "8", "csv"},
		{"robots.rbp", "1", "csv"},
		{"robots.rbp", "8", "csv"},
		{"robots.txt", "8", "parquet"},
		{"robots.txt", "1", "parquet"},
		{"robots.rbp", "8", "parquet"},
		{"robots.rbp", "1", "parquet"},
	} {
		out := "v." + c.rules + "." + c.workers + "." + c.ext
		decide(slices.Concat(job, []string{"-rules", c.rules, "-workers", c.workers, "-ranges", lists, "-columns", "verified,verified_by,violation", "-out", out})...)
		if c.ext == "csv" {
			w.check(t, out, csvCells(t, out))
		} else {
			w.check(t, out, parquetCells(t, out))
		}
		if err := os.Remove(out); err != nil {
			t.Fatal(err)
		}
	}
}

// check compares the rows of an output with the reference. next returns the cells of the next row: verified,
// verified_by and violation, "" for null.
func (w *verifiedWorld) check(t *testing.T, name string, next func() ([3]string, error)) {
	t.Helper()
	plain := csvCells(t, "plain.csv")
	answers := map[string]int{}
	wrong := 0
	err := w.rows(*verifiedRows, func(i int, r verifiedRow) error {
		cells, err := next()
		was, errPlain := plain()
		if err := errors.Join(err, errPlain); err != nil {
			return err
		}
		at := w.moments[r.moment]
		want := w.refer(r.sender, r.client, at)
		answers[want]++
		violation := was[0]
		if want == "no" && violation == "true" {
			violation = ""
		}
		if cells[0] != want || cells[2] != violation || (cells[1] != "") != (want == "yes") || !provesClient(cells[1], w.clients[r.client]) {
			if wrong++; wrong < 10 {
				t.Errorf("%s, row %d: %s from %s at %d: %q, want %s and the violation %q", name, i+1, w.senders[r.sender].Token, w.clients[r.client], at, cells, want, violation)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if _, err := next(); !errors.Is(err, io.EOF) {
		t.Errorf("%s: more rows than requests, %v", name, err)
	}
	if len(answers) != 5 {
		t.Errorf("%s: the answers are %v, and not of all five kinds", name, answers)
	}
	t.Logf("%s: %d rows, %d differences; %v", name, *verifiedRows, wrong, answers)
}

// provesClient reports whether a value of verified_by is empty, or names a list and a prefix in it that contains the
// address.
func provesClient(proof string, client netip.Addr) bool {
	if proof == "" {
		return true
	}
	name, prefix, _ := strings.Cut(proof, " ")
	p, err := netip.ParsePrefix(prefix)
	return err == nil && strings.HasSuffix(name, ".json") && p.Contains(client)
}

// csvCells returns a function that returns the cells of the next row of a CSV with up to three columns.
func csvCells(t *testing.T, name string) func() ([3]string, error) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	r := csv.NewReader(bufio.NewReaderSize(f, 1<<20))
	r.ReuseRecord = true
	if _, err := r.Read(); err != nil {
		t.Fatal(err)
	}
	return func() (cells [3]string, err error) {
		record, err := r.Read()
		copy(cells[:], record)
		return cells, err
	}
}

// parquetCells returns a function that returns the cells of the next row of a Parquet file with two text columns and
// one boolean column.
func parquetCells(t *testing.T, name string) func() ([3]string, error) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := file.NewParquetReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var rows [][3]string
	group := 0
	return func() (cells [3]string, err error) {
		for len(rows) == 0 && group < r.NumRowGroups() {
			rows, err = groupCells(r.RowGroup(group))
			if group++; err != nil {
				return cells, err
			}
		}
		if len(rows) == 0 {
			return cells, io.EOF
		}
		cells, rows = rows[0], rows[1:]
		return cells, nil
	}
}

// groupCells returns the rows of a row group.
func groupCells(g *file.RowGroupReader) ([][3]string, error) {
	n := g.NumRows()
	rows, levels := make([][3]string, n), make([]int16, n)
	for c := range 3 {
		column, err := g.Column(c)
		if err != nil {
			return nil, err
		}
		for done := int64(0); done < n; {
			var read int64
			k := 0
			switch column := column.(type) {
			case *file.ByteArrayColumnChunkReader:
				values := make([]parquet.ByteArray, n-done)
				read, _, err = column.ReadBatch(n-done, values, levels, nil)
				for i := range read {
					if levels[i] > 0 {
						rows[done+i][c] = string(values[k])
						k++
					}
				}
			case *file.BooleanColumnChunkReader:
				values := make([]bool, n-done)
				read, _, err = column.ReadBatch(n-done, values, levels, nil)
				for i := range read {
					if levels[i] > 0 {
						rows[done+i][c] = strconv.FormatBool(values[k])
						k++
					}
				}
			}
			if err != nil || read == 0 {
				return nil, fmt.Errorf("column %d: %d of %d rows: %w", c, done, n, err)
			}
			done += read
		}
	}
	return rows, nil
}
