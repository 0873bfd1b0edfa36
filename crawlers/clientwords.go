package crawlers

import (
	_ "embed" // the words
	"strings"
)

//go:embed clientwords.txt
var clientWordsText string

// clientWords are the words of clientwords.txt, in lower case.
var clientWords = func() map[string]struct{} {
	all := map[string]struct{}{}
	for line := range strings.SplitSeq(clientWordsText, "\n") {
		line, _, _ = strings.Cut(line, "#")
		for _, word := range strings.Fields(line) {
			all[word] = struct{}{}
		}
	}
	return all
}()

// IsClientWord reports whether browsers, their engines, the systems below them and the apps around
// them send this word, in any case and whatever follows its letters, "-" and "_": so it names no
// crawler, though a robots.txt has a group of that name. clientwords.txt has these words.
func IsClientWord(word []byte) bool {
	var buf [maxClientWord]byte
	n := 0
	for n < len(word) && ('a' <= word[n]|0x20 && word[n]|0x20 <= 'z' || word[n] == '-' || word[n] == '_') {
		if n == len(buf) {
			return false
		}
		buf[n] = word[n]
		if 'A' <= buf[n] && buf[n] <= 'Z' {
			buf[n] |= 0x20
		}
		n++
	}
	_, ok := clientWords[string(buf[:n])]
	return ok
}

// maxClientWord is more than the longest of these words has.
const maxClientWord = 32
