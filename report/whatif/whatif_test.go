package whatif

import (
	"compress/gzip"
	"encoding/ascii85"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/report/whatif/internal/decide"
	"github.com/robobatch/robobatch/robots"
)

// made returns the section of the panel for the data, of at most the given number of bytes.
func made(t *testing.T, d Data, room int) string {
	t.Helper()
	html, err := New(d).HTML(room)
	if err != nil {
		t.Fatal(err)
	}
	return string(html)
}

// unpackHead returns the decoded head of the data in a panel, and the data that follow it.
func unpackHead(t *testing.T, html string) (h head, body []byte) {
	t.Helper()
	data := regexp.MustCompile(`id="what-if-data">([^<]*)</script>`).FindStringSubmatch(html)
	if data == nil {
		t.Fatal("the panel has no data")
	}
	text := strings.NewReplacer("v", `"`, "w", "&", "x", "'", "y", "+", "{", "<", "|", ">").Replace(data[1])
	z, err := gzip.NewReader(ascii85.NewDecoder(strings.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	top := binary.LittleEndian.Uint32(raw)
	if err := json.Unmarshal(raw[4:4+top], &h); err != nil {
		t.Fatal(err)
	}
	return h, raw[4+top:]
}

// urls returns n URLs whose paths compress badly.
func urls(n, seed int) (all []URL) {
	rng := rand.New(rand.NewPCG(18, uint64(seed)))
	for i := range n {
		path := fmt.Sprintf("/%x/%x/%x", rng.Uint64(), rng.Uint64(), rng.Uint64())
		all = append(all, URL{Path: path, Counts: []Count{{Agent: 0, Requests: int64(n - i)}}})
	}
	return all
}

// TestLimits has more URLs than fit, for origins of different sizes.
func TestLimits(t *testing.T) {
	d := Data{Dialect: robots.Google, Agents: []string{"a"}, Limit: "there was no memory"}
	for i, n := range []int{90_000, 10, 90_000} {
		d.Origins = append(d.Origins, Origin{Origin: robots.Origin(fmt.Sprintf("https://%d.example", i)), Text: []byte("user-agent: *\n"), Requests: 1e9, Distinct: n + i, URLs: urls(n, i)})
	}
	const room = 2_500_000
	html := made(t, d, room)
	h, body := unpackHead(t, html)
	most := 0
	for _, s := range h.Origins {
		log, err := decide.ReadLog(body[s.Log[0]:s.Log[1]], d.Dialect, d.Agents)
		if err != nil || log.URLs() != s.URLs {
			t.Fatalf("%s: %v, want %d URLs", s.Origin, err, s.URLs)
		}
		most += s.URLs
	}
	if h.Origins[1].URLs != 10 || h.Origins[0].URLs < 10_000 || h.Origins[2].URLs-h.Origins[0].URLs > 1 || most >= MaxURLs {
		t.Errorf("%d URLs: %+v", most, h.Origins)
	}
	if !strings.HasPrefix(h.Origins[0].Limit, "the page has room for 0.9") || h.Origins[1].Limit != d.Limit || h.Origins[1].Distinct != 11 {
		t.Errorf("the lists are truncated for the reasons %q and %q", h.Origins[0].Limit, h.Origins[1].Limit)
	}
	if size := len(html); size > room || size < room*9/10 {
		t.Errorf("the panel has %d bytes", size)
	}
	if small, none := made(t, d, 0), made(t, Data{Agents: d.Agents, Origins: d.Origins[1:2]}, 0); len(small)-len(none) > minBytes {
		t.Errorf("with no room, the data have %d bytes", len(small)-len(none))
	}
	want := int64(0)
	for _, u := range d.Origins[0].URLs[:h.Origins[0].URLs] {
		want += u.Requests()
	}
	if h.Origins[0].Counted != want {
		t.Errorf("%d requests are counted, want %d", h.Origins[0].Counted, want)
	}
}

// TestNoShare has more requests for URLs than the text decided in total: no share can be computed.
func TestNoShare(t *testing.T) {
	d := Data{Agents: []string{"a"}}
	for _, requests := range []int64{5, 6, 7} {
		d.Origins = append(d.Origins, Origin{Origin: "https://a.example", Requests: requests, URLs: urls(3, 1)})
	}
	h, _ := unpackHead(t, made(t, d, 0))
	for i, want := range []int64{0, 6, 7} {
		if s := h.Origins[i]; s.Counted != 6 || s.Requests != want {
			t.Errorf("%d requests of %d, want %d", s.Counted, s.Requests, want)
		}
	}
}

// TestSame makes a panel twice.
func TestSame(t *testing.T) {
	d := Data{Agents: []string{"a"}, Origins: []Origin{{Origin: "https://a.example", URLs: urls(100, 1)}}}
	if first := made(t, d, 0); made(t, d, 0) != first {
		t.Error("the same data give two different panels")
	}
}

func TestLeftOut(t *testing.T) {
	for _, d := range []Data{{LeftOut: "<b>No text.</b>", Origins: []Origin{{}}}, {}} {
		p, html := New(d), made(t, d, 0)
		if strings.Contains(html, "<b>") || strings.Contains(html, "<script") || len(p.Scripts) > 0 || !strings.Contains(html, "This panel is left out. ") {
			t.Errorf("%+v gives %+v", d, p)
		}
	}
}

// TestParts checks that the panel complies with the policy of a report: no style attribute or event handler in the
// markup, and no script contains "</script".
func TestParts(t *testing.T) {
	d := Data{Agents: []string{"</script><b onclick=x>"}, Origins: []Origin{{Origin: "https://a.example", Text: []byte("</script>"), Name: "<i>", URLs: urls(1, 1)}}}
	p := New(d)
	markup := regexp.MustCompile(`(?s)<script.*?</script>`).ReplaceAllString(made(t, d, 0), "")
	if found := regexp.MustCompile(`(?i)style=|\son[a-z]+=|<i>|<b[ >]|javascript:`).FindString(markup); found != "" {
		t.Errorf("the markup has %q", found)
	}
	for i, s := range p.Scripts {
		if strings.Contains(strings.ToLower(s), "</script") || strings.Contains(s, "<!--") {
			t.Errorf("script %d would end early", i)
		}
	}
	if !strings.Contains(p.Scripts[0], "Copyright 2018 The Go Authors") {
		t.Error("wasm_exec.js has lost its notice")
	}
}
