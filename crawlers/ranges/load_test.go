package ranges

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/internal/testdata/repcase"
)

// load loads files that a test has written below dir.
func load(t *testing.T, files map[string]string, o Options) (*Lists, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i, p := range o.Paths {
		token, file, named := strings.Cut(p, "=")
		if o.Paths[i] = filepath.Join(dir, p); named {
			o.Paths[i] = token + "=" + filepath.Join(dir, file)
		}
	}
	if o.Hosts != "" {
		o.Hosts = filepath.Join(dir, o.Hosts)
	}
	return Load(o)
}

// answerFor returns an answer and its proof as in the columns.
func answerFor(l *Lists, token, client, day string) string {
	at := int64(NoTime)
	if t, err := time.Parse(time.DateOnly, day); err == nil {
		at = t.UnixMicro()
	}
	a, proof := l.Verify(l.Speaker(token), netip.MustParseAddr(client), at)
	return strings.TrimSpace(a.String() + " " + l.ProofName(proof))
}

// TestNames checks the crawlers of files according to their names and directories.
func TestNames(t *testing.T) {
	const list = "66.249.64.0/27\n"
	for name, want := range map[string]string{
		"googlebot.json": "Googlebot GoogleOther", "common-crawlers.txt": "Googlebot Storebot-Google", "special-crawlers.json": "AdsBot-Google",
		"gptbot.json": "GPTBot", "GPTBot.JSON": "GPTBot", "searchbot.json": "OAI-SearchBot", "oai-searchbot.json": "OAI-SearchBot",
		"anthropic/bots.json": "ClaudeBot Claude-User Claude-SearchBot", "anthropic/2026-08-15/bots.json": "ClaudeBot", "claudebot.json": "ClaudeBot Claude-User",
		"2026-08-15/ahrefsbot.json": "AhrefsBot AhrefsSiteAudit", "serankingbot.txt": "SEBot-WA", "kagibot.json": "Kagibot", "bytespider.txt": "Bytespider",
	} {
		l, err := load(t, map[string]string{name: list}, Options{Paths: []string{name}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for token := range strings.FieldsSeq(want) {
			if got := answerFor(l, token, "66.249.64.1", "-"); !strings.HasPrefix(got, "yes ") {
				t.Errorf("%s: %s is %q", name, token, got)
			}
		}
		if got := answerFor(l, "Bravebot", "66.249.64.1", "-"); got != "unpublished" {
			t.Errorf("%s: Bravebot is %q", name, got)
		}
	}
	for _, name := range []string{"bots.json", "aws.json", "google/bots.json"} {
		_, err := load(t, map[string]string{name: list}, Options{Paths: []string{name}})
		if err == nil || !strings.Contains(err.Error(), "googlebot") || !strings.Contains(err.Error(), "anthropic/bots") || !strings.Contains(err.Error(), "TOKEN=") {
			t.Errorf("%s: %v: the error does not list the names", name, err)
		}
	}
}

// TestSharedNames reads the lists of 17 crawlers from three dates.
func TestSharedNames(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(repcase.SharedDir(t), "data", "ranges", "*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("%v, %v", dirs, err)
	}
	l, err := Load(Options{Paths: dirs})
	if err != nil || len(l.lists) != 17 || len(l.Differ) > 0 {
		t.Errorf("%d lists, %v, %v", len(l.lists), l.Differ, err)
	}
}

// TestLoad reads directories, dates, tokens and faults.
func TestLoad(t *testing.T) {
	files := map[string]string{
		"r/2026-04-12/gptbot.txt": "4.227.36.0/25\n", "r/2026-08-15/gptbot.txt": "20.125.66.80/28\n",
		"r/README.md": "lists", "r/.git/x.json": "{}", "own/list.txt": "# created: 2026-08-01\n8.8.8.0/24\n",
		"split/2026-04-12/gptbot.txt": "1.0.0.0/8\n2.0.0.0/8\n", "split/2026-08-15/gptbot.txt": "3.0.0.0/8\n", "wide/gptbot.txt": "0.0.0.0/1\n128.0.0.0/1\n",
		"bad/gptbot.json": "<html>", "bad/what.json": "[]", "empty/x.md": "",
		"same/googlebot.json": `{"creationTime": "2026-08-15T00:00:00", "prefixes": [{"ipv4Prefix": "66.249.64.0/27"}]}`,
		"same/googlebot.txt":  "# created: 2026-08-15\n66.249.66.0/27\n",
	}
	l, err := load(t, files, Options{Paths: []string{"r", "Myownbot=own/list.txt", "same"}})
	if err != nil {
		t.Fatal(err)
	}
	for question, want := range map[[3]string]string{
		{"GPTBot", "4.227.36.1", "2026-04-12"}:      "yes gptbot.txt 4.227.36.0/25",
		{"GPTBot", "4.227.36.1", "2026-08-15"}:      "no", // the list from April is 125 days old
		{"GPTBot", "4.227.36.1", "2026-07-01"}:      "yes gptbot.txt 4.227.36.0/25",
		{"GPTBot", "4.227.36.1", "2026-07-20"}:      "stale",
		{"GPTBot", "20.125.66.81", "2026-05-20"}:    "yes gptbot.txt 20.125.66.80/28",
		{"GPTBot", "20.125.66.81", "2026-04-13"}:    "no",
		{"GPTBot", "1.1.1.1", "2027-08-15"}:         "stale",
		{"GPTBot", "1.1.1.1", "2026-08-08"}:         "no", // a directory named by a day means the start of that day, 7 days later
		{"GPTBot", "1.1.1.1", "2026-08-07"}:         "stale",
		{"GPTBot", "::ffff:4.227.36.1", "-"}:        "yes gptbot.txt 4.227.36.0/25",
		{"GPTBot", "10.0.0.1", "2026-08-15"}:        "",
		{"MYOWNBOT", "8.8.8.8", "2026-08-02"}:       "yes list.txt 8.8.8.0/24",
		{"Googlebot", "66.249.66.1", "2026-08-15"}:  "yes googlebot.txt 66.249.66.0/27",
		{"Googlebot", "66.249.64.1", "2026-08-15"}:  "yes googlebot.json 66.249.64.0/27",
		{"Bytespider", "66.249.64.1", "2026-08-15"}: "unpublished",
	} {
		if got := answerFor(l, question[0], question[1], question[2]); got != want {
			t.Errorf("%v: %q, want %q", question, got, want)
		}
	}
	if len(l.Differ) != 1 || !strings.HasSuffix(l.Differ[0][0], "googlebot.json") || !strings.HasSuffix(l.Differ[0][1], "googlebot.txt") {
		t.Errorf("two files of one list and time: %v", l.Differ)
	}
	if l.Untimed(l.Speaker("GPTBot")) || l.Untimed(l.Speaker("Bytespider")) {
		t.Error("lists with times have none")
	}
	for path, want := range map[string][]string{
		"bad": {"gptbot.json: HTML", "what.json: unknown list name"}, "empty": {"no file that ends in .json or .txt"}, "none": {"no such file"}, "X=none.txt": {"none.txt"},
		"split": {"gptbot.txt, 2 files of one list: the list covers 1.2% of all IPv4 addresses"}, "wide": {"wide/gptbot.txt: the list covers 100.0% of all IPv4 addresses"},
	} {
		_, err := load(t, files, Options{Paths: []string{path}})
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v, want %q", path, err, w)
			}
		}
	}
}

// TestHosts checks what host names prove.
func TestHosts(t *testing.T) {
	files := map[string]string{
		"gptbot.txt":    "# created: 2026-08-15\n4.227.36.0/25\n",
		"googlebot.txt": "# created: 2026-08-15\n66.249.64.0/27\n",
		"hosts": strings.Join([]string{
			"# made with dig",
			"66.249.66.1\tCrawl-66-249-66-1.GoogleBot.com.\t66.249.66.1 66.249.66.2",
			"66.249.66.2\tcrawl.googlebot.com\t66.249.66.9",              // does not resolve to the address
			"66.249.66.3\tcrawl.googlebot.com",                           // without a forward look-up
			"66.249.66.4\tcrawl.notgooglebot.com\t66.249.66.4",           // another label
			"66.249.66.5\tcrawl.googlebot.com.evil.example\t66.249.66.5", // not at the end
			"66.249.66.6\t\t66.249.66.6",
			"66.249.66.7\tgooglebot.com\t66.249.66.7", // the suffix itself
			"2001:4860::1\tgeo-crawl.geo.googlebot.com\t2001:4860:0::1",
			"10.0.0.1\tcrawl.googlebot.com\t10.0.0.1",
			"5.255.253.1\tspider.yandex.com\t5.255.253.1",
		}, "\r\n"),
	}
	l, err := load(t, files, Options{Paths: []string{"gptbot.txt", "googlebot.txt"}, Hosts: "hosts"})
	if err != nil {
		t.Fatal(err)
	}
	for question, want := range map[[3]string]string{
		{"Googlebot", "66.249.66.1", "2026-08-15"}:  "yes crawl-66-249-66-1.googlebot.com",
		{"Googlebot", "66.249.66.1", "2020-08-15"}:  "yes crawl-66-249-66-1.googlebot.com",
		{"Googlebot", "66.249.64.1", "2026-08-15"}:  "yes googlebot.txt 66.249.64.0/27",
		{"Googlebot", "66.249.66.2", "2026-08-15"}:  "no",
		{"Googlebot", "66.249.66.3", "2026-08-15"}:  "no",
		{"Googlebot", "66.249.66.4", "2026-08-15"}:  "no",
		{"Googlebot", "66.249.66.5", "2026-08-15"}:  "no",
		{"Googlebot", "66.249.66.6", "2026-08-15"}:  "no",
		{"Googlebot", "66.249.66.7", "2026-08-15"}:  "yes googlebot.com",
		{"Googlebot", "2001:4860::1", "2026-08-15"}: "yes geo-crawl.geo.googlebot.com",
		{"Googlebot", "10.0.0.1", "2026-08-15"}:     "",
		{"GPTBot", "66.249.66.1", "2026-08-15"}:     "no",
		{"YandexBot", "5.255.253.1", "-"}:           "yes spider.yandex.com",
		{"YandexBot", "5.255.253.2", "-"}:           "unpublished",
	} {
		if got := answerFor(l, question[0], question[1], question[2]); got != want {
			t.Errorf("%v: %q, want %q", question, got, want)
		}
	}
	for text, want := range map[string]string{
		"": "no host", "# none\n": "no host", "66.249.66.1 a.b 66.249.66.1": "line 1: 1 fields", "\nx\ta.b\t1.2.3.4": "line 2", "1.2.3.4\ta.b\tx": `"x"`, "1\t2\t3\t4": "4 fields",
	} {
		if _, err := load(t, map[string]string{"hosts": text}, Options{Hosts: "hosts"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestData checks that the lists and hosts in the table of crawlers are consistent.
func TestData(t *testing.T) {
	urls := map[string]string{}
	for _, c := range crawlers.Set("all") {
		for _, r := range c.Ranges {
			if was, ok := urls[r.Name]; ok && was != r.URL {
				t.Errorf("%s: %s is published at %s and at %s", c.Token, r.Name, was, r.URL)
			}
			urls[r.Name] = r.URL
		}
		if !slices.IsSorted(c.Hosts) && len(c.Hosts) > 3 {
			t.Errorf("%s: %v", c.Token, c.Hosts)
		}
	}
	if len(urls) < 17 {
		t.Errorf("%d lists", len(urls))
	}
}

// TestSize compares Size with the memory of large lists and host names.
func TestSize(t *testing.T) {
	var hosts strings.Builder
	files := map[string]string{}
	for _, day := range []string{"2026-08-01", "2026-08-08"} {
		var text strings.Builder
		for i := range 20_000 {
			fmt.Fprintf(&text, "%d.%d.%d.0/%d\n2001:%x:%x::/%d\n", 20+i%200, i/200, (i*7)%250, 24+i%9, 0x200+i%500, i, 48+i%81)
			if i%4 == 0 {
				fmt.Fprintf(&hosts, "20.%d.%d.1\tcrawl-%d.googlebot.com\t20.%d.%d.1\n", i/200, i%200, i, i/200, i%200)
			}
		}
		files[day+"/googlebot.txt"] = text.String()
	}
	files["hosts"] = hosts.String()
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	l, err := load(t, files, Options{Paths: []string{"."}, Hosts: "hosts"})
	if err != nil {
		t.Fatal(err)
	}
	took, size := heap()-before, l.Size()
	if took < 4<<20 || size < took*3/4 || size > took*3/2 {
		t.Errorf("%d prefixes and hosts take %d bytes, Size says %d", l.Proofs(), took, size)
	}
	runtime.KeepAlive(l)
}

// BenchmarkVerify looks up random addresses, half of them in prefixes, in all real lists of three dates.
func BenchmarkVerify(b *testing.B) {
	l, err := Load(Options{Paths: []string{filepath.Join(repcase.SharedDir(b), "data", "ranges")}})
	if err != nil {
		b.Fatal(err)
	}
	const requests = 1 << 12
	var texts [requests][]byte
	var clients [requests]Client
	var speakers [requests]Speaker
	rng := rand.New(rand.NewPCG(1, 4))
	tokens := l.tokens()
	for i := range requests {
		speakers[i] = l.Speaker(tokens[rng.IntN(len(tokens))])
		rows := l.lists[l.speakers[speakers[i]].lists[0]].rows
		addr := netip.AddrFrom4([4]byte{byte(1 + rng.IntN(222)), byte(rng.Uint32()), byte(rng.Uint32()), byte(rng.Uint32())})
		if rng.IntN(2) == 0 {
			_, prefix, _ := strings.Cut(l.ProofName(rows[1+rng.IntN(len(rows)-1)].ever), " ")
			addr = randomIn(rng, netip.MustParsePrefix(prefix))
		}
		texts[i] = []byte(addr.String())
		clients[i] = ParseClient(texts[i])
	}
	at := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	b.Run("part=table", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			l.lists[l.speakers[speakers[i%requests]].lists[0]].prefixes.find(clients[i%requests].Addr)
		}
	})
	b.Run("part=verify", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			l.VerifyClient(speakers[i%requests], &clients[i%requests], at)
		}
	})
	b.Run("part=parse", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			ParseClient(texts[i%requests])
		}
	})
	b.Run("part=all", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			client := ParseClient(texts[i%requests])
			l.VerifyClient(speakers[i%requests], &client, at)
		}
	})
}

// randomIn returns a random address in a prefix.
func randomIn(rng *rand.Rand, p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= byte(rng.IntN(2)) << (7 - i%8)
	}
	addr, _ := netip.AddrFromSlice(b)
	return addr
}

// TestHash checks that the hash depends on the time of a list, its name and its prefixes.
func TestHash(t *testing.T) {
	seen := map[string]string{}
	for about, files := range map[string]map[string]string{
		"a list": {"googlebot.txt": "# created: 2026-08-15\n66.249.64.0/27"}, "another time": {"googlebot.txt": "# created: 2026-08-16\n66.249.64.0/27"},
		"no time": {"googlebot.txt": "66.249.64.0/27"}, "another prefix": {"googlebot.txt": "# created: 2026-08-15\n66.249.64.0/28"},
		"another name": {"gptbot.txt": "# created: 2026-08-15\n66.249.64.0/27"},
	} {
		l, err := load(t, files, Options{Paths: []string{"."}})
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[l.Hash]; ok {
			t.Errorf("%s has the hash of %s", about, other)
		}
		seen[l.Hash] = about
	}
}

// TestSpecialBlocks compares isGlobal with an independent list of the blocks of IANA's registries.
func TestSpecialBlocks(t *testing.T) {
	for global, addrs := range map[bool]string{
		false: "0.1.2.3 10.0.0.1 100.64.0.1 127.0.0.1 169.254.1.1 172.16.0.1 192.0.0.1 192.0.0.8 192.0.0.170 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.51.100.1 203.0.113.1 240.0.0.1 255.255.255.255 " +
			":: ::1 64:ff9b:1::1 100::1 100:0:0:1::1 2001::1 2001:2::1 2001:10::1 2001:db8::1 2002::1 3fff::1 5f00::1 fc00::1 fe80::1",
		true: "1.1.1.1 100.63.255.255 100.128.0.1 192.0.0.9 192.0.0.10 192.31.196.1 192.52.193.1 192.175.48.1 198.17.255.255 198.20.0.1 " +
			"64:ff9b::1 100:0:0:2::1 2001:1::1 2001:1::2 2001:1::3 2001:3::1 2001:4:112::1 2001:20::1 2001:30::1 2001:200::1 2003::1 2620:4f:8000::1 4000::1",
	} {
		for addr := range strings.FieldsSeq(addrs) {
			if isGlobal(netip.MustParseAddr(addr)) != global {
				t.Errorf("%s: %v, want %v", addr, !global, global)
			}
		}
	}
}
