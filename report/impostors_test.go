package report

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/report/internal/impostors"
	"github.com/robobatch/robobatch/robots"
)

// A sent is a request, with the address of its sender and the size of the response in bytes.
type sent struct {
	fetch
	client string
	bytes  int64 // negative is not known
}

// sentSource yields them.
type sentSource struct {
	all  []sent
	most int // of a batch
}

func (s *sentSource) Next(b *engine.Batch) bool {
	n := min(s.most, len(s.all))
	plain := &source{most: n}
	for _, f := range s.all[:n] {
		plain.all = append(plain.all, f.fetch)
	}
	if !plain.Next(b) {
		return false
	}
	b.Kept = append(b.Kept[:1], engine.Kept{Kind: engine.KeptInt})
	for _, f := range s.all[:n] {
		span := engine.NoURL
		if f.client != "" {
			span = engine.Span{Off: uint32(len(b.Data)), Len: uint32(len(f.client))}
		}
		b.Clients = append(b.Clients, span)
		b.Data = append(b.Data, f.client...)
		b.Kept[1].Ints, b.Kept[1].Present = append(b.Kept[1].Ints, f.bytes), append(b.Kept[1].Present, f.bytes >= 0)
	}
	s.all = s.all[n:]
	return true
}

func (s *sentSource) Err() error   { return nil }
func (s *sentSource) Close() error { return nil }

// sentRows returns made-up requests of crawlers, and of impostors in many networks.
func sentRows(rng *rand.Rand, number int) (all []sent) {
	for _, f := range fetches(rng, number) {
		n := rng.IntN(1 + rng.IntN(150))
		client := []string{
			"66.249.64." + spelt(n % 30)[5:], fmt.Sprintf("45.90.%d.%d", n, rng.IntN(256)), fmt.Sprintf("2a0e:97c0:%x::%x", n, rng.IntN(256)),
			"45.90.1.7", "10.0.0.1", "-", "", "::ffff:45.90.1.9", "[2a0e:97c0:1:7::1]:443", fmt.Sprintf("45.90.1.%d:80", rng.IntN(256)),
		}[rng.IntN(10)]
		if rng.IntN(500) == 0 {
			f.url = "https://a.example/p/" + strings.Repeat("x", 5000) + strconv.Itoa(rng.IntN(3))
		}
		all = append(all, sent{f, client, []int64{-1, 0, 1000, 1 << 52, 77}[rng.IntN(5)]})
	}
	return all
}

// tookSlowly counts the requests of impostors one by one: by network, by crawler name, and by URL.
func tookSlowly(all []sent) (networks, names, urls map[string]impostors.Count, used map[string]map[string]int64, netURLs map[string]map[string]bool) {
	networks, names, urls = map[string]impostors.Count{}, map[string]impostors.Count{}, map[string]impostors.Count{}
	used, netURLs = map[string]map[string]int64{}, map[string]map[string]bool{}
	list := netip.MustParsePrefix("66.249.64.0/27")
	for _, f := range all {
		name := []string{"bingbot", "Googlebot", "", ""}[slices.Index(clients, f.userAgent)]
		text := strings.TrimSuffix(strings.TrimPrefix(f.client, "["), "]:443")
		if strings.Count(text, ":") == 1 {
			text, _, _ = strings.Cut(text, ":")
		}
		addr, err := netip.ParseAddr(text)
		if name != "Googlebot" || err != nil || addr.IsPrivate() { // no list is of the others
			continue
		}
		addr = addr.Unmap()
		if list.Contains(addr) {
			continue
		}
		bits := 24
		if addr.Is6() {
			bits = 48
		}
		network := netip.PrefixFrom(addr, bits).Masked().String()
		one := impostors.Count{Requests: 1}
		if f.bytes > 0 && f.bytes < maxBytes {
			one.Bytes = f.bytes
		}
		u, errURL := robots.SplitURL([]byte(f.url))
		if errURL == nil {
			origin, _ := robots.AppendOrigin(nil, u)
			rules, _ := robots.Parse([]byte(sites[robots.Origin(origin)]), robots.Google).Select(robots.NewAgent(name, robots.Google))
			path, _ := robots.Google.Path(u.Path, nil)
			if n := robots.Decide(rules, path, robots.Google); n >= 0 && !rules[n].Allow {
				one.Denied = 1
			}
			urls[f.url] = plus(urls[f.url], one)
		}
		networks[network], names[name] = plus(networks[network], one), plus(names[name], one)
		if used[network] == nil {
			used[network], netURLs[network] = map[string]int64{}, map[string]bool{}
		}
		used[network][name]++
		netURLs[network][f.url] = true
	}
	return networks, names, urls, used, netURLs
}

// plus returns a sum.
func plus(a, b impostors.Count) impostors.Count {
	return impostors.Count{Requests: a.Requests + b.Requests, Denied: a.Denied + b.Denied, Bytes: a.Bytes + b.Bytes}
}

// listsOf returns a list of Googlebot.
func listsOf(t *testing.T) *ranges.Lists {
	t.Helper()
	name := filepath.Join(t.TempDir(), "googlebot.json")
	text := `{"creationTime": "2026-01-05T23:00:00Z", "prefixes": [{"ipv4Prefix": "66.249.64.0/27"}]}`
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	lists, err := ranges.Load(ranges.Options{Paths: []string{name}})
	if err != nil {
		t.Fatal(err)
	}
	return lists
}

// TestImpostors compares all numbers about impostors with slow counts. It checks that the requests of crawlers and of
// impostors add up, and that the page does not depend on memory and number of workers.
func TestImpostors(t *testing.T) {
	lists, all := listsOf(t), sentRows(rand.New(rand.NewPCG(7, 31)), 12_000)
	networks, names, urls, used, netURLs := tookSlowly(all)
	sum := int64(0)
	for _, f := range all {
		if _, err := robots.SplitURL([]byte(f.url)); err == nil && f.bytes < maxBytes {
			sum += max(0, f.bytes)
		}
	}
	var pages [3]string
	for i, memory := range []int64{0, 1 << 18, 1 << 20} {
		store, err := engine.BuildStore(responses(sites), engine.StoreOptions{Dialect: robots.Google, LogAgents: engine.LogAgentsStar, Ranges: lists})
		if err != nil {
			t.Fatal(err)
		}
		c := NewCounter(store, Options{Memory: memory, Status: 1, Bytes: 2, TempDir: t.TempDir()})
		stats, err := engine.Run(t.Context(), store, &sentSource{all, 100 + 900*i}, c, engine.Options{Workers: 1 + i})
		if err != nil {
			t.Fatal(err)
		}
		settle(t, c)
		if c.log.Bytes != sum {
			t.Errorf("the responses have %d bytes in total, want %d", c.log.Bytes, sum)
		}
		v := c.newView(&Run{Stats: stats})
		if memory == 1<<18 && !v.Impostors.Spilled {
			t.Error("no impostor went to disk")
		}
		checkImpostors(t, v.Impostors, networks, used, netURLs)
		for _, n := range v.Impostors.Names {
			if n.Count != names[n.Name] || n.Networks != int64(len(networks)) {
				t.Errorf("%s: %+v, want %+v", n.Name, n, names[n.Name])
			}
		}
		if len(v.Impostors.Names) != len(names) || !v.Impostors.HasBytes || v.Impostors.URLs != int64(len(urls)) {
			t.Errorf("%d names and %d URLs, want %d and %d", len(v.Impostors.Names), v.Impostors.URLs, len(names), len(urls))
		}
		checkTaken(t, v.Impostors.Taken, urls)
		checkVerified(t, v)
		var page bytes.Buffer
		if err := Write(&page, c, &Run{Stats: stats}); err != nil {
			t.Fatal(err)
		}
		pages[i] = page.String()
	}
	if pages[0] != pages[1] || pages[0] != pages[2] {
		t.Error("the page depends on the memory or the workers")
	}
	if strings.Contains(pages[0], "Anyone can send") || !strings.Contains(pages[0], `<section id="impostors"`) {
		t.Error("the page does not show which requests were verified")
	}
}

// checkImpostors compares networks.
func checkImpostors(t *testing.T, v *impostors.View, networks map[string]impostors.Count, used map[string]map[string]int64, urls map[string]map[string]bool) {
	t.Helper()
	var sum impostors.Count
	for _, n := range networks {
		sum = plus(sum, n)
	}
	if v.All != sum || v.Number != int64(len(networks)) || v.More() != int64(len(networks)-len(v.Networks)) || v.More() == 0 {
		t.Errorf("%+v in %d networks, want %+v in %d", v.All, v.Number, sum, len(networks))
	}
	least := int64(0)
	for _, n := range v.Networks {
		if n.Count != networks[n.Prefix] || n.URLs != int64(len(urls[n.Prefix])) {
			t.Errorf("%s: %+v, want %+v, %d URLs", n.Prefix, n, networks[n.Prefix], len(urls[n.Prefix]))
		}
		for _, name := range n.Names {
			if name.Requests != used[n.Prefix][name.Name] {
				t.Errorf("%s: %s %d, want %d", n.Prefix, name.Name, name.Requests, used[n.Prefix][name.Name])
			}
		}
		if len(n.Busiest) == 0 || n.Busiest[0].Requests > n.Requests {
			t.Errorf("%s: took most %+v", n.Prefix, n.Busiest)
		}
		least = n.Requests
	}
	for prefix, n := range networks {
		if n.Requests > least && !slices.ContainsFunc(v.Networks, func(o impostors.Network) bool { return o.Prefix == prefix }) {
			t.Errorf("%s is not shown, but sent %d requests", prefix, n.Requests)
		}
	}
}

// checkTaken compares the URLs that impostors requested most.
func checkTaken(t *testing.T, taken []impostors.URL, urls map[string]impostors.Count) {
	t.Helper()
	var busiest []int64
	for _, n := range urls {
		busiest = append(busiest, n.Requests)
	}
	slices.SortFunc(busiest, func(a, b int64) int { return cmp.Compare(b, a) })
	for i, u := range taken {
		if u.Requests != busiest[i] || u.Count != urls[u.Text] && !strings.HasSuffix(u.Text, "…") {
			t.Errorf("%.99s: %+v, want %+v with %d requests", u.Text, u.Count, urls[u.Text], busiest[i])
		}
	}
	if len(taken) != min(len(urls), 50) {
		t.Errorf("%d URLs of %d", len(taken), len(urls))
	}
}

// checkVerified checks that the parts of each row of crawlers add up, and that the impostors of all crawlers add up
// to those of the panel.
func checkVerified(t *testing.T, v *view) {
	t.Helper()
	var fakes impostors.Count
	for _, row := range append(v.Verified, *v.VerifiedSum) {
		sum := engine.VerifiedCount{}
		for _, part := range row.Came() {
			sum.Rows, sum.Denied = sum.Rows+part.Rows, sum.Denied+part.Denied
		}
		if sum.Rows != row.Requests || sum.Denied != row.Denied {
			t.Errorf("%s: %+v, want %d and %d", row.Name, sum, row.Requests, row.Denied)
		}
		if row.Name != v.VerifiedSum.Name {
			fakes = plus(fakes, impostors.Count{Requests: row.Came()[1].Rows, Denied: row.Came()[1].Denied})
		}
	}
	if all := v.Impostors.All; fakes.Requests != all.Requests || fakes.Denied != all.Denied || int64(len(v.Verified)) != v.Known() {
		t.Errorf("%+v in the table, and %+v in the panel; %d rows", fakes, all, len(v.Verified))
	}
}
