package bench

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/bench/internal/madeup"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/report"
	"github.com/robobatch/robobatch/robots"
)

// BenchmarkReport measures a report of a log in Combined Log Format, from text to the page: distinct URLs in random
// order, requested by several crawlers. The memory for counting is so small that most counts are written to disk, as
// with the default memory for a log that is a hundred times as long.
func BenchmarkReport(b *testing.B) {
	const origin, memory = "https://www.shop.example", 6 << 20
	store, err := engine.BuildStore(withoutErrors([]robots.Response{{Origin: origin, Status: 200, Body: madeup.LargeShop.Make().Body}}),
		engine.StoreOptions{Dialect: dialect, LogAgents: engine.LogAgentsStar})
	if err != nil {
		b.Fatal(err)
	}
	for _, in := range inputs() {
		b.Run(in.name, func(b *testing.B) {
			_, l := in.open(b)
			text, rows := combinedLog(b, l)
			opt := ingest.LogOptions{
				Format: "combined", Fields: ingest.Fields{Base: origin, Agents: true, Times: true},
				Keep: []ingest.KeptColumn{{Field: "status", Kind: engine.KeptInt}, {Field: "bytes", Kind: engine.KeptInt}},
			}
			m := startMeter(b)
			for b.Loop() {
				opt.Stdin = bytes.NewReader(text)
				src, err := ingest.OpenLogs([]string{"-"}, opt)
				if err != nil {
					b.Fatal(err)
				}
				c := report.NewCounter(store, report.Options{Memory: memory, TempDir: b.TempDir(), Status: 1, Bytes: 2})
				stats, err := engine.Run(b.Context(), store, src, c, engine.Options{Workers: 1})
				if err != nil || stats.URLs != int64(rows) {
					b.Fatal(stats.URLs, err)
				}
				run := &report.Run{Rules: "robots.txt", Stats: stats}
				if err := c.Settle(); err != nil {
					b.Fatal(err)
				}
				if run.Diagnosis, err = c.Diagnose(run); err != nil {
					b.Fatal(err)
				}
				if err := report.Write(io.Discard, c, run); err != nil {
					b.Fatal(err)
				}
				c.CloseTemp()
			}
			m.report("url", rows, int64(len(text)))
		})
	}
}

// combinedLog generates requests of two weeks for the paths of a log, and returns their number.
func combinedLog(tb testing.TB, l corpus.Log) (text []byte, rows int) {
	tb.Helper()
	agents := []string{"Googlebot/2.1", "bingbot/2.0", "GPTBot/1.2", "ClaudeBot/1.0", "Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0"}
	all, urls, _ := batches(tb, l)
	for i := range all {
		for j := range all[i].URLs {
			u, err := robots.SplitURL(all[i].URL(j))
			if err != nil || strings.ContainsAny(string(u.Path), " \"\\") {
				continue
			}
			status := 200
			if rows%16 == 0 {
				status = 404
			}
			second := 14 * 86_400 * rows / urls
			text = fmt.Appendf(text, "192.0.2.%d - - [%02d/Nov/2026:%02d:%02d:%02d +0000] \"GET /%d%s HTTP/1.1\" %d %d \"-\" \"%s\"\n", rows%200,
				1+second/86_400, second/3600%24, second/60%60, second%60, rows*2_654_435_761%997, u.Path, status, 500+rows%9000, agents[rows%len(agents)])
			rows++
		}
	}
	return text, rows
}
