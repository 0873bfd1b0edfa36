package report

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// preferring are the robots.txt files of two origins, with preferences. A third origin has none.
var preferring = map[robots.Origin]string{
	"https://a.example": "Content-Signal: ai-train=yes\nUser-agent: GPTBot\nContent-Usage: train-ai=n\nContent-Usage: /open/ train-ai=y\nDisallow: /p/\n\n" +
		"User-agent: CCBot\nContent-Signal: ai-train=no\nDisallow: /p/\n\nUser-agent: *\nAllow: /\n",
	"https://b.example": "User-agent: *\nDisallow: /p/\n",
}

// trainsSlowly counts the rows of AI training crawlers one by one, with the reference.
func trainsSlowly(all []fetch, names map[string]string, several []string) map[string]Trainer {
	const d = robots.Google
	want := map[string]Trainer{}
	for _, f := range all {
		origin, path := f.url[:len("https://a.example")], f.url[len("https://a.example"):]
		asking := several
		if len(names) > 0 {
			asking = []string{names[f.userAgent]}
		}
		for _, name := range asking {
			if name != "GPTBot" && name != "CCBot" || path == "/robots.txt" {
				continue
			}
			n := want[name]
			n.Name = name
			n.Requests++
			answer, denied := robots.Unstated, false
			if body, ok := preferring[robots.Origin(origin)]; ok {
				who := robots.NewAgent(name, d)
				rules, _ := robots.Parse([]byte(body), d).Select(who)
				normal, _ := d.Path([]byte(path), nil)
				best := robots.Decide(rules, normal, d)
				denied = best >= 0 && !rules[best].Allow
				bound := robots.PreferencesOf([]byte(body), d).Select(who)
				answers := bound.Decide(normal, !denied)
				answer = answers.Uses()[robots.TrainAI]
			}
			switch answer {
			case robots.Permitted:
				n.Permitted++
			case robots.Unstated:
				n.Unstated++
			case robots.Refused:
				n.Refused++
				if denied {
					n.Denied++
				}
				if f.status == 200 || f.status == 304 {
					n.Served++
				}
			}
			want[name] = n
		}
	}
	return want
}

// TestTraining compares the panel with a slow count, for crawlers of the log and for requested crawlers.
func TestTraining(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 7))
	names := map[string]string{"Mozilla/5.0 (compatible; GPTBot/1.2)": "GPTBot", "CCBot/2.0": "CCBot", "Mozilla/5.0 (compatible; bingbot/2.0)": "bingbot", "Firefox": ""}
	agents := []string{"Mozilla/5.0 (compatible; GPTBot/1.2)", "CCBot/2.0", "Mozilla/5.0 (compatible; bingbot/2.0)", "Firefox"}
	var all []fetch
	for range 5000 {
		all = append(all, fetch{
			fmt.Sprintf("https://%c.example%s", 'a'+rune(r.IntN(3)), []string{"/", "/open/x", "/p/1", "/robots.txt", "/q?robots.txt"}[r.IntN(5)]),
			agents[r.IntN(len(agents))], engine.NoTime, []int64{0, 200, 304, 403, 301}[r.IntN(5)],
		})
	}
	directives := []robots.Directive{robots.UsageLines, robots.SignalLines}
	for _, q := range []struct {
		opt   engine.StoreOptions
		names map[string]string
	}{
		{engine.StoreOptions{Dialect: robots.Google, LogAgents: engine.LogAgentsStar}, names},
		{engine.StoreOptions{Dialect: robots.Google, Agents: []string{"bingbot", "GPTBot", "CCBot"}}, nil},
	} {
		q.opt.Directives = directives
		want := trainsSlowly(all, q.names, q.opt.Agents)
		for _, workers := range []int{1, 3} {
			c, stats := counted(t, preferring, all, question{StoreOptions: q.opt, workers: workers})
			v := c.newView(&Run{Stats: stats}).Training
			got, sum := map[string]Trainer{}, Trainer{Name: "together"}
			for _, n := range v.Trainers {
				got[n.Name] = n
				sum.Requests, sum.Refused, sum.Denied = sum.Requests+n.Requests, sum.Refused+n.Refused, sum.Denied+n.Denied
				sum.Served, sum.Permitted, sum.Unstated = sum.Served+n.Served, sum.Permitted+n.Permitted, sum.Unstated+n.Unstated
				if n.Refused+n.Permitted+n.Unstated != n.Requests {
					t.Errorf("%+v does not add up", n)
				}
			}
			if !reflect.DeepEqual(got, want) || *v.Sum != sum || v.Trainers[0].Refused < v.Trainers[1].Refused {
				t.Errorf("%v: %+v, want %+v", q.opt.Agents, v, want)
			}
			var page bytes.Buffer
			if err := Write(&page, c, &Run{Stats: stats}); err != nil {
				t.Fatal(err)
			}
			for _, part := range []string{`<section id="training"`, `<a href="#training">AI training</a>`, "drafts (aipref-2026-08)", "Skip to Rules"} {
				if !strings.Contains(page.String(), part) {
					t.Errorf("the page has no %s", part)
				}
			}
		}
		q.opt.Directives = nil
		c, stats := counted(t, preferring, all, question{StoreOptions: q.opt, workers: 1})
		if v := c.newView(&Run{Stats: stats}).Training; v != nil {
			t.Errorf("without directives: %+v", v)
		}
	}
}
