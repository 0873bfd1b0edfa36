package crawlers

// Suspect reports whether a User-Agent that [Identify] finds no crawler for looks like that of one: a word has "bot",
// "crawl" or "spider" in it, or the header has a URL or a mail address, as crawlers say whom to ask about them.
// It is a guess, and decides nothing. name is the word of the header that lets a table for [Add] name the
// crawler, nil if no word will do, as in a header that names crawlers of two operators; it is a piece of the header.
// Suspect does not allocate, and takes time linear in the header.
func Suspect(userAgent []byte) (name []byte, is bool) {
	if !hasSign(userAgent) {
		return nil, false
	}
	return suspect(userAgent)
}

// suspect is Suspect, for a header that has a sign.
func suspect(userAgent []byte) (name []byte, is bool) {
	is = hasContact(userAgent)
	w := wordScanner{text: userAgent}
	var marked, product, proper []byte // the first word with a mark; before a version; like the name of something
	isPhrase := false                  // the last is of several words, such as Let's Encrypt
	isNamed := false                   // by crawlers of two operators: one more changes nothing
	for isFirst := true; w.next(); isFirst = false {
		word, rest := userAgent[w.start:w.end], userAgent[w.end:]
		c, end := known.match(userAgent, w.start, w.end)
		isNamed = isNamed || c >= 0 && !hasLike(userAgent[end:])
		hasMark := hasMark(word)
		is = is || hasMark || hasPrefixFold(word, "www.") && isHost(word)
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
	case !is:
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

// hasVersion reports whether the text after a word is a slash and a version: 1.0, v2.
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

// hasSign reports whether some part of a header, of a word that counts or not, is one that suspects have. Most
// headers have none, and are looked at no further.
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

// marks are parts of the words of crawlers.
var marks = [...]string{"bot", "crawl", "spider"}

// cubot is a maker of phones, which stands in their User-Agents.
const cubot = "cubot"

// hasMark reports whether a word has a part that the names of crawlers have.
func hasMark(word []byte) bool {
	for i := range word {
		for _, mark := range marks {
			if word[i]|0x20 == mark[0] && hasPrefixFold(word[i:], mark) {
				isPhone := i >= 2 && hasPrefixFold(word[i-2:], cubot) && (i == 2 || letters(word[i-3:i-2]) == 0)
				return !isPhone
			}
		}
	}
	return false
}

// hasPrefixFold reports whether a text begins with one in lower case, in any case.
func hasPrefixFold(text []byte, prefix string) bool {
	return len(text) >= len(prefix) && equalFold(text[:len(prefix)], prefix)
}

// minSuspect is the number of letters the name of a suspect has at least, as one that a robots.txt names.
const minSuspect = 3

// isName reports whether a word may name a new crawler: it is not a version, locale or host, no word of browsers,
// and no token that the table has.
func isName(word []byte) bool {
	if len(word) > maxName || letters(word) < minSuspect || !isAlphanumeric(word[0]) || !isAlphanumeric(word[len(word)-1]) {
		return false
	}
	return !IsClientWord(word) && !isHost(word) && !isLocale(word) && !known.hasToken(word)
}

// letters returns how many letters a word has.
func letters(word []byte) (n int) {
	for _, b := range word {
		if b |= 0x20; 'a' <= b && b <= 'z' {
			n++
		}
	}
	return n
}

// isAlphanumeric reports whether a byte of a word is a letter or a digit.
func isAlphanumeric(b byte) bool { return b != '-' && b != '_' && b != '.' }

// isLocale reports whether a word is one like en-US.
func isLocale(word []byte) bool {
	return len(word) == len("en-US") && letters(word[:2]) == 2 && !isAlphanumeric(word[2]) && letters(word[3:]) == 2
}

// hasToken reports whether a crawler of the table has a word as its token, in any case.
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
