package madeup

import (
	"bytes"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/robots"
)

// A base is a real robots.txt from which similar ones are made: words in the values of its rules are replaced by others
// of the same length, so that bytes, rules, wildcards and common prefixes of rules are preserved.
type base struct {
	body  []byte
	rules int      // number of rules for all crawlers
	wild  bool     // a rule has "*"
	spots []spot   // the replaceable words, in order
	own   []string // values of the rules for "*" that have an effect
	all   bool     // it has few words: all are replaced, so that the resulting texts differ
}

// A spot is the word body[off : off+len].
type spot struct{ off, len int }

// The lengths of words that are replaced. Most shorter ones are escapes, and there are few longer ones of the same
// length.
const (
	minWord = 3
	maxWord = 12
	fewest  = 8 // if there are fewer words, all are replaced
)

// newBase parses a robots.txt, and finds its replaceable words. It keeps body.
func newBase(body []byte) base {
	b := base{body: body}
	f := robots.Parse(body, robots.Google)
	for _, g := range f.Groups {
		b.rules += len(g.Rules)
		for _, r := range g.Rules {
			b.wild = b.wild || strings.Contains(r.Value, "*")
		}
	}
	own, _ := f.Select(robots.NewAgent("*", robots.Google))
	for _, r := range own {
		if r.Value != "" {
			b.own = append(b.own, r.Value)
		}
	}
	// Find the words after "allow:" and "disallow:", up to a comment.
	for off := 0; off < len(body); {
		line := body[off:]
		if i := bytes.IndexAny(line, "\r\n"); i >= 0 {
			line = line[:i]
		}
		text, _, _ := bytes.Cut(line, []byte("#"))
		key, value, _ := bytes.Cut(text, []byte(":"))
		if key = bytes.TrimSpace(key); bytes.EqualFold(key, []byte("allow")) || bytes.EqualFold(key, []byte("disallow")) {
			for _, s := range words(value) {
				b.spots = append(b.spots, spot{off + len(text) - len(value) + s.off, s.len})
			}
		}
		off += len(line) + 1
	}
	b.all = len(b.spots) < fewest
	return b
}

// words returns the replaceable words of a text: runs of minWord to maxWord letters that do not follow "%", which
// starts an escape.
func words(text []byte) (all []spot) {
	for i := 0; i < len(text); {
		if !isLetter(text[i]) {
			i++
			continue
		}
		j := i
		for j < len(text) && isLetter(text[j]) {
			j++
		}
		if n := j - i; n >= minWord && n <= maxWord && (i == 0 || text[i-1] != '%') {
			all = append(all, spot{i, n})
		}
		i = j
	}
	return all
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// A vocabulary has sorted words by length: vocabulary[n] has those with n letters.
type vocabulary [maxWord + 1][]string

// replace overwrites a word with another one of its length that depends on the seed. About half of the words stay,
// unless all is true; a word without another of its length always stays. Equal words have equal replacements, so rules
// keep their common prefixes.
func (v *vocabulary) replace(word []byte, seed uint64, all bool) {
	h := xxh3.HashSeed(word, seed)
	if others := v[len(word)]; len(others) > 0 && (all || h>>63 == 0) {
		copy(word, others[h%uint64(len(others))])
	}
}

// text returns the robots.txt that is made from b with a seed: its replaceable words are replaced by those of v.
// The caller owns it.
func (b *base) text(v *vocabulary, seed uint64) []byte {
	body := slices.Clone(b.body)
	for _, s := range b.spots {
		v.replace(body[s.off:s.off+s.len], seed, b.all)
	}
	return body
}
