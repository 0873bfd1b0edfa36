package main

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"strings"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/bench/internal/madeup"
	"github.com/robobatch/robobatch/robots"
)

// A workload has URLs, and the robots.txt of their origins.
type workload struct {
	name   string
	text   string // one URL per line
	bodies map[robots.Origin][]byte
}

// workloads returns the workloads made from a corpus, with a maximum number of lines for each, and of generated origins:
//
//	W1   one origin with 326 rules, 16 % of them with wildcards
//	W1x  one origin with 1,034 rules, 49 % of them with wildcards, as a large shop has
//	W3   real URLs with the rules of their origins, grouped by host
//	W4   made-up URLs of many origins, in random order
func workloads(corpus *corpus.Corpus, lines, origins int) ([]workload, error) {
	w3 := workload{name: "W3"}
	urls, err := corpus.Logs[0].URLs()
	if err != nil {
		return nil, err
	}
	w3.text = string(bytes.Join(urls[:min(lines, len(urls))], []byte("\n"))) + "\n"
	w3.bodies, err = neededBodies(w3.text, corpus.Rules)
	if err != nil {
		return nil, err
	}
	w4 := workload{name: "W4"}
	g, err := madeup.New(corpus, madeup.Spec{Origins: origins, URLs: int64(lines), Seed: 1, Aimed: 25})
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	if err := g.WriteLog(&text, madeup.Shuffled, 0); err != nil {
		return nil, err
	}
	w4.text = text.String()
	w4.bodies, err = neededBodies(w4.text, g.Responses())
	if err != nil {
		return nil, err
	}
	return []workload{
		oneOrigin("W1", madeup.Shape{Rules: 326, Wildcard: 16}, lines),
		oneOrigin("W1x", madeup.LargeShop, lines),
		w3, w4,
	}, nil
}

// passes is the number of times that the paths of one origin are evaluated.
const passes = 8

// oneOrigin returns a workload of one origin with generated rules. Its paths are repeated up to passes times, until
// there are the given number of lines.
func oneOrigin(name string, shape madeup.Shape, lines int) workload {
	const origin = "https://www.shop.example"
	set := shape.Make()
	var text strings.Builder
	n := 0
	for range passes {
		for _, path := range set.Paths {
			if n++; n <= lines {
				fmt.Fprintf(&text, "%s%s\n", origin, path)
			}
		}
	}
	return workload{name, text.String(), map[robots.Origin][]byte{origin: set.Body}}
}

// neededBodies returns the bodies of those responses whose origins occur in the text.
func neededBodies(text string, all iter.Seq2[robots.Response, error]) (map[robots.Origin][]byte, error) {
	occurs, bodies := originsOf(text), map[robots.Origin][]byte{}
	for r, err := range all {
		if err != nil {
			return nil, err
		}
		if occurs[r.Origin] {
			bodies[r.Origin] = r.Body
		}
	}
	return bodies, nil
}

// originsOf returns the origins in a text of one URL per line.
func originsOf(text string) map[robots.Origin]bool {
	occurs := map[robots.Origin]bool{}
	for line := range strings.Lines(text) {
		occurs[corpus.OriginOf([]byte(strings.TrimSuffix(line, "\n")))] = true
	}
	return occurs
}

// sample returns about one of every k lines of the text, in blocks of consecutive lines, and the files of their
// origins.
func (w workload) sample(k int) workload {
	const block = 100
	var text strings.Builder
	n := 0
	for line := range strings.Lines(w.text) {
		if n/block%k == 0 {
			text.WriteString(line)
		}
		n++
	}
	occurs, bodies := originsOf(text.String()), maps.Clone(w.bodies)
	maps.DeleteFunc(bodies, func(o robots.Origin, _ []byte) bool { return !occurs[o] })
	return workload{w.name, text.String(), bodies}
}

// lines returns the number of lines.
func (w workload) lines() int { return strings.Count(w.text, "\n") }
