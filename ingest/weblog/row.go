package weblog

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/robobatch/robobatch/robots"
)

// NoTime is the time of a row of which it is not known.
const NoTime = math.MinInt64

// A Row is what one line says. Its slices are valid until the next call of the Parser, and share the line's memory or
// the Parser's.
type Row struct {
	Scheme string // of the URL that Host and Target make; "" if Target is all there is
	Host   []byte
	Target []byte   // path and query, or a whole URL, or whatever else stands where a URL should
	Agent  []byte   // the User-Agent; nil if there is none, or [Options].Agents is not set
	Time   int64    // microseconds since 1970 UTC; NoTime if unknown, or [Options].Times is not set
	Fields [][]byte // the columns of [Options].Keep as text; nil where there is none
	Odd    Odd
}

// AppendURL appends the URL of the row. It may be none, see Odd.
func (r *Row) AppendURL(dst []byte) []byte {
	if r.Scheme != "" {
		dst = append(dst, r.Scheme...)
		dst = append(dst, "://"...)
		dst = append(dst, r.Host...)
	}
	return append(dst, r.Target...)
}

// reset empties the row and keeps its memory. Parsers append to Fields.
func (r *Row) reset() { *r = Row{Time: NoTime, Fields: r.Fields[:0]} }

// An Odd says why a row's request is none for a URL.
type Odd uint8

// The values of Odd.
const (
	OddNone     Odd = iota // it has a URL, valid or not
	OddEmpty               // nothing was asked for: "-" or ""
	OddAsterisk            // OPTIONS *
	OddConnect             // CONNECT host:port
	OddTarget              // a request whose target is neither a path nor a URL
	OddRequest             // no request: a TLS handshake, or other bytes
	NumOdd      = int(iota)
)

var oddNames = [NumOdd]string{"", "empty_request", "asterisk", "connect", "bad_target", "not_a_request"}

// String returns the name that the summary counts it under.
func (o Odd) String() string { return oddNames[o] }

// A Result says what a line is.
type Result uint8

// The results. Those from RefusedFormat on are refusals.
const (
	IsRow         Result = iota
	NoRow                // a header, a directive or a comment
	Continues            // the line ends inside quotes: the record goes on in the next line
	Failed               // [Parser.Err] says what is wrong with the log
	RefusedFormat        // the line is not of the format
	RefusedQuote         // a quote does not end, or stands where none may be
	RefusedFields        // too few or too many fields
	RefusedURL           // the field that should have the URL is missing
	RefusedHeader        // no header came before
	RefusedLong          // longer than lines may be; no Parser returns it
	RefusedRecord        // a damaged record of a file whose records are not lines; no Parser returns it
	NumResults    = int(iota)
)

var resultNames = [NumResults]string{"", "", "", "", "not_the_format", "quote", "fields", "no_url", "no_header", "too_long", "damaged_record"}

// Refused reports whether the line was refused.
func (r Result) Refused() bool { return r >= RefusedFormat }

// String returns the name of a refusal.
func (r Result) String() string { return resultNames[r] }

// A Parser takes the lines of one log apart, in order.
type Parser interface {
	// Parse takes line, without its end, apart into r, which it resets.
	Parse(line []byte, r *Row) Result
	// Err returns why the log as a whole cannot be read, after Failed.
	Err() error
}

// Options say what to read of a log. Fields are named as the format does, in JSON also by their path, as in
// "request.headers.Referer.0"; where none is named, those of [Names] are looked for.
type Options struct {
	Base   robots.Origin // whose log it is, where the rows do not tell; "" if all do
	URL    string        // field of the URL, path or request line
	Host   string        // field of the host
	Agent  string        // field of the User-Agent
	Time   string        // field of the time
	Keep   []string      // fields to keep, by the names of [Names] or the format's own
	Agents bool          // read User-Agents
	Times  bool          // read times
}

// ErrNoBase is the error of a log that has paths without their host.
var ErrNoBase = errors.New("the log has paths only: name the site that it is of with -base https://www.example.com")

// ErrNoField is the kind of the errors about a field that the log does not have.
var ErrNoField = errors.New("no such field")

// New returns a Parser for a format, which is neither Auto nor URLs. The error is ErrNoField if the format cannot
// have one of the fields.
func New(f Format, opt Options) (Parser, error) {
	s := newSite(opt.Base)
	switch f {
	case Combined:
		return newCombined(s, opt)
	case W3C, CloudFront:
		return newW3C(s, opt, f == CloudFront), nil
	case ALB:
		return newALB(s, opt)
	case JSON:
		return newJSON(s, opt), nil
	case CSV, TSV:
		return newCSV(s, opt, f == TSV), nil
	case CDXJ:
		return newCDXJ(s, opt), nil
	default:
		return nil, fmt.Errorf("%w %s", ErrFormat, f)
	}
}

// sticky is the part of a Parser that keeps its error.
type sticky struct{ err error }

// Err returns the error.
func (s *sticky) Err() error { return s.err }

// fail keeps an error.
func (s *sticky) fail(err error) Result {
	s.err = err
	return Failed
}

// noField is the ErrNoField for a field, with those there are.
func noField(name string, have []string) error {
	return fmt.Errorf("%w: %q; there are %s", ErrNoField, name, strings.Join(have, ", "))
}
