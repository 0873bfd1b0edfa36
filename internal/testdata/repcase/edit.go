package repcase

import (
	"bytes"
	"math/rand/v2"
	"slices"
)

// Edit returns a robots.txt that someone has edited a little, in one to four places, as people do and
// as they should not: lines that are added, dropped, moved, cut and misspelt, rules that resemble the
// paths, crawlers, line ends, and bytes that are not text. It does not change text.
func Edit(rng *rand.Rand, text []byte, paths, agents []string) []byte {
	lines := bytes.SplitAfter(slices.Clone(text), []byte("\n"))
	for range 1 + rng.IntN(4) {
		i := rng.IntN(len(lines))
		switch rng.IntN(10) {
		case 0:
			lines[i] = nil
		case 1:
			lines = slices.Insert(lines, i, bytes.Clone(lines[i]))
		case 2:
			j := rng.IntN(len(lines))
			lines[i], lines[j] = lines[j], lines[i]
		case 3:
			lines[i] = lines[i][:rng.IntN(len(lines[i])+1)]
		case 4:
			lines = slices.Insert(lines, i, []byte("User-agent: "+pick(rng, append(agents, "*", "nobody"))+"\n"))
		case 5:
			at := rng.IntN(len(lines[i]) + 1)
			odd := []string{"\r", "\x00", "\xff", "\xef\xbb\xbf", "#", ":", " ", "ü", "%", "$", "*", "\n"}
			lines[i] = slices.Concat(lines[i][:at], []byte(pick(rng, odd)), lines[i][at:])
		case 6:
			lines = slices.Insert(lines, i, []byte("# a remark\n\n"))
		default:
			lines = slices.Insert(lines, i, []byte(pick(rng, []string{"Disallow: ", "Allow: ", "disalow:"})+pattern(rng, paths)+"\n"))
		}
	}
	return slices.Concat(lines...)
}

// pattern returns a pattern that matches some of the paths.
func pattern(rng *rand.Rand, paths []string) string {
	p := pick(rng, paths)
	from := rng.IntN(len(p) + 1)
	switch rng.IntN(5) {
	case 0:
		return p
	case 1:
		return p[:from]
	case 2:
		return "/*" + p[from:]
	case 3:
		return p[:from] + "*" + p[from+rng.IntN(len(p)-from+1):] + "$"
	}
	return "/*" + p[from:from+rng.IntN(len(p)-from+1)]
}

func pick(rng *rand.Rand, all []string) string { return all[rng.IntN(len(all))] }
