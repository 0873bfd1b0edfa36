package crawlers

import (
	"bytes"
	"strings"
)

// Identify returns the crawler that a User-Agent header names, and whether it names one. The first
// word of the header that is the name of a crawler decides, in any case and whatever version
// follows; a part of a word does not count, so that "Claude-User/1.0" is not ClaudeBot, nor do
// words of URLs and mail addresses, nor the word after "like". It does not allocate, and takes time
// linear in the header. The result's slices are shared.
func Identify(userAgent []byte) (Crawler, bool) {
	i := IdentifyIndex(userAgent)
	if i < 0 {
		return Crawler{}, false
	}
	return known.all[i], true
}

// IdentifyIndex is [Identify] for callers that number crawlers: it returns the crawler's place in
// [Set]("all"), or -1.
func IdentifyIndex(userAgent []byte) int {
	w := wordScanner{text: userAgent}
	for w.next() {
		if c := known.match(userAgent, w.start, w.end); c >= 0 {
			return int(c)
		}
	}
	return -1
}

// IdentifyWords is [IdentifyIndex] that also finds the words that may name in a robots.txt a client that the
// table of crawlers does not: it appends to dst those that Identify looks at, but for names of hosts and
// files, such as "example.com". They are pieces of the header. Where the table names the client, the
// result is dst alone.
func IdentifyWords(dst [][]byte, userAgent []byte) (index int, words [][]byte) {
	words = dst
	w := wordScanner{text: userAgent}
	for w.next() {
		if c := known.match(userAgent, w.start, w.end); c >= 0 {
			return int(c), dst
		}
		if word := userAgent[w.start:w.end]; !isHost(word) {
			words = append(words, word)
		}
	}
	return -1, words
}

// A wordScanner finds the words of a header that count.
type wordScanner struct {
	text       []byte
	start, end int // of the word
	mails      int // up to here it is known that no mail address has a "+"
}

// next finds the next word, and reports whether there is one.
func (w *wordScanner) next() bool {
	s := w.text
	for i := w.end; i < len(s); {
		if class[s[i]] == 0 {
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
			i = skipAddress(s, i)
		case len(word) == len(like) && equalFold(word, like):
			i = skipWord(s, i)
		default:
			return true
		}
	}
	w.end = len(s)
	return false
}

// like is the word before the name of another program that the client wants to be treated like.
const like = "like"

// class is 1 for the bytes of words: letters, digits, "-", "_" and ".".
var class = func() (c [256]uint8) {
	for _, b := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") {
		c[b] = 1
	}
	return c
}()

// isAddress reports whether the word, which ends before the end of the header, begins a URL or a mail
// address. A URL without a scheme has a host and a path: "example.com/bot". Text that looks like one and
// has a version in place of the path is a name: "Foo.Bar/1.0".
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

// isMail reports whether the text from the end of the word on, up to where an address ends, has a "@".
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

// isHost reports whether a word may be the name of a host, or of a file: it has a dot, and only
// letters follow the last one.
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

// skipAddress returns the end of the URL or mail address that goes on at i.
func skipAddress(s []byte, i int) int {
	for i < len(s) && s[i] > ' ' && s[i] != ')' && s[i] != ';' && s[i] != ',' {
		i++
	}
	return i
}

// skipWord returns the end of the next word behind one blank.
func skipWord(s []byte, i int) int {
	for i++; i < len(s) && class[s[i]] != 0; {
		i++
	}
	return i
}

// A name is a name of a crawler, in lower case. It may have more than one word.
type name struct {
	text    string
	first   int   // length of its first word
	crawler int16 // index in table.all
	next    int16 // index in table.names of the next one of the same hash; -1 is none
}

// indexNames returns all names, and the heads of the lists of those with the same hash of their
// first words.
func indexNames(all []Crawler) (list []name, heads []int16) {
	count := 0
	for i := range all {
		count += len(all[i].Names)
	}
	size := 256
	for size < 2*count {
		size *= 2
	}
	heads = make([]int16, size)
	for i := range heads {
		heads[i] = -1
	}
	for i, c := range all {
		for _, text := range c.Names {
			n := name{text: strings.ToLower(text), crawler: int16(i)}
			for n.first < len(text) && class[text[n.first]] != 0 {
				n.first++
			}
			h := hash([]byte(n.text[:n.first])) & uint32(size-1)
			n.next = heads[h]
			heads[h] = int16(len(list))
			list = append(list, n)
		}
	}
	return list, heads
}

// hash tells most words apart by their ends and length, whatever their case.
func hash(word []byte) uint32 {
	return uint32(word[0]|0x20)*31 + uint32(word[len(word)-1]|0x20)*7 + uint32(word[len(word)/2]|0x20)*257 + uint32(len(word))
}

// match returns the crawler whose name begins with the word s[start:end], or -1.
func (t *table) match(s []byte, start, end int) int16 {
	word := s[start:end]
	for i := t.heads[hash(word)&uint32(len(t.heads)-1)]; i >= 0; i = t.names[i].next {
		n := &t.names[i]
		if n.first != len(word) || len(s)-start < len(n.text) || !equalFold(s[start:start+len(n.text)], n.text) {
			continue
		}
		if after := start + len(n.text); after == len(s) || class[s[after]] == 0 {
			return n.crawler
		}
	}
	return -1
}

// equalFold reports whether s is the lower-case text, in any case. Both have one length.
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
