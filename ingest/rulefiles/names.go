package rulefiles

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/robots"
)

// Why a file below a rules directory is not used, apart from an invalid host.
var (
	errNotNamed   = errors.New("not named like a robots.txt")
	errNoHostDir  = errors.New("its directory is not named after a host")
	errBareHost   = errors.New("a host without a scheme needs a dot, or is localhost or an IP address")
	errHostBytes  = errors.New("its host has an invalid character")
	errEmptyLabel = errors.New("its host has an empty label")
	errPackInside = errors.New("a rule pack, which must be named itself")
	errHidden     = errors.New("hidden")
	errLeadsOut   = errors.New("a link out of the directory")
	errLoop       = errors.New("a link to a directory that contains it")
)

// schemes are the schemes that a file name may start with: the registered ones (IANA) whose URLs are written
// scheme://host, as in captures, and ftps.
var schemes = strings.Fields(`
	aaa aaas acap afp cap coap coap+tcp coap+ws coaps coaps+tcp coaps+ws dict dns ftp ftps git go gopher http https
	icap icaps imap ipp ipps irc irc6 ircs ldap ldaps mms mqtt mqtts msrp msrps mtqp mupdate news nfs nntp pop
	prospero redis rediss rsync rtmp rtmps rtsp rtsps rtspu sftp smb snmp ssh svn telnet tftp tip udp vemmi vnc
	wais ws wss xmlrpc.beep xmlrpc.beeps z39.50r z39.50s`)

// A claim is what the name of a file says about its content.
type claim struct {
	origins []robots.Origin // of a robots.txt: one if exact, otherwise those of http and https
	exact   bool            // the name has a scheme
	unclear bool            // the name seems to begin with an unknown scheme
	content unpack.Content  // Text for a robots.txt, otherwise captures
}

// parseName returns the claim of a file. base is its name, and dir is the name of its directory, or "" for the rules
// directory itself. The names are
//
//	<scheme>_<host>[_<port>].txt   exact
//	<host>[_<port>].txt            http and https
//	<host>[_<port>]/robots.txt     http and https
//	*.warc*, *.jsonl*              captures, see [unpack.Named]
func parseName(dir, base string) (claim, error) {
	if base == "robots.txt" {
		if dir == "" {
			return claim{}, errNoHostDir
		}
		return parseHost(dir)
	}
	if content := unpack.Named(base); content != unpack.Text {
		return claim{content: content}, nil
	}
	stem, ok := strings.CutSuffix(base, ".txt")
	if !ok {
		return claim{}, errNotNamed
	}
	if scheme, host, ok := strings.Cut(stem, "_"); ok && slices.Contains(schemes, scheme) {
		o, err := parseOrigin(scheme, host)
		return claim{origins: []robots.Origin{o}, exact: true}, err
	}
	c, err := parseHost(stem)
	// A scheme begins with a letter (RFC 3986, section 3.1). Hosts with an earlier dot, such as www.my_shop.example, have
	// none.
	scheme, host, ok := strings.Cut(strings.ToLower(stem), "_")
	c.unclear = err == nil && ok && isBareHost(host) && strings.Trim(scheme, "0123456789+-abcdefghijklmnopqrstuvwxyz") == "" && strings.TrimLeft(scheme, "0123456789+-") == scheme && scheme != ""
	return c, err
}

// parseHost returns the claim of "<host>[_<port>]": its origins with http and https.
func parseHost(text string) (claim, error) {
	if host, _ := cutPort(text); !isBareHost(host) {
		return claim{}, errBareHost
	}
	http, err := parseOrigin("http", text)
	if err != nil {
		return claim{}, err
	}
	https, err := parseOrigin("https", text)
	return claim{origins: []robots.Origin{http, https}}, err
}

// isBareHost reports whether a name without a scheme looks like a host.
func isBareHost(host string) bool {
	name := strings.TrimSuffix(host, ".")
	return strings.Contains(name, ".") || strings.EqualFold(name, "localhost") || strings.HasPrefix(name, "[")
}

// parseOrigin returns the normalised origin of a scheme and "<host>[_<port>]". The error says what is wrong with the
// name.
func parseOrigin(scheme, text string) (robots.Origin, error) {
	host, port := cutPort(text)
	if err := checkHost(host); err != nil {
		return "", err
	}
	s := scheme + "://" + host
	if port != "" {
		s += ":" + port
	}
	o, err := robots.ParseOrigin(s)
	if err == nil {
		return o, nil
	}
	if oe, ok := errors.AsType[*robots.OriginError](err); ok { // the text of the error would not be in the name
		err = oe.Err
	}
	return "", fmt.Errorf("its name gives no origin: %w", err)
}

// cutPort cuts "_<digits>" off the end. A host may have other underscores.
func cutPort(text string) (host, port string) {
	i := strings.LastIndexByte(text, '_')
	if i < 0 || i+1 == len(text) || strings.Trim(text[i+1:], "0123456789") != "" {
		return text, ""
	}
	return text[:i], text[i+1:]
}

// checkHost rejects empty labels, and bytes that would end the host in a URL. [robots.ParseOrigin] checks the rest.
func checkHost(host string) error {
	if inside, ok := strings.CutPrefix(host, "["); ok {
		inside, ok = strings.CutSuffix(inside, "]")
		if _, err := netip.ParseAddr(inside); err != nil || !ok {
			return fmt.Errorf("its name gives no origin: %w", robots.ErrHost)
		}
		return nil
	}
	for _, r := range host {
		if r <= ' ' || r == 0x7f || strings.ContainsRune(`/\?#;:@[]%`, r) {
			return errHostBytes
		}
	}
	if host == "" || strings.HasPrefix(host, ".") || strings.Contains(host, "..") {
		return errEmptyLabel
	}
	return nil
}

// Faults in the content of a single robots.txt, wrapped in a [*NameError].
var (
	ErrNoText  = errors.New("is not a plain-text robots.txt")
	errIsWARC  = errors.New("is a WARC file, but its name does not end in .warc")
	errPackage = map[robots.Oddity]struct{ is, remedy string }{
		robots.OddUTF16:   {"it is UTF-16", "save it as UTF-8, for example: iconv -f UTF-16 -t UTF-8 < %s > plain.txt"},
		robots.OddUTF16LE: {"it looks like UTF-16", "save it as UTF-8, for example: iconv -f UTF-16LE -t UTF-8 < %s > plain.txt"},
		robots.OddUTF16BE: {"it looks like UTF-16", "save it as UTF-8, for example: iconv -f UTF-16BE -t UTF-8 < %s > plain.txt"},
		robots.OddUTF32:   {"it is UTF-32", "save it as UTF-8, for example: iconv -f UTF-32 -t UTF-8 < %s > plain.txt"},
		robots.OddNUL:     {"it has NUL bytes", "name a text file; to remove them: tr -d '\\000' < %s > plain.txt"},
		robots.OddGzip:    {"it is packed with gzip", "unpack it first, for example: gzip -dc < %s > plain.txt"},
		robots.OddZstd:    {"it is packed with zstd", "unpack it first, for example: zstd -dc < %s > plain.txt"},
		robots.OddXZ:      {"it is packed with xz", "unpack it first, for example: xz -dc < %s > plain.txt"},
		robots.OddBzip2:   {"it is packed with bzip2", "unpack it first, for example: bzip2 -dc < %s > plain.txt"},
		robots.OddZip:     {"it is packed with zip", "unpack it first, for example: unzip -p %s > plain.txt"},
		robots.OddParquet: {"it is a Parquet file", `name a text file; if its rows are captures, convert them: duckdb -c "COPY (FROM '%s') TO 'captures.jsonl'"`},
	}
)

// checkText returns the oddity of a single robots.txt, or a [*NameError] with a remedy if it is not text. wide says
// whether UTF-16 is text.
func checkText(name string, body []byte, wide bool) (robots.Oddity, error) {
	if unpack.Detect(body[:min(len(body), unpack.HeadLen)]).Content == unpack.WARC {
		return robots.NotOdd, &NameError{Name: name, Err: errIsWARC, Remedy: "rename it to end in .warc"}
	}
	odd := robots.OddityOf(body, nil)
	if !odd.Binary() || wide && odd <= robots.OddUTF16BE {
		return odd, nil
	}
	text := errPackage[odd]
	return odd, &NameError{Name: name, Err: fmt.Errorf("%w: %s", ErrNoText, text.is), Remedy: fmt.Sprintf(text.remedy, shellName(name))}
}

// shellName returns a name for a shell command, in quotes if needed. It returns "file" for names that quotes are not
// enough for.
func shellName(name string) string {
	bare := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._/@%+=:,-", r)
	}
	other := strings.TrimFunc(name, bare)
	switch {
	case strings.HasPrefix(name, "-"), strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '\'' || r == '"' || r >= 0x7f }):
		return "file"
	case other != "":
		return "'" + name + "'"
	}
	return name
}
