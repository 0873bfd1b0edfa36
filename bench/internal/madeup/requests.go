package madeup

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/robobatch/robobatch/crawlers"
)

// requestsHeader is the header row of a log of requests.
const requestsHeader = "url,time,status,method,bytes,user_agent\n"

// The requests of a log are evenly distributed over a month. One of txtEvery is for the robots.txt of its origin.
const (
	month    = 30 * 24 * time.Hour
	txtEvery = 50
)

// monthBegin is the time of the first request.
var monthBegin = time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)

// tokensOf returns n product tokens of known crawlers: first those for AI training, then those of search engines.
func tokensOf(n int) ([]string, error) {
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

// CheckCrawlers returns an error if fewer than n crawlers are known.
func CheckCrawlers(n int) error {
	_, err := tokensOf(n)
	return err
}

// A requester makes requests from URLs, in order of time.
type requester struct {
	g      *Generator
	tokens []string
	rng    *rand.Rand
	step   time.Duration
}

// appendRow appends request n, for a URL.
func (r *requester) appendRow(dst, url []byte, n int64) []byte {
	dst = append(dst, '"')
	if r.rng.IntN(txtEvery) == 0 {
		dst = append(append(dst, originOf(url)...), "/robots.txt"...)
	} else {
		for _, b := range url {
			if dst = append(dst, b); b == '"' {
				dst = append(dst, b)
			}
		}
	}
	dst = append(dst, `",`...)
	dst = monthBegin.Add(time.Duration(n)*r.step).AppendFormat(dst, time.RFC3339)
	return fmt.Appendf(dst, ",200,GET,%d,Mozilla/5.0 (compatible; %s/1.0)", r.rng.IntN(100_000), r.tokens[r.rng.IntN(len(r.tokens))])
}

// originOf returns the scheme and host of a URL that has both.
func originOf(url []byte) []byte {
	const slashes = "://"
	for i, b := range url {
		if b == '/' && i > len("https"+slashes) {
			return url[:i]
		}
	}
	return url
}
