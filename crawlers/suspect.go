package crawlers

// Suspect reports whether a User-Agent without a crawler that [Identify] knows looks like that of a crawler: a word
// contains "bot", "crawl" or "spider", or the header has a URL or a mail address, as crawlers give for contact. This is
// a guess, which decides nothing. name is the word of the header by which a table for [Add] can name the crawler. It is
// nil if no word is suitable, for example if the header names crawlers of two operators. name is a piece of the header.
// Suspect does not allocate, and takes time linear in the header.
func Suspect(userAgent []byte) (name []byte, isSuspect bool) {
	if !hasSign(userAgent) {
		return nil, false
	}
	return suspectName(userAgent)
}

// suspectName is Suspect for a header that has a sign, see hasSign.
func suspectName(userAgent []byte) (name []byte, isSuspect bool) {
	isSuspect = hasContact(userAgent)
	w := wordScanner{text: userAgent}
	var marked, product, proper []byte // the first word with a mark; before a version; like a proper name
	isPhrase := false                  // proper has several words, such as Let's Encrypt
	isNamed := false                   // the header names crawlers of two operators, so a new one would change nothing
	for isFirst := true; w.next(); isFirst = false {
		word, rest := userAgent[w.start:w.end], userAgent[w.end:]
		c, end := known.match(userAgent, w.start, w.end)
		isNamed = isNamed || c >= 0 && !hasLike(userAgent[end:])
		hasMark := hasMark(word)
		isSuspect = isSuspect || hasMark || hasPrefixFold(word, "www.") && isHost(word)
		isGood := isName(word) && !hasLike(rest)
		switch {
		case isFirst && c < 0 && isUnknownCrawler(userAgent[:w.start], word):
			if !isGood {
				return nil, true
			}
			return word, true
		case !isGood || marked != nil:
		case hasMark:
			marked = word
		case product != nil:
		case hasVersion(rest):
			product = word
		case proper == nil && (w.start == 0 || word[0] < 'a'):
			proper, isPhrase = word, len(rest) > 1 && rest[0] == '\'' && class[rest[1]] != 0
		}
	}
	switch {
	case !isSuspect:
		return nil, false
	case isNamed:
		return nil, true
	case marked != nil:
		return marked, true
	case product != nil:
		return product, true
	case isPhrase:
		return nil, true
	}
	return proper, true
}

// hasVersion reports whether the text after a word begins with a slash and a version, such as /1.0 or /v2.
func hasVersion(rest []byte) bool {
	if len(rest) < 2 || rest[0] != '/' {
		return false
	}
	if rest = rest[1:]; rest[0]|0x20 == 'v' {
		rest = rest[1:]
	}
	return len(rest) > 0 && '0' <= rest[0] && rest[0] <= '9'
}

// hasContact reports whether a header has a URL with a scheme, or a mail address.
func hasContact(header []byte) bool {
	for i := 1; i+1 < len(header); i++ {
		switch b := header[i]; {
		case b != ':' && b != '@' || class[header[i-1]] == 0:
		case b == '@' && class[header[i+1]] != 0 || b == ':' && hasPrefixFold(header[i:], "://"):
			return true
		}
	}
	return false
}

// hasSign reports whether the header contains a part that suspects have, in any word. Most headers contain none and
// need no further work.
func hasSign(header []byte) bool {
	for i, b := range header {
		if sign := signs[b|0x20]; sign != "" && hasPrefixFold(header[i:], sign) {
			return true
		}
	}
	return false
}

// signs are parts of the headers of suspects, by their first bytes with the bit 0x20.
var signs = [256]string{'b': "bot", 'c': "crawl", 's': "spider", 'w': "www.", '@' | 0x20: "@", ':': "://"}

// marks are parts of the names of crawlers.
var marks = [...]string{"bot", "crawl", "spider"}

// cubot is a maker of phones, whose name is in their User-Agents.
const cubot = "cubot"

// hasMark reports whether a word contains a mark, in any case. The name of the phone maker Cubot does not count.
func hasMark(word []byte) bool {
	for i := range word {
		for _, mark := range marks {
			if word[i]|0x20 == mark[0] && hasPrefixFold(word[i:], mark) {
				isPhone := i >= 2 && hasPrefixFold(word[i-2:], cubot) && (i == 2 || countLetters(word[i-3:i-2]) == 0)
				return !isPhone
			}
		}
	}
	return false
}

// hasPrefixFold reports whether a text begins with a lower-case prefix, ignoring case.
func hasPrefixFold(text []byte, prefix string) bool {
	return len(text) >= len(prefix) && equalFold(text[:len(prefix)], prefix)
}

// minSuspect is the minimum number of letters in the name of a suspect, as for names in a robots.txt.
const minSuspect = 3

// isName reports whether a word may name a new crawler. It must begin and end with a letter or digit, and have at least
// minSuspect letters and at most maxName bytes. It must not be a locale, a host, a word of browsers, or a token in the
// table.
func isName(word []byte) bool {
	if len(word) > maxName || countLetters(word) < minSuspect || !isAlphanumeric(word[0]) || !isAlphanumeric(word[len(word)-1]) {
		return false
	}
	isLocale := len(word) == len("en-US") && countLetters(word[:2]) == 2 && !isAlphanumeric(word[2]) && countLetters(word[3:]) == 2
	return !isLocale && !IsClientWord(word) && !isHost(word) && !known.hasToken(word)
}

// countLetters returns how many letters a word has.
func countLetters(word []byte) (n int) {
	for _, b := range word {
		if b |= 0x20; 'a' <= b && b <= 'z' {
			n++
		}
	}
	return n
}

// isAlphanumeric reports whether a byte of a word is a letter or a digit.
func isAlphanumeric(b byte) bool { return b != '-' && b != '_' && b != '.' }

// hasToken reports whether a crawler of the table has a word as its token, in any case. The word must have at most
// maxName bytes.
func (t *table) hasToken(word []byte) bool {
	var lower [maxName]byte
	n := copy(lower[:], word)
	for i, b := range lower[:n] {
		if 'A' <= b && b <= 'Z' {
			lower[i] |= 0x20
		}
	}
	_, is := t.byToken[string(lower[:n])]
	return is
}
