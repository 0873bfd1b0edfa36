package report

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/report/internal/useragents"
	"github.com/robobatch/robobatch/robots"
)

// TestOtherClients checks that the User-Agents of unidentified clients are counted correctly and add up to their row
// in the table of crawlers, and that the page does not depend on memory and number of workers.
func TestOtherClients(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 31))
	all := fetches(rng, 20_000)
	for i := range all {
		if rng.IntN(3) > 0 {
			n := rng.IntN(1 + rng.IntN(3000))
			all[i].userAgent = []string{"", fmt.Sprintf("Grabby/%d (+https://example.com/)", n), fmt.Sprintf("Mozilla/5.0 (X11) Firefox/%d", n), "<script>alert(1)</script>bot"}[rng.IntN(4)]
		}
	}
	want, suspects, headers := [2]useragents.Count{}, useragents.Count{}, map[string]bool{}
	for _, f := range all {
		if i := strings.Index(f.userAgent, "Google"); i >= 0 || strings.Contains(f.userAgent, "bingbot") {
			continue
		}
		one := useragents.Count{Requests: 1}
		if u, err := robots.SplitURL([]byte(f.url)); err == nil {
			origin, _ := robots.AppendOrigin(nil, u)
			rules, _ := robots.Parse([]byte(sites[robots.Origin(origin)]), robots.Google).Select(robots.NewAgent("*", robots.Google))
			path, _ := robots.Google.Path(u.Path, nil)
			if n := robots.Decide(rules, path, robots.Google); n >= 0 && !rules[n].Allow {
				one.Denied = 1
			}
		}
		sums := []*useragents.Count{&want[0]}
		if f.userAgent == "" {
			sums = append(sums, &want[1])
		} else {
			headers[f.userAgent] = true
		}
		if strings.HasPrefix(f.userAgent, "Grabby") {
			sums = append(sums, &suspects)
		}
		for _, sum := range sums {
			sum.Requests, sum.Denied = sum.Requests+one.Requests, sum.Denied+one.Denied
		}
	}
	var pages [3]string
	for i, memory := range []int64{0, 1 << 18, 1 << 20} {
		q := question{StoreOptions: engine.StoreOptions{Dialect: robots.Google, LogAgents: engine.LogAgentsStar}, workers: 1 + i, Options: Options{Memory: memory}}
		c, stats := counted(t, sites, all, q)
		v := c.newView(&Run{Stats: stats})
		got := v.Clients
		if got.All != want[0] || got.None != want[1] || got.Named != suspects || got.Names != 1 || got.Headers != int64(len(headers)) || got.Suspects[0].Name != "Grabby" {
			t.Errorf("the panel has %+v, want %+v, %+v of suspects, %d headers", got, want, suspects, len(headers))
		}
		if got.All.Requests != v.Others.Requests || got.All.Denied != v.Others.Denied {
			t.Errorf("the panel has %+v, but the table of crawlers has %d and %d", got.All, v.Others.Requests, v.Others.Denied)
		}
		var page bytes.Buffer
		if err := Write(&page, c, &Run{Stats: stats}); err != nil {
			t.Fatal(err)
		}
		pages[i] = page.String()
	}
	if pages[0] != pages[1] || pages[0] != pages[2] {
		t.Error("the page depends on the memory or the workers")
	}
	for _, want := range []string{"<pre class=\"mono lines\" data-name=\"the lines of these crawlers\">token\nGrabby\n</pre>", "&lt;script&gt;alert(1)&lt;/script&gt;bot"} {
		if !strings.Contains(pages[0], want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
