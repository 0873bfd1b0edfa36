package weblog

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Format is a way to write a log.
type Format uint8

// The formats.
const (
	Auto       Format = iota // to be guessed, see [Guess]
	URLs                     // a URL a line; no Parser is needed
	Combined                 // Common and Combined Log Format, with a virtual host in front and more fields behind
	W3C                      // W3C extended, as IIS writes it
	CloudFront               // standard logs of Amazon CloudFront: W3C extended with tabs
	ALB                      // access logs of AWS application load balancers
	JSON                     // JSON Lines: Caddy, nginx, Cloudflare Logpush and others
	CSV                      // comma or semicolon separated, with a header
	TSV                      // tab separated, with a header
	CDXJ                     // index of a web archive, as Common Crawl publishes it
	Parquet                  // any Parquet file with a column for the URL, see [Records]; no Parser reads it
	WARC                     // a web archive, whose records are not lines; no Parser reads it
	NumFormats = int(iota)
)

var formatNames = [NumFormats]string{"auto", "urls", "combined", "w3c", "cloudfront", "alb", "json", "csv", "tsv", "cdxj", "parquet", "warc"}

// formatAliases are other names that people know.
var formatAliases = map[string]Format{
	"common": Combined, "clf": Combined, "apache": Combined, "nginx": Combined, "iis": W3C,
	"jsonl": JSON, "ndjson": JSON, "caddy": JSON, "cloudflare": JSON, "text": URLs,
}

// String returns the name: "combined".
func (f Format) String() string { return formatNames[f] }

// ErrFormat is the kind of the error of ParseFormat.
var ErrFormat = errors.New("unknown format")

// ParseFormat returns the format of that name, Auto for "". The error is ErrFormat, with the names there are.
func ParseFormat(name string) (Format, error) {
	if name == "" {
		return Auto, nil
	}
	name = strings.ToLower(name)
	if i := slices.Index(formatNames[:], name); i >= 0 {
		return Format(i), nil
	}
	if f, ok := formatAliases[name]; ok {
		return f, nil
	}
	return Auto, fmt.Errorf("%w %q: use one of %s", ErrFormat, name, strings.Join(formatNames[:], ", "))
}
