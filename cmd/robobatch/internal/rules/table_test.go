package rules

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/listings"
	"github.com/robobatch/robobatch/internal/testdata/parquettest"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// listed returns the listing of a robots.txt that was fetched with this body.
func listed(origin robots.Origin, body string) *listings.Listing {
	r := robots.Response{Origin: origin, Name: "rules/a.txt", Status: 200, Size: int64(len(body)), FetchedAt: time.Unix(1700000000, 123456789)}
	return &listings.Listing{
		Origin: origin, Outcome: robots.Outcome{Effect: robots.UseRules, Cause: robots.CauseFetched},
		Response: r, Report: robots.Inspect([]byte(body), robots.Yandex),
	}
}

// writeList writes listings to a file with the given name, and returns its bytes.
func writeList(t *testing.T, name string, opt Options, all ...*listings.Listing) []byte {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	var err error
	if opt.Format, err = FormatOf(name); err != nil {
		t.Fatal(err)
	}
	f, err := Create(name, nil, opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		if err := f.Write(l); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

const listedBody = "Allow: /early\n" +
	"User-agent: Googlebot\nUser-agent: Bing\nDisallow: /a # why\nAllow: /\xff\nDisallow:\nCrawl-delay: 2.50\n" +
	"User-agent: *\nUser-agent: bing\nCrawl-delay: 7\nAllow:\nUser-agent: *\nCrawl-delay: 8\n" +
	"Sitemap: https://a.example/s\nHost: a.example\nHost: b.example\nClean-param: x&y /z\n"

// A listObject is a row; the order of the fields is that of the columns.
type listObject struct {
	Origin    string     `json:"origin"`
	Source    *string    `json:"source"`
	URL       *string    `json:"url"`
	Outcome   string     `json:"outcome"`
	Status    *int       `json:"status"`
	Error     *string    `json:"error"`
	FetchedAt *time.Time `json:"fetched_at"`
	Size      *int64     `json:"size"`
	Truncated *bool      `json:"truncated"`
	Item      string     `json:"item"`
	Group     *int32     `json:"group_id"`
	Agents    *string    `json:"agents"`
	Line      *int32     `json:"line"`
	Code      *string    `json:"code"`
	Value     *string    `json:"value"`
}

// shortRows returns the columns item, group, agents, line, code and value of each row in JSON Lines, separated by
// spaces.
func shortRows(t *testing.T, data []byte) (rows []string) {
	t.Helper()
	for line := range bytes.Lines(data) {
		var o listObject
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&o); err != nil {
			t.Fatal(err)
		}
		parts := []string{o.Item, "-", "-", "-", "-", "-"}
		for i, n := range []*int32{2: o.Group, 3: o.Line} {
			if n != nil {
				parts[map[int]int{2: 1, 3: 3}[i]] = strconv.Itoa(int(*n))
			}
		}
		for i, s := range map[int]*string{2: o.Agents, 4: o.Code, 5: o.Value} {
			if s != nil {
				parts[i] = *s
			}
		}
		if o.Item == itemDiagnostic {
			parts[5] = "..."
		}
		rows = append(rows, strings.Join(parts, " | "))
	}
	return rows
}

// TestListRows checks which rows there are.
func TestListRows(t *testing.T) {
	l := listed("https://a.example", listedBody)
	got := shortRows(t, writeList(t, "x.jsonl", Options{}, l))
	want := []string{
		"robots_txt | - | - | - | - | -",
		"group | 1 | Googlebot,Bing | - | - | -",
		"disallow | 1 | Googlebot,Bing | 4 | - | /a",
		"allow | 1 | Googlebot,Bing | 5 | - | /%FF",
		"disallow | 1 | Googlebot,Bing | 6 | - | ",
		"group | 2 | *,bing | - | - | -",
		"allow | 2 | *,bing | 11 | - | ",
		"group | 3 | * | - | - | -",
		"crawl_delay | - | Googlebot,Bing | 7 | - | 2.5",
		"crawl_delay | - | * | 10 | - | 7",
		"sitemap | - | - | 14 | - | https://a.example/s",
		"host | - | - | 15 | - | a.example",
		"clean_param | - | - | 17 | - | x&y /z",
		"diagnostic | - | - | 1 | rule_without_group | ...",
	}
	if len(got) < len(want) || !reflect.DeepEqual(got[:len(want)], want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	got = shortRows(t, writeList(t, "x.jsonl", Options{Agents: []string{"bing/2", "*"}, Dialect: robots.Yandex}, l))[:12]
	want = []string{
		"robots_txt | - | - | - | - | -",
		"group | 1 | bing/2 | - | - | Googlebot,Bing",
		"disallow | 1 | bing/2 | 4 | - | /a",
		"allow | 1 | bing/2 | 5 | - | /%FF",
		"disallow | 1 | bing/2 | 6 | - | ",
		"group | 2 | bing/2 | - | - | *,bing",
		"allow | 2 | bing/2 | 11 | - | ",
		"crawl_delay | - | bing/2 | - | - | 2.5",
		"group | 2 | * | - | - | *,bing",
		"allow | 2 | * | 11 | - | ",
		"group | 3 | * | - | - | *",
		"crawl_delay | - | * | - | - | 7",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("agents: got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestListOutcomes checks what rows say of the fetch.
func TestListOutcomes(t *testing.T) {
	at := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		l    listings.Listing
		want string
	}{
		{
			listings.Listing{Outcome: robots.Outcome{Effect: robots.NoRecord, Capture: -1}},
			`{"origin":"o","source":null,"url":null,"outcome":"no_record","status":null,"error":null,"fetched_at":null,"size":null,"truncated":null,`,
		},
		{
			listings.Listing{
				Outcome:  robots.Outcome{Effect: robots.AllowAll, Cause: robots.CauseStatus4xx},
				Response: robots.Response{Origin: "p", URL: "https://o.example/r", Name: "w.warc", Status: 404, FetchedAt: at, Size: 7},
			},
			`{"origin":"o","source":"w.warc","url":"https://o.example/r","outcome":"status_4xx","status":404,"error":null,"fetched_at":"2024-01-02T03:04:05Z","size":7,"truncated":false,`,
		},
		{
			listings.Listing{
				Outcome:  robots.Outcome{Effect: robots.DisallowAll, Cause: robots.CauseUnreachable},
				Response: robots.Response{Origin: "o", Name: "<\xff>", Error: "refused"},
			},
			`{"origin":"o","source":"<%FF>","url":"o/robots.txt","outcome":"unreachable","status":null,"error":"refused","fetched_at":null,"size":0,"truncated":false,`,
		},
	} {
		tt.l.Origin = "o"
		want := tt.want + `"item":"robots_txt","group_id":null,"agents":null,"line":null,"code":null,"value":null}` + "\n"
		if got := string(writeList(t, "x.jsonl", Options{}, &tt.l)); got != want {
			t.Errorf("got  %swant %s", got, want)
		}
	}
}

// TestListParquet compares the rows of both formats, over several row groups.
func TestListParquet(t *testing.T) {
	var all []*listings.Listing
	for i := range 8000 {
		all = append(all, listed(robots.Origin("https://"+strconv.Itoa(i)+".example"), listedBody))
		all = append(all, &listings.Listing{Origin: "https://none.example", Outcome: robots.Outcome{Capture: -1}})
	}
	opt := Options{Dialect: robots.Yandex, Version: "v1", Metadata: [][2]string{{"k", "v"}}}
	c := parquettest.Read(t, writeList(t, "x.parquet", opt, all...))
	if c.Groups < 2 {
		t.Errorf("%d row groups, want several", c.Groups)
	}
	for key, want := range map[string]string{output.KeyVersion: "v1", output.KeyDialect: "yandex", "k": "v"} {
		if c.Metadata[key] != want {
			t.Errorf("metadata %s is %q, want %q", key, c.Metadata[key], want)
		}
	}
	n := 0
	for line := range bytes.Lines(writeList(t, "x.jsonl", opt, all...)) {
		var o map[string]any
		if err := json.Unmarshal(line, &o); err != nil {
			t.Fatal(err)
		}
		if len(o) != len(c.Columns) {
			t.Fatalf("%d members, %d columns", len(o), len(c.Columns))
		}
		for i, name := range c.Columns {
			if got := asJSON(name, c.Rows[n][i]); got != o[name] {
				t.Fatalf("row %d: %s is %v in Parquet, %v in JSON", n, name, got, o[name])
			}
		}
		n++
	}
	if n != len(c.Rows) {
		t.Errorf("%d rows as JSON, %d as Parquet", n, len(c.Rows))
	}
}

// asJSON converts a Parquet value to its form in JSON.
func asJSON(name string, v any) any {
	switch v := v.(type) {
	case int32:
		return float64(v)
	case int64:
		if name == "fetched_at" {
			return time.UnixMicro(v).UTC().Format(time.RFC3339Nano)
		}
		return float64(v)
	}
	return v
}

// TestListGroupBytes checks that a row group also ends when it takes too much memory.
func TestListGroupBytes(t *testing.T) {
	var all []*listings.Listing
	for range 100 {
		all = append(all, listed("https://a.example", "Sitemap: https://a.example/"+strings.Repeat("s", 400_000)))
	}
	if c := parquettest.Read(t, writeList(t, "x.parquet", Options{}, all...)); c.Groups < 2 || len(c.Rows) != 200 {
		t.Errorf("%d row groups, %d rows", c.Groups, len(c.Rows))
	}
}

// TestListTimes checks that a time that JSON cannot represent is null in both formats.
func TestListTimes(t *testing.T) {
	for _, at := range []time.Time{{}, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)} {
		l := listed("https://a.example", "")
		l.Response.FetchedAt = at
		if data := writeList(t, "x.jsonl", Options{}, l); !strings.Contains(string(data), `"fetched_at":null`) {
			t.Errorf("%v: %s", at, data)
		}
		if c := parquettest.Read(t, writeList(t, "x.parquet", Options{}, l)); c.Rows[0][6] != nil {
			t.Errorf("%v: %v", at, c.Rows[0])
		}
	}
}

// TestListRepeated checks that each row of a group has the group's names, unless that would take too many bytes.
func TestListRepeated(t *testing.T) {
	body := strings.Repeat("User-agent: "+strings.Repeat("x", 1000)+"\n", 100) + strings.Repeat("Disallow: /a\n", 20000)
	data := writeList(t, "x.jsonl", Options{}, listed("o", body))
	if rows := bytes.Count(data, []byte("\n")); rows < 20000 || len(data) > 100*len(body) {
		t.Errorf("%d bytes in %d rows for %d bytes", len(data), rows, len(body))
	}
	if !strings.Contains(string(data), `"item":"group","group_id":1,"agents":"xxx`) {
		t.Error("the row of the group lacks the names")
	}
}

// TestListFaults checks that a listing that failed or was dropped leaves no file, and does not replace an older one.
func TestListFaults(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x.parquet")
	if err := os.WriteFile(name, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Create(name, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(listed("o", listedBody)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got := contentsOf(t, name); got != "old" || len(names(t, dir)) != 1 {
		t.Errorf("%q, %v left", got, names(t, dir))
	}
	if _, err := Create(filepath.Join(dir, "no", "x.parquet"), nil, Options{}); !errors.Is(err, atomicfile.ErrNoDirectory) {
		t.Errorf("missing directory: %v", err)
	}
	if _, err := FormatOf("x.csv"); !errors.Is(err, ErrFormat) {
		t.Errorf("x.csv: %v", err)
	}
	for _, format := range []Format{Parquet, JSON} {
		f, err := Create("-", failing{}, Options{Format: format})
		if err == nil {
			err = errors.Join(f.Write(listed("o", listedBody)), f.Commit())
		}
		if fe, ok := errors.AsType[*atomicfile.Error](err); !ok || !errors.Is(fe, syscall.EPIPE) {
			t.Errorf("format %d to a closed pipe: %v", format, err)
		}
	}
}

// failing is a pipe that nobody reads.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// TestListSameBytes checks that equal listings have equal bytes. The column has too many values for a dictionary; in
// an earlier version, the footer then listed its two encodings in random order.
func TestListSameBytes(t *testing.T) {
	var all []*listings.Listing
	for i := range 2000 {
		body := fmt.Sprintf("User-agent: *\nDisallow: /%d/%s\n", i, strings.Repeat("x", 1000))
		all = append(all, listed(robots.Origin("https://"+strconv.Itoa(i)+".example"), body))
	}
	first := writeList(t, "x.parquet", Options{}, all...)
	for range 8 {
		if !bytes.Equal(writeList(t, "x.parquet", Options{}, all...), first) {
			t.Fatal("the same listing has other bytes")
		}
	}
}
