package crawlers

import "strings"

// Identify returns the crawler that a User-Agent header names, and whether it names one. The first
// word of the header that is the name of a crawler decides, in any case and whatever version
// follows; a part of a word does not count, so that "Claude-User/1.0" is not ClaudeBot, nor do
// words of URLs and mail addresses, nor the word after "like". It does not allocate, and takes time
// linear in the header. The result's slices are shared.
func Identify(userAgent []byte) (Crawler, bool) {
	return at(IdentifyIndex(userAgent))
}

// IdentifyIndex is [Identify] for callers that number crawlers: it returns the crawler's place in
// [Set]("all"), or -1.
func IdentifyIndex(userAgent []byte) int {
	for i := 0; i < len(userAgent); {
		if class[userAgent[i]] == 0 {
			i++
			continue
		}
		start := i
		for i < len(userAgent) && class[userAgent[i]] != 0 {
			i++
		}
		word := userAgent[start:i]
		switch {
		case i < len(userAgent) && userAgent[i] == '@', isScheme(word, userAgent[i:]):
			i = skipAddress(userAgent, i)
		case len(word) == len(like) && string(word) == like:
			i = skipWord(userAgent, i)
		default:
			if c := match(userAgent, start, i); c >= 0 {
				return int(c)
			}
		}
	}
	return -1
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

// isScheme reports whether the word is the scheme of a URL, given what follows it.
func isScheme(word, rest []byte) bool {
	return len(rest) > 2 && rest[0] == ':' && rest[1] == '/' && rest[2] == '/' && len(word) > 3
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
	crawler int16 // index in table
	next    int16 // index in names of the next one of the same hash; -1 is none
}

// names are all names; heads leads from the hash of a first word to them.
var names, heads = index(table)

// index builds names and heads.
func index(all []Crawler) (list []name, heads [256]int16) {
	for i := range heads {
		heads[i] = -1
	}
	for i, c := range all {
		for _, text := range c.Names {
			n := name{text: strings.ToLower(text), crawler: int16(i)}
			for n.first < len(text) && class[text[n.first]] != 0 {
				n.first++
			}
			h := hash([]byte(n.text[:n.first]))
			n.next = heads[h]
			heads[h] = int16(len(list))
			list = append(list, n)
		}
	}
	return list, heads
}

// hash tells most words apart by their ends and length, whatever their case.
func hash(word []byte) uint8 {
	return (word[0]|0x20)*31 + (word[len(word)-1]|0x20)*7 + uint8(len(word))
}

// match returns the crawler whose name begins with the word s[start:end], or -1.
func match(s []byte, start, end int) int16 {
	word := s[start:end]
	for i := heads[hash(word)]; i >= 0; i = names[i].next {
		n := &names[i]
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
