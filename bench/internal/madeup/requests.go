package madeup

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/crawlers"
)

// Crawlers returns n product tokens of known crawlers: first those for AI training, then those of search engines.
func Crawlers(n int) ([]string, error) {
	var tokens []string
	for _, set := range []string{"ai", "search"} {
		for _, c := range crawlers.Set(set) {
			if !slices.Contains(tokens, c.Token) {
				tokens = append(tokens, c.Token)
			}
		}
	}
	if n > len(tokens) {
		return nil, fmt.Errorf("%d crawlers are more than the %d known ones of these kinds", n, len(tokens))
	}
	return tokens[:n], nil
}

// WriteRequests is like WriteLog, but writes a CSV table of requests of crawlers with these product tokens, evenly
// distributed over a month, in order of time. One of fifty requests is for the robots.txt of its origin.
func (g *Generator) WriteRequests(w io.Writer, order Order, frames int, tokens []string) error {
	rng := rand.New(rand.NewPCG(g.spec.Seed, uint64(len(tokens))))
	begin := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	step := 30 * 24 * time.Hour / time.Duration(max(1, g.spec.URLs))
	return g.writeLines(w, order, frames, "url,time,status,method,bytes,user_agent\n", func(dst, url []byte, n int64) []byte {
		dst = append(dst, '"')
		if rng.IntN(50) == 0 {
			dst = append(append(dst, corpus.OriginOf(url)...), "/robots.txt"...)
		} else {
			dst = append(dst, bytes.ReplaceAll(url, []byte(`"`), []byte(`""`))...)
		}
		dst = append(dst, `",`...)
		dst = begin.Add(time.Duration(n)*step).AppendFormat(dst, time.RFC3339)
		return fmt.Appendf(dst, ",200,GET,%d,Mozilla/5.0 (compatible; %s/1.0)", rng.IntN(100_000), tokens[rng.IntN(len(tokens))])
	})
}
