package crawlers

import (
	"bytes"
	_ "embed" // the words
	"strings"
)

// Identify returns the crawler that a User-Agent header names, and whether it names one. Names match in any case,
// with any version after them. They must be whole words, so "Claude-User/1.0" is not ClaudeBot. Words in URLs and
// mail addresses are ignored. A name counts only if it names the client:
//
//   - The first product of a header names the client. If it looks like the name of a crawler, is not in the table,
//     and is not sent by browsers, the client is that unknown crawler, whatever follows:
//     "WireReaderBot/1.0 (compatible; Googlebot/2.1)" is not Googlebot.
//   - A name does not count after "with", "like" and other prepositions, nor before "-like".
//   - A header that names crawlers of two operators names none: Apple's Messages sends
//     "facebookexternalhit/1.1 Facebot Twitterbot/1.0". Of two crawlers of one operator, the first counts.
//
// Identify does not allocate, and takes time linear in the header. The slices of the result are shared.
func Identify(userAgent []byte) (Crawler, bool) {
	i := IdentifyIndex(userAgent)
	if i < 0 {
		return Crawler{}, false
	}
	return known.all[i], true
}

// IdentifyIndex is like [Identify], for callers that number crawlers: it returns the index of the crawler in
// [Set]("all"), or -1.
func IdentifyIndex(userAgent []byte) int { return max(known.findNamed(userAgent, nil), nobody) }

// IdentifyWords is like [IdentifyIndex]. If the table does not name the client, it also appends to dst the words by
// which a robots.txt may name it: all words that count, except names of hosts and files, such as "example.com". If
// the first product is an unknown crawler, see Identify, only that word counts. The words are pieces of the header.
// If the header names a crawler of the table, or crawlers of two operators, dst is returned unchanged.
func IdentifyWords(dst [][]byte, userAgent []byte) (index int, words [][]byte) {
	words = dst
	if index = known.findNamed(userAgent, &words); index != nobody {
		words = dst
	}
	return max(index, nobody), words
}

// Results of findNamed other than a crawler.
const (
	nobody  = -1 // the header names no crawler of the table
	several = -2 // it names crawlers of two operators
)

// findNamed returns the index of the crawler that a header names, or nobody or several. If the result is nobody and
// words is not nil, it appends the words that may name the client, which are pieces of the header; after another
// result, the appended words must be dropped.
func (t *table) findNamed(userAgent []byte, words *[][]byte) int {
	found := nobody
	w := wordScanner{text: userAgent}
	for isFirst := true; w.next(); isFirst = false {
		word := userAgent[w.start:w.end]
		c, end := t.match(userAgent, w.start, w.end)
		w.end = end // skips the other words of the name
		switch {
		case c < 0:
			if words != nil && !isHost(word) && !hasLike(userAgent[end:]) {
				*words = append(*words, word)
			}
			if isFirst && isUnknownCrawler(userAgent[:w.start], word) {
				return nobody
			}
		case hasLike(userAgent[end:]):
		case found == nobody:
			found = int(c)
		case t.operators[c] != t.operators[found]:
			return several
		}
	}
	return found
}

// isUnknownCrawler reports whether the first word of a header that counts is the product of a crawler: it looks like
// the name of one, and is not in a comment. before is the text of the header before the word, which must not be a name
// in the table. The client is then that crawler.
func isUnknownCrawler(before, word []byte) bool {
	return hasMark(word) && bytes.IndexByte(before, '(') < 0
}

// likeSuffix follows the name of a program that the client imitates.
const likeSuffix = "-like"

// hasLike reports whether the text after a name begins with "-like", after an optional version and spaces, so the name
// is not the client's: "Googlebot/2.1-like". rest begins with the slash of the version, if there is one.
func hasLike(rest []byte) bool {
	i := 0
	if len(rest) > 0 && rest[0] == '/' {
		for i++; i < len(rest) && class[rest[i]] != 0; {
			i++
		}
		if i >= len(likeSuffix) && equalFold(rest[i-len(likeSuffix):i], likeSuffix) {
			return true
		}
	}
	for i < len(rest) && rest[i] == ' ' {
		i++
	}
	after := i + len(likeSuffix)
	return hasPrefixFold(rest[i:], likeSuffix) && (after == len(rest) || class[rest[after]] == 0)
}

// A wordScanner finds the words of a header that count.
type wordScanner struct {
	text       []byte
	start, end int // of the word
	mails      int // no mail address up to here has a "+"
}

// next finds the next word that counts, sets start and end, and reports whether there is one. It skips addresses,
// prepositions, and the name with version after a preposition.
func (w *wordScanner) next() bool {
	s := w.text
	isOther := false // the next word names a program other than the client
	for i := w.end; i < len(s); {
		if class[s[i]] == 0 {
			if s[i] == ';' || s[i] == ',' || s[i] == ')' {
				isOther = false
			}
			i++
			continue
		}
		w.start = i
		for i < len(s) && class[s[i]] != 0 {
			i++
		}
		w.end = i
		word := s[w.start:i]
		switch {
		case i < len(s) && w.isAddress(word):
			i, isOther = skipAddress(s, i), false
		case isPreposition(word):
			isOther = true
		case len(word) == len(likeSuffix) && equalFold(word, likeSuffix): // see hasLike
		case isOther:
			isOther = false
			if i < len(s) && s[i] == '/' { // followed by its version
				for i++; i < len(s) && class[s[i]] != 0; {
					i++
				}
			}
		default:
			return true
		}
	}
	w.end = len(s)
	return false
}

// prepositions are the words that precede the name of a program other than the client, by length: "KHTML, like
// Gecko", "compatible with Googlebot".
var prepositions = [...][]string{2: {"as", "by"}, 3: {"for", "not", "via"}, 4: {"like", "with", "from", "than"}}

// isPreposition reports whether a word is one of prepositions, in any case.
func isPreposition(word []byte) bool {
	if len(word) >= len(prepositions) {
		return false
	}
	for _, p := range prepositions[len(word)] {
		if equalFold(word, p) {
			return true
		}
	}
	return false
}

// class is 1 for the bytes of words: letters, digits, "-", "_" and ".".
var class = func() (c [256]uint8) {
	for _, b := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") {
		c[b] = 1
	}
	return c
}()

// isAddress reports whether the word begins a URL or a mail address. The word must end before the end of the header. A
// URL without a scheme has a host and a path: "example.com/bot". If a version follows instead of a path, the word is a
// name: "Foo.Bar/1.0".
func (w *wordScanner) isAddress(word []byte) bool {
	switch rest := w.text[w.end:]; rest[0] {
	case '@':
		return true
	case ':':
		return len(rest) > 2 && rest[1] == '/' && rest[2] == '/' && len(word) > 2
	case '/':
		return len(rest) > 1 && (rest[1] < '0' || rest[1] > '9') && isHost(word)
	case '+':
		return w.isMail()
	}
	return false
}

// isMail reports whether the text after the word, up to the end of an address, contains an "@". It remembers a negative
// result for the words up to there, so that the time stays linear.
func (w *wordScanner) isMail() bool {
	if w.end < w.mails {
		return false
	}
	end := skipAddress(w.text, w.end)
	if bytes.IndexByte(w.text[w.end:end], '@') >= 0 {
		return true
	}
	w.mails = end
	return false
}

// isHost reports whether a word may be the name of a host or of a file: it has a dot, which is not its first byte, and
// after the last dot only letters, at least two.
func isHost(word []byte) bool {
	dot := bytes.LastIndexByte(word, '.')
	if dot <= 0 || len(word)-dot < 3 {
		return false
	}
	for _, b := range word[dot+1:] {
		if b |= 0x20; b < 'a' || b > 'z' {
			return false
		}
	}
	return true
}

// skipAddress returns the end of the URL or mail address that continues at i.
func skipAddress(s []byte, i int) int {
	for i < len(s) && s[i] > ' ' && s[i] != ')' && s[i] != ';' && s[i] != ',' {
		i++
	}
	return i
}

// A name is a name of a crawler, in lower case. It may have more than one word.
type name struct {
	text    string
	first   int   // length of its first word
	crawler int16 // index in table.all
	next    int16 // index in table.names of the next name with the same hash; -1 if there is none
}

// hash returns a hash of a word, ignoring case, from its length and three of its bytes.
func hash(word []byte) uint32 {
	return uint32(word[0]|0x20)*31 + uint32(word[len(word)-1]|0x20)*7 + uint32(word[len(word)/2]|0x20)*257 + uint32(len(word))
}

// match returns the index of the crawler with a name that begins with the word s[start:end], and the end of the name in
// s. The crawler is -1, and nameEnd is end, if there is none.
func (t *table) match(s []byte, start, end int) (crawler int16, nameEnd int) {
	word := s[start:end]
	for i := t.heads[hash(word)&uint32(len(t.heads)-1)]; i >= 0; i = t.names[i].next {
		n := &t.names[i]
		if n.first != len(word) || len(s)-start < len(n.text) || !equalFold(s[start:start+len(n.text)], n.text) {
			continue
		}
		if after := start + len(n.text); after == len(s) || class[s[after]] == 0 {
			return n.crawler, after
		}
	}
	return -1, end
}

// equalFold reports whether s equals the lower-case text, ignoring case. Both must have the same length.
func equalFold(s []byte, text string) bool {
	for i := range len(text) {
		b := s[i]
		if 'A' <= b && b <= 'Z' {
			b |= 0x20
		}
		if b != text[i] {
			return false
		}
	}
	return true
}

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

// IsClientWord reports whether browsers, their engines, operating systems or apps send this word, in any case, and
// whatever "-", "_" and other characters follow its letters. Such a word does not name a crawler, even if a
// robots.txt has a group with that name. The words are in clientwords.txt.
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

// maxClientWord is greater than the length of the longest such word.
const maxClientWord = 32
