package aggregate

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// addTo adds a row to requests.
func addTo(t *testing.T, r *Requests, url string, kind int32, variant uint64, one RowCounts, page uint32) {
	t.Helper()
	key := Hash(fmt.Append(nil, url, " ", kind, " ", variant))
	r.Probe(key)
	q := r.Find(key)
	if q == nil {
		var err error
		prefix := strings.IndexByte(url[8:], '/') + 8
		if q, err = r.AddRequest(key, kind, Place{URL: []byte(url), Prefix: prefix, Site: 3, Variant: variant}); err != nil {
			t.Fatal(err)
		}
	}
	r.AddRow(q, &one, page)
}

// TestRequests compares requests with a map: in memory, and on disk where runs are merged once or several times.
func TestRequests(t *testing.T) {
	for rows, spilled := range map[int]bool{500: false, 60_000: true, 300_000: true} {
		rng, dir := rand.New(rand.NewPCG(uint64(rows), 30)), t.TempDir()
		r := NewRequests(1, dir)
		want, urls, pages, least := map[string]RowCounts{}, map[string]bool{}, map[string]uint32{}, map[string]uint32{}
		for range rows {
			n := rng.IntN(1 + rng.IntN(rows))
			end := []string{"", "?", "#x", "?a=/b", "/", "/!", "?\x00"}[rng.IntN(7)]
			url := fmt.Sprintf("https://%d.example/%s/%x%s", n%3, strings.Repeat("dir/", n%4), n/3, end)
			kind, variant := int32(rng.IntN(3)), uint64(rng.IntN(40)/39)*77
			one := RowCounts{1, int64(rng.IntN(2)), int64(rng.IntN(2)), int64(rng.IntN(2)), int64(rng.IntN(1000)), uint32(rng.IntN(2)), uint32(rng.IntN(2))}
			key := fmt.Sprint(url, " ", variant, " ", kind)
			sum := want[key]
			sum.AddCounts(&one)
			want[key], urls[fmt.Sprint(url, " ", variant)] = sum, true
			page := uint32(rng.IntN(3) * rng.IntN(1000))
			if page > 0 {
				pages[key] = min(page, cmp.Or(pages[key], page))
			}
			addTo(t, r, url, kind, variant, one, page)
		}
		if r.Spilled() != spilled {
			t.Fatalf("%d rows: on disk is %t", rows, r.Spilled())
		}
		got, number, paths, last := map[string]RowCounts{}, int64(0), map[string]bool{}, ""
		err := r.EachURL(func(u *URL) {
			number++
			if u.Number != number || u.Site != 3 || u.PathEnd > len(u.Text) || bytes.ContainsAny(u.Text[:u.PathEnd], "?#") {
				t.Fatalf("number %d is %+v", number, u)
			}
			if path := string(u.Text[:u.PathEnd]); path != last {
				if last = path; paths[path] {
					t.Fatalf("%q came before", path)
				}
				paths[path] = true
			}
			for i := range u.Requests {
				q := &u.Requests[i]
				key := fmt.Sprint(string(u.Text), " ", u.variant, " ", q.Kind)
				if got[key] = q.RowCounts; q.Page > 0 {
					least[key] = q.Page
				}
				if i > 0 && q.Kind <= u.Requests[i-1].Kind {
					t.Fatalf("kind %d follows %d", q.Kind, u.Requests[i-1].Kind)
				}
			}
		})
		if err != nil || !maps.Equal(got, want) || !maps.Equal(least, pages) || number != int64(len(urls)) {
			t.Fatalf("%d rows: %d requests of %d URLs, want %d of %d; %v", rows, len(got), number, len(want), len(urls), err)
		}
		r.Close()
		r.Close()
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left %v, %v", left, err)
		}
	}
}

// TestSorted compares the order of requests with a sort by whole URLs. The paths have few letters, share their first
// bytes, end at multiples of eight bytes, and contain zero bytes.
func TestSorted(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 26))
	for round := range 600 {
		r, letters, added := NewRequests(1, t.TempDir()), "ab/!", map[string]int{}
		if round%3 == 0 {
			letters = "a\x00/?#"
		}
		for n := range int32(1 + rng.IntN(900)) {
			url := fmt.Appendf(nil, "https://%c.example", 'a'+rng.IntN(3))
			prefix := len(url)
			url = append(url, "/same/for/all"[:rng.IntN(14)]...)
			for range rng.IntN(24) {
				url = append(url, letters[rng.IntN(len(letters))])
			}
			if rng.IntN(2) == 0 {
				url = append(url, "?aa#?"[:1+rng.IntN(5)]...)
			}
			place := Place{URL: url, Prefix: prefix, Variant: uint64(rng.IntN(2))}
			if _, err := r.AddRequest(rng.Uint64(), n%4, place); err != nil {
				t.Fatal(err)
			}
			added[fmt.Sprint(string(url), " ", place.Variant, " ", n%4)]++
		}
		var last Request
		var lastURL []byte
		seen := map[string]int{}
		for q, url := range r.inOrder() {
			if lastURL != nil && compareRequests(&last, q, lastURL, url) > 0 {
				t.Fatalf("%q comes before %q", lastURL, url)
			}
			last, lastURL = *q, slices.Clone(url)
			seen[fmt.Sprint(string(url), " ", q.variant, " ", q.Kind)]--
		}
		for key, n := range added {
			if seen[key] != -n {
				t.Fatalf("%s occurs %d times, want %d", key, -seen[key], n)
			}
		}
		r.Close()
	}
}

// TestRequestsNoDisk checks that a full disk is reported as an error and no request is lost silently.
func TestRequestsNoDisk(t *testing.T) {
	r := NewRequests(1, t.TempDir()+"/none")
	defer r.Close()
	for i := range int32(leastRequests + 1) {
		_, err := r.AddRequest(uint64(i)*0x9E3779B97F4A7C15, i, Place{URL: []byte("https://a.example/"), Prefix: 17})
		if (err != nil) != (i == leastRequests) {
			t.Fatalf("request %d: %v", i, err)
		}
	}
}

// TestBadRun checks that a truncated block is an error.
func TestBadRun(t *testing.T) {
	w := &requestWriter{}
	url := []byte("https://a.example/path")
	if err := w.write(&Request{RowCounts: RowCounts{Rows: 300}, Kind: 7, prefix: 17, pathEnd: 22}, url); err != nil {
		t.Fatal(err)
	}
	whole := slices.Clone(w.block)
	c := &requestCursor{}
	if err := c.Load(whole); err != nil || c.request.Rows != 300 || c.request.Kind != 7 || string(c.url) != string(url) {
		t.Fatalf("%+v, %v", c, err)
	}
	for n := 1; n < len(whole); n++ {
		if err := new(requestCursor).Load(whole[:n]); err == nil {
			t.Errorf("the first %d of %d bytes give no error", n, len(whole))
		}
	}
}

// TestURLCount adds one URL several times in a row, which must count as one.
func TestURLCount(t *testing.T) {
	var c URLCount
	for _, n := range []int64{1, 1, 2, 5, 5} {
		c.AddURL(n)
	}
	if c.N != 3 {
		t.Errorf("%d URLs, want 3", c.N)
	}
}

// TestTopOrder checks that counts of requests sort URLs, whatever their order was before.
func TestTopOrder(t *testing.T) {
	var top Top[int]
	var g Group
	none := func() int { return 0 }
	top.Offer([]byte("/a"), 1, 2, none)
	top.Offer([]byte("/b"), 2, 1, none)
	top.setRequests(map[PairKey]int64{KeyOf(g, 1): 2, KeyOf(g, 2): 3}, g)
	if all := top.Examples(); all[0].URL != "/b" {
		t.Errorf("%+v", all)
	}
}
