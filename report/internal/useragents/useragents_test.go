package useragents

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/crawlers"
)

// A row is a request of a test.
type row struct {
	header string
	denied bool
}

// rows returns made-up requests of browsers, of crawlers, with names in several spellings, with headers that are
// longer than the part that is kept, with invalid UTF-8, and without a header.
func rows(rng *rand.Rand, number int) (all []row) {
	for range number {
		n := rng.IntN(1 + rng.IntN(300))
		header := []string{
			"Mozilla/5.0 (X11) Firefox/" + strconv.Itoa(n), "FooBot/1." + strconv.Itoa(n), "foobot (https://example.com/" + strconv.Itoa(n) + ")",
			fmt.Sprintf("Botty%d/1.0", n%30), fmt.Sprintf("Fetchy%dx (a@example.com)", n%50), "bot http://example.com/" + strconv.Itoa(n%9), "",
			"ab abX", "ab", strings.Repeat("x", maxHeader) + strconv.Itoa(n%5), strings.Repeat("y", maxHeader-3) + strconv.Itoa(n%5) + "Bot",
			strings.Repeat("z ", 600) + "LateBot" + strconv.Itoa(n%3), "\x00\xff<script>" + strconv.Itoa(n%3) + " É bot", "foobot foobot ab",
		}[rng.IntN(14)]
		all = append(all, row{header, rng.IntN(3) == 0})
	}
	return all
}

// slowly counts the rows one by one, in maps.
func slowly(all []row) (v View, headers map[string]Count, names map[string]*Suspect) {
	headers, names = map[string]Count{}, map[string]*Suspect{}
	for _, r := range all {
		v.All.addRequests(1, r.denied)
		if r.header == "" {
			v.None.addRequests(1, r.denied)
			continue
		}
		c := headers[r.header]
		c.addRequests(1, r.denied)
		headers[r.header] = c
	}
	v.Headers = int64(len(headers))
	for header, c := range headers {
		name, is := crawlers.Suspect([]byte(header))
		switch key := strings.ToLower(string(name)); {
		case key != "":
			if names[key] == nil {
				names[key] = &Suspect{}
			}
			names[key].addCount(c)
			names[key].Headers++
			names[key].Busiest.Requests = max(names[key].Busiest.Requests, c.Requests)
			v.Named.addCount(c)
		case is:
			v.Unnamed.addCount(c)
		}
	}
	v.Names = int64(len(names))
	return v, headers, names
}

// shown returns a header in the form that the view shows.
func shown(header string) string {
	if len(header) > maxHeader {
		return header[:maxHeader] + "…"
	}
	return header
}

// TestCounts compares all numbers with slow counts: with headers in memory, with headers on disk, and in another
// order.
func TestCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 31))
	for round := range 6 {
		all := rows(rng, []int{0, 1, 40, 3000, 9000, 9000}[round])
		sums, headers, names := slowly(all)
		var views []*View
		for i, memory := range []int64{1, 0, 0} {
			if i == 2 {
				rng.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
			}
			v := counted(t, all, memory)
			check(t, v, sums, headers, names)
			views = append(views, v)
		}
		if !reflect.DeepEqual(views[0], views[1]) || !reflect.DeepEqual(views[0], views[2]) {
			t.Error("the view depends on the memory, or on the order")
		}
	}
}

// counted returns the view of rows.
func counted(t *testing.T, all []row, memory int64) *View {
	t.Helper()
	c := New(memory, t.TempDir())
	defer c.Close()
	for _, r := range all {
		if err := c.AddRow([]byte(r.header), r.denied); err != nil {
			t.Fatal(err)
		}
	}
	if len(all) >= 9000 && c.requests.Spilled() != (memory > 0) {
		t.Fatalf("with %d bytes of memory: on disk is %t", memory, c.requests.Spilled())
	}
	v, err := c.View()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// check compares a view with slow counts.
func check(t *testing.T, v *View, sums View, headers map[string]Count, names map[string]*Suspect) {
	t.Helper()
	sums.Busiest, sums.Suspects, sums.Listed = v.Busiest, v.Suspects, Count{}
	for _, s := range v.Suspects {
		sums.Listed.addCount(s.Count)
	}
	if !reflect.DeepEqual(*v, sums) {
		t.Errorf("%+v, want %+v", *v, sums)
	}
	byShown, busiest := map[string][]Count{}, []int64{}
	for header, c := range headers {
		byShown[shown(header)] = append(byShown[shown(header)], c)
		busiest = append(busiest, c.Requests)
	}
	slices.SortFunc(busiest, func(a, b int64) int { return cmp.Compare(b, a) })
	if len(v.Busiest) != min(shownHeaders, len(headers)) || len(v.Suspects) != min(shownSuspects, len(names)) {
		t.Fatalf("%d headers and %d names are shown, of %d and %d", len(v.Busiest), len(v.Suspects), len(headers), len(names))
	}
	for i, h := range v.Busiest {
		if h.Requests != busiest[i] || !slices.Contains(byShown[h.Text], h.Count) {
			t.Errorf("%.99q: %+v, want %v with %d requests", h.Text, h.Count, byShown[h.Text], busiest[i])
		}
	}
	least := int64(0)
	for _, s := range v.Suspects {
		want := names[strings.ToLower(s.Name)]
		if want == nil || s.Count != want.Count || s.Headers != want.Headers || !slices.Contains(byShown[s.Busiest.Text], s.Busiest.Count) {
			t.Errorf("%s: %+v, want %+v", s.Name, s, want)
		}
		if s.Busiest.Requests != want.Busiest.Requests {
			t.Errorf("%s: %.99q has %d requests, but a header that is not shown has %d", s.Name, s.Busiest.Text, s.Busiest.Requests, want.Busiest.Requests)
		}
		least = s.Requests
	}
	for name, s := range names {
		if s.Requests > least && !slices.ContainsFunc(v.Suspects, func(o Suspect) bool { return strings.EqualFold(o.Name, name) }) {
			t.Errorf("%s is not shown, but has %d requests", name, s.Requests)
		}
	}
}

// TestLines checks that the lines are a table of crawlers that contains all the names.
func TestLines(t *testing.T) {
	v := counted(t, rows(rand.New(rand.NewPCG(5, 31)), 3000), 0)
	lines := v.Lines()
	if len(lines) != 1+shownSuspects || lines[0] != "token" || v.More() != v.Names-shownSuspects || v.More() == 0 {
		t.Errorf("%d lines, %d more: %q", len(lines), v.More(), lines)
	}
	for i, name := range lines[1:] {
		if name != v.Suspects[i].Name {
			t.Errorf("line %d is %q, want %q", i+2, name, v.Suspects[i].Name)
		}
	}
	if lines := (&View{}).Lines(); lines != nil {
		t.Errorf("there are no suspects, but these lines: %q", lines)
	}
}

// TestDistinct checks that long headers that all differ go to disk, and are counted exactly.
func TestDistinct(t *testing.T) {
	c := New(1<<20, t.TempDir())
	defer c.Close()
	const number = 20_000
	for i := range number {
		header := fmt.Appendf(nil, "Botty%06d/1.0 %s%06d", i, strings.Repeat("é", 2000), i)
		if err := c.AddRow(header, false); err != nil {
			t.Fatal(err)
		}
	}
	v, err := c.View()
	if err != nil {
		t.Fatal(err)
	}
	if !c.requests.Spilled() || v.Headers != number || v.Names != number || v.Named.Requests != number || len(v.Suspects) != shownSuspects {
		t.Errorf("%d headers and %d names, want %d headers", v.Headers, v.Names, number)
	}
}

// TestAllocations checks that a request with a known header allocates nothing.
func TestAllocations(t *testing.T) {
	c := New(0, t.TempDir())
	defer c.Close()
	header := []byte("FooBot/1.0 (+https://example.com/)")
	add := func() {
		if err := c.AddRow(header, false); err != nil {
			t.Fatal(err)
		}
	}
	add()
	if n := testing.AllocsPerRun(100, add); n > 0 {
		t.Errorf("%g allocations", n)
	}
}
