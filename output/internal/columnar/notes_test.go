package columnar

import (
	"fmt"
	"slices"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// noteTexts are robots.txt by host: with delays for all, for some, for none, and twice.
var noteTexts = map[string]string{
	"https://a.example": "User-agent: *\nCrawl-delay: 1\nDisallow: /x\n",
	"https://b.example": "User-agent: GPTBot\nCrawl-delay: 2.5\nUser-agent: Bingbot\nDisallow: /\nUser-agent: *\nCrawl-delay: 7\n",
	"https://c.example": "User-agent: *\nDisallow: /x\n",
	"https://d.example": "User-agent: bingbot\nCrawl-delay: soon\nCrawl-delay: 3\nCrawl-delay: 4\n",
}

// TestNoteColumn has a column of a directive in each layout, and for the crawlers of a log, and
// compares it with what robots.Inspect says.
func TestNoteColumn(t *testing.T) {
	columnSpecs = append(columnSpecs, noteSpec("delay", robots.CrawlDelayLines))
	defer func() { columnSpecs = columnSpecs[:len(columnSpecs)-1] }()
	agents := []string{"*", "GPTBot", "Bingbot", "GPTBot-Next"}
	for name, test := range map[string]struct {
		opt   engine.StoreOptions
		shape Shape
	}{
		"long":  {engine.StoreOptions{Agents: agents}, Shape{Names: []string{"line", "delay"}}},
		"pages": {engine.StoreOptions{Agents: agents[:1]}, Shape{Names: []string{"rule", "delay"}, Pages: true}},
		"wide":  {engine.StoreOptions{Agents: agents}, Shape{Names: []string{"line", "delay"}, Layout: Wide}},
		"log":   {engine.StoreOptions{LogAgents: engine.LogAgentsStar}, Shape{Names: []string{"line", "delay"}}},
	} {
		t.Run(name, func(t *testing.T) {
			test.opt.Directives = NeedsOf(test.shape.Names...).Directives
			store, err := engine.BuildStore(func(yield func(robots.Response, error) bool) {
				for origin, body := range noteTexts {
					if !yield(robots.Response{Origin: robots.Origin(origin), Status: 200, Body: []byte(body)}, nil) {
						return
					}
				}
			}, test.opt)
			if err != nil {
				t.Fatal(err)
			}
			b, users := noteBatch(agents[1:], store.Options().LogAgents != engine.LogAgentsOff)
			store.NewEvaluator().Evaluate(b)
			got, want := gatherNote(t, store, test.shape, b), [][]string{}
			for i := range b.Len() {
				asked := store.Options().Agents
				if users != nil {
					asked = users[i : i+1]
				}
				var row []string
				for _, agent := range asked {
					row = append(row, delayOf(string(b.URL(i)), agent))
				}
				want = append(want, row)
			}
			if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
				t.Errorf("delays\n%s, want\n%s", g, w)
			}
		})
	}
}

// noteBatch returns rows of all hosts in an order that has streaks, and if they are from a log the
// crawler of each.
func noteBatch(agents []string, fromLog bool) (b *engine.Batch, users []string) {
	b = &engine.Batch{}
	for i := range 200 {
		host := []string{"a", "b", "c", "d", "none"}[i/5%5]
		b.AddURL(fmt.Appendf(nil, "https://%s.example/p%d", host, i), int64(i+1))
		if !fromLog {
			continue
		}
		user := agents[i%2] // GPTBot-Next is none of the table
		users = append(users, user)
		b.UserAgents = append(b.UserAgents, engine.Span{Off: uint32(len(b.Data)), Len: uint32(len(user) + 4)})
		b.Data = append(b.Data, user+"/1.0"...)
	}
	return b, users
}

// delayOf returns the delay of an agent at the host of a URL, "null" for none.
func delayOf(url, agent string) string {
	for origin, body := range noteTexts {
		if len(url) < len(origin) || url[:len(origin)] != origin {
			continue
		}
		if seconds, ok := robots.Inspect([]byte(body), robots.RFC9309).CrawlDelay(robots.NewAgent(agent, robots.RFC9309)); ok {
			return fmt.Sprint(seconds)
		}
	}
	return "null"
}

// gatherNote returns the values of the columns of the delay by URL.
func gatherNote(t *testing.T, store *engine.Store, s Shape, b *engine.Batch) [][]string {
	t.Helper()
	agents := store.Options().Agents
	schema, err := NewSchema(s, agents)
	if err != nil {
		t.Fatal(err)
	}
	perURL := len(agents)
	if store.Options().LogAgents != engine.LogAgentsOff {
		perURL = 1
	}
	look := store.NewLookup()
	c := NewChunk(schema, perURL, NewNumbering(look, nil, agents, schema), Limits{Rows: 1 << 20, Bytes: 1 << 20})
	look.Use(b)
	c.Append(b, 0, b.Len())
	var values []string
	for row := range c.Rows {
		for i, col := range c.Columns {
			d, ok := col.(*dictColumn)
			if !ok || schema.Fields[i].spec.directive == "" {
				continue
			}
			if d.Present[row] == 0 {
				values = append(values, "null")
			} else {
				values = append(values, string(d.dict.At(d.All[row])))
			}
		}
	}
	return slices.Collect(slices.Chunk(values, len(values)/b.Len()))
}
