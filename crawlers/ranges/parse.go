package ranges

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// The three formats of a list are: an object with the member prefixes, as Google publishes it and
// draft-illyes-webbotauth-jafar describes it; an array of strings; a text with one prefix or address per line.

// maxMajor is the newest supported major version of the draft's format.
const maxMajor = 1

// parseList parses one file of a list, in any of the three formats. If the file does not contain its time, the
// snapshot's time is NoTime. Its file and name are not set. The error names the place in the file, but not the file. A
// list without prefixes, or with far too many addresses, is an error.
func parseList(text []byte) (snapshot, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	s := snapshot{time: NoTime}
	var err error
	switch trimmed := bytes.TrimSpace(text); {
	case len(trimmed) == 0:
		return s, errors.New("the file is empty: fetch it again from its operator")
	case trimmed[0] == '<':
		return s, errors.New("HTML instead of a list: fetch the list itself, not the page that describes it")
	case trimmed[0] == '{':
		err = s.parseObject(text)
	case trimmed[0] == '[':
		if err := checkSyntax(text); err != nil {
			return s, err
		}
		for i, raw := range elements(text) {
			var element string
			if json.Unmarshal(raw, &element) != nil {
				return s, fmt.Errorf("[%d]: %s is not a text with a prefix", i, abridge(raw))
			}
			p, err := parsePrefixOrAddress(element)
			if err != nil {
				return s, fmt.Errorf("[%d]: %w", i, err)
			}
			s.prefixes = append(s.prefixes, p)
		}
	default:
		err = s.parseLines(string(text))
	}
	if err == nil && len(s.prefixes) == 0 {
		err = errors.New("the list has no prefixes, so every client would be an impostor")
	}
	if err == nil {
		err = checkCover(s.prefixes)
	}
	return s, err
}

// Limits of the number of addresses in one list: a hundredth of IPv4, and a /16 of IPv6. The largest published list
// covers 8 millionths of IPv4.
const (
	most4     = 1 << 32 / 100
	most6     = 1 << (128 - 16 - 64) // in the first half of a number of 128 bits
	mostBits6 = 16
)

// checkCover returns an error if prefixes cover so many addresses that other clients would be verified as the crawler.
// Overlapping prefixes count once. The prefixes are not changed.
func checkCover(prefixes []netip.Prefix) error {
	prefixes = slices.Clone(prefixes)
	slices.SortFunc(prefixes, netip.Prefix.Compare) // one that contains others comes before them
	var sum4, high6, low6 uint64
	var last netip.Prefix
	for _, p := range prefixes {
		if last.IsValid() && last.Overlaps(p) {
			continue
		}
		last = p
		var carry uint64
		switch {
		case p.Addr().Is4():
			sum4 += 1 << (32 - p.Bits())
		case p.Bits() > 64:
			low6, carry = bits.Add64(low6, 1<<(128-p.Bits()), 0)
			high6 += carry
		default:
			high6 = min(high6, math.MaxUint64>>1) + 1<<min(64-p.Bits(), 62) // both are far more than most6
		}
	}
	switch {
	case sum4 > most4:
		return fmt.Errorf("the list covers %.1f%% of all IPv4 addresses, more than 1%%, so other clients would be verified as the crawler", 100*float64(sum4)/(1<<32))
	case high6 > most6 || high6 == most6 && low6 > 0:
		return fmt.Errorf("the list covers %.6g times an IPv6 /%d, more than one, so other clients would be verified as the crawler", float64(high6)/most6, mostBits6)
	}
	return nil
}

// parseObject parses an object with the member prefixes, and sets time and prefixes. It ignores unknown members, but
// rejects a newer major version of the format.
func (s *snapshot) parseObject(text []byte) error {
	if err := checkSyntax(text); err != nil {
		return err
	}
	members, err := membersOf(text)
	if err != nil {
		return err
	}
	if raw, ok := members["formatVersion"]; ok {
		var version string
		if json.Unmarshal(raw, &version) != nil {
			version = string(raw)
		}
		major, _, _ := strings.Cut(version, ".")
		switch n, err := strconv.Atoi(major); {
		case err != nil || n < 0:
			return fmt.Errorf("invalid formatVersion %q: want major.minor, such as %q", version, "1.0")
		case n > maxMajor:
			return fmt.Errorf("unknown formatVersion %s (known: up to %d): use a newer robobatch, or an older list", version, maxMajor)
		}
	}
	if raw, ok := members["creationTime"]; ok {
		var created string
		if err := json.Unmarshal(raw, &created); err != nil {
			return fmt.Errorf("invalid creationTime %s: want a text such as %q", raw, "2026-08-15T14:30:00Z")
		}
		if s.time, err = parseTime(created); err != nil {
			return fmt.Errorf("creationTime: %w", err)
		}
	}
	raw, ok := members["prefixes"]
	if !ok {
		return errors.New(`missing member "prefixes": unknown list format`)
	}
	if raw[0] != '[' {
		return errors.New("prefixes is not an array")
	}
	for i, element := range elements(raw) {
		if err := s.addObject(element); err != nil {
			return fmt.Errorf("prefixes[%d]: %w", i, err)
		}
	}
	return nil
}

// membersOf returns the members of an object in valid JSON, as raw JSON. A repeated member is an error, because JSON
// parsers differ on which one counts.
func membersOf(text []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, _ := d.Token(); open != json.Delim('{') {
		return nil, errors.New("no object")
	}
	members := map[string]json.RawMessage{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := key.(string)
		if _, ok := members[name]; ok {
			return nil, fmt.Errorf("duplicate member %q: keep one of the two", name)
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, err
		}
		members[name] = raw
	}
	return members, nil
}

// elements yields the elements of an array in valid JSON, with their indices. Each is valid until the next one.
func elements(text []byte) iter.Seq2[int, json.RawMessage] {
	return func(yield func(int, json.RawMessage) bool) {
		d := json.NewDecoder(bytes.NewReader(text))
		var raw json.RawMessage
		if _, err := d.Token(); err != nil {
			return
		}
		for i := 0; d.More() && d.Decode(&raw) == nil && yield(i, raw); i++ {
		}
	}
}

// addObject adds the prefix in an object. An object with both fields or neither is ignored, as the draft says.
func (s *snapshot) addObject(raw json.RawMessage) error {
	if raw[0] != '{' {
		return fmt.Errorf("%s is not an object with ipv4Prefix or ipv6Prefix", abridge(raw))
	}
	members, err := membersOf(raw)
	if err != nil {
		return err
	}
	raw4, has4 := members["ipv4Prefix"]
	raw6, has6 := members["ipv6Prefix"]
	if has4 == has6 {
		return nil
	}
	field, raw := "ipv4Prefix", raw4
	if has6 {
		field, raw = "ipv6Prefix", raw6
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return fmt.Errorf("invalid %s %s: want a text such as %q", field, abridge(raw), "66.249.64.0/27")
	}
	p, err := parsePrefix(text)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", field, err)
	case has4 != p.Addr().Is4():
		return fmt.Errorf("%s is %s, which belongs to the other version of IP", field, p)
	}
	s.prefixes = append(s.prefixes, p)
	return nil
}

// parseLines parses a text with one prefix or address per line. "#" begins a comment. The first comment "# created:
// DAY" contains the time.
func (s *snapshot) parseLines(text string) error {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, comment, _ := strings.Cut(line, "#")
		if created, ok := strings.CutPrefix(strings.TrimSpace(comment), "created:"); ok && s.time == NoTime {
			var err error
			if s.time, err = parseTime(strings.TrimSpace(created)); err != nil {
				return fmt.Errorf("line %d: created: %w", n, err)
			}
		}
		if line = dropBlanks(line); line == "" {
			continue
		}
		p, err := parsePrefixOrAddress(line)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		s.prefixes = append(s.prefixes, p)
	}
	return nil
}

// checkSyntax returns an error, with its line, if a text is not valid JSON; nil otherwise.
func checkSyntax(text []byte) error {
	if json.Valid(text) {
		return nil
	}
	var whole json.RawMessage
	err := json.Unmarshal(text, &whole)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		line := 1 + bytes.Count(text[:min(syntax.Offset, int64(len(text)))], []byte("\n"))
		return fmt.Errorf("line %d: invalid JSON: %w", line, err)
	}
	return err
}

// timeLayouts are the formats of times in lists; without a zone the time is UTC. The seconds may have a fraction.
var timeLayouts = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04:05Z0700", time.DateOnly}

// parseTime returns a time in one of timeLayouts, in microseconds since 1970.
func parseTime(text string) (int64, error) {
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UnixMicro(), nil
		}
	}
	return NoTime, fmt.Errorf("invalid time %q: write it as 2026-08-15T14:30:00Z or 2026-08-15", text)
}

// dropBlanks removes white space and zero-width spaces, which Bing's list has contained within prefixes since 2022.
func dropBlanks(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\u200b' || r == '\ufeff' || unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

// parsePrefix parses a prefix in CIDR notation, ignoring white space. A prefix of IPv4-mapped IPv6 becomes one of IPv4.
// Bits after the prefix are an error, and so is a prefix of length 0.
func parsePrefix(text string) (netip.Prefix, error) {
	text = dropBlanks(text)
	p, err := netip.ParsePrefix(text)
	if err != nil {
		if addr, err := netip.ParseAddr(text); err == nil {
			return netip.Prefix{}, fmt.Errorf("%q is an address, not a prefix: write %s/%d", text, addr, addr.BitLen())
		}
		return netip.Prefix{}, fmt.Errorf("%q is not a CIDR prefix such as 66.249.64.0/27: host names belong in -hosts", text)
	}
	if p.Addr().Is4In6() {
		if p.Bits() < 96 {
			return netip.Prefix{}, fmt.Errorf("%s mixes IPv4 and other addresses", text)
		}
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	switch {
	case p.Bits() == 0:
		return netip.Prefix{}, fmt.Errorf("%s contains every address, so every client would be verified as the crawler", text)
	case p != p.Masked():
		return netip.Prefix{}, fmt.Errorf("%s has bits set after the prefix: write %s or %s/%d", text, p.Masked(), p.Addr(), p.Addr().BitLen())
	}
	return p, nil
}

// parsePrefixOrAddress parses a prefix, or an address as a prefix of full length, ignoring white space.
func parsePrefixOrAddress(text string) (netip.Prefix, error) {
	text = dropBlanks(text)
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	return parsePrefix(text)
}

// abridge truncates a JSON text for messages.
func abridge(raw json.RawMessage) string {
	const most = 60
	if len(raw) <= most {
		return string(raw)
	}
	return strings.ToValidUTF8(string(raw[:most]), "") + "…"
}
