package main

import (
	"slices"
	"strings"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/robots"
)

// The sizes of the sample of URLs: some tens of thousands of lines, less than 1 MB when compressed.
const (
	blockLines   = 48 // lines of one block: neighbours in the real log stay neighbours
	blocksOrigin = 6  // blocks of one origin in the real log
	madeOrigin   = 90 // lines of one origin from the made log
)

// sampleReal returns lines of the real log in its order: of each origin up to blocksOrigin blocks,
// evenly apart. It takes the chosen origins, and the http ones of the same hosts, which have no
// known rules.
func sampleReal(lines [][]byte, chosen []source) [][]byte {
	at := make(map[robots.Origin][]int) // the lines of each wanted origin
	for _, s := range chosen {
		at[s.origin], at[httpOrigin(s.origin)] = nil, nil
	}
	for i, line := range lines {
		origin := corpus.OriginOf(line)
		if _, wanted := at[origin]; wanted {
			at[origin] = append(at[origin], i)
		}
	}
	taken := make([]int, 0, len(lines))
	for _, positions := range at {
		taken = append(taken, blocks(positions)...)
	}
	slices.Sort(taken)
	sample := make([][]byte, len(taken))
	for i, p := range taken {
		sample[i] = lines[p]
	}
	return sample
}

// httpOrigin returns the http origin of the host of an https origin.
func httpOrigin(o robots.Origin) robots.Origin {
	return robots.Origin(strings.Replace(string(o), "https:", "http:", 1))
}

// blocks returns the elements that the sample takes of one origin's lines.
func blocks(positions []int) []int {
	if len(positions) <= blockLines*blocksOrigin {
		return positions
	}
	taken := make([]int, 0, blockLines*blocksOrigin)
	for i := range blocksOrigin {
		start := i * (len(positions) - blockLines) / (blocksOrigin - 1)
		taken = append(taken, positions[start:start+blockLines]...)
	}
	return taken
}

// sampleMade returns lines of the made log in its order: the first madeOrigin of each chosen origin
// that is not federal, whatever the spelling of its host, and a tenth of its http origin's.
func sampleMade(lines [][]byte, chosen []source) [][]byte {
	room := make(map[robots.Origin]int)
	for _, s := range chosen {
		if s.field("source_repo") != federal {
			room[s.origin] = madeOrigin
			room[httpOrigin(s.origin)] = madeOrigin / 10
		}
	}
	var sample [][]byte
	for _, line := range lines {
		if origin := corpus.OriginOf(line); room[origin] > 0 {
			room[origin]--
			sample = append(sample, line)
		}
	}
	return sample
}
