package weblog

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// NoTime is the time of a row whose time is unknown.
const NoTime = engine.NoTime

// A Row is the content of a line. Its slices are valid until the next call of the Parser, and share memory with the
// line or the Parser.
type Row struct {
	Scheme string // scheme of the URL; "" if Target is a whole URL
	Host   []byte
	Target []byte   // path and query, a whole URL, or other text in its place
	Agent  []byte   // the User-Agent; nil if absent, or [Options].Agents is not set
	Client []byte   // the client's address; nil if absent, or [Options].Clients is not set
	Time   int64    // microseconds since 1970 UTC; NoTime if unknown, or [Options].Times is not set
	Fields [][]byte // the values of [Options].Keep; nil if absent
	Odd    Odd

	// HasAgent says whether the line has a field for the User-Agent, possibly empty. It is false if [Options].Agents is
	// not set.
	HasAgent bool

	Blank     bool // Target contains white space, and comes from a table
	Elsewhere bool // Host differs from that of [Options].Base

	Queries bool   // Target has a query that differs from the query field
	NoTime  []byte // the value of the time field, if it is not a time
	Address bool   // Host is an address at the start of the line, which may be the client's
}

// AppendURL appends the URL of the row, which may not be a URL, see Odd.
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

// An Odd is a kind of request without a URL.
type Odd uint8

// The values of Odd.
const (
	OddNone     Odd = iota // it has a URL, which may be invalid
	OddEmpty               // empty: "-" or ""
	OddAsterisk            // OPTIONS *
	OddConnect             // CONNECT host:port
	OddTarget              // a request whose target is neither a path nor a URL
	OddRequest             // not a request: a TLS handshake, or other bytes
	NumOdd      = int(iota)
)

var oddNames = [NumOdd]string{"", "empty_request", "asterisk", "connect", "bad_target", "not_a_request"}

// String returns the name in the summary.
func (o Odd) String() string { return oddNames[o] }

// A Result is the kind of a line.
type Result uint8

// The results. Those from RefusedFormat on are rejections.
const (
	IsRow         Result = iota
	NoRow                // a header, a directive or a comment
	Continues            // the line ends inside quotes: the record continues in the next line
	Failed               // the whole log cannot be read, see [Parser.Err]
	RefusedFormat        // the line does not match the format
	RefusedQuote         // a quote does not end, or is not allowed there
	RefusedFields        // too few or too many fields
	RefusedURL           // an entry or record without a URL; not returned by a Parser
	RefusedHeader        // no header line precedes it
	RefusedLong          // the line is too long; not returned by a Parser
	RefusedRecord        // a corrupt record of a file that is not line-based; not returned by a Parser
	NumResults    = int(iota)
)

var resultNames = [NumResults]string{"", "", "", "", "not_the_format", "quote", "fields", "no_url", "no_header", "too_long", "damaged_record"}

// Refused reports whether the line was rejected.
func (r Result) Refused() bool { return r >= RefusedFormat }

// String returns the name of a rejection.
func (r Result) String() string { return resultNames[r] }

// A Parser parses the lines of one log in order.
type Parser interface {
	// Parse parses a line, without its end, into r, which it resets.
	Parse(line []byte, r *Row) Result
	// Err returns why the whole log cannot be read, after Failed.
	Err() error
}

// Options control which fields of a log are read. Fields have the names of the format, which in JSON may be paths such
// as "request.headers.Referer.0". Fields for roles that are not in Named are found by their names, see [KnownFields].
type Options struct {
	Base   robots.Origin     // completes URLs of rows without a host; "" if there are none
	Named  map[string]string // fields by role, see [Roles]; "none" means no field
	Keep   []string          // fields to keep: names in [Names], or the format's own
	Agents bool              // read User-Agents
	Need   bool              // with Agents: a log without a field for the User-Agent is an ErrNoAgents
	Times  bool              // read times

	Optional []string // fields of Keep whose values are null, without an error, if a log lacks them

	// Clients reads client addresses: a log without a field for them is an ErrNoClients. If a field has several
	// addresses, such as X-Forwarded-For, ClientAt is the position of the client's: 1 is the first, -1 the last. If
	// ClientAt is 0, such a field is an ErrManyClients.
	Clients  bool
	ClientAt int
}

// Faults of a whole log.
var (
	// ErrNoBase means that a log has paths without hosts.
	ErrNoBase = errors.New("the log has only paths, and its site is unknown")

	// ErrNoField means that a log does not have a field.
	ErrNoField = errors.New("no such field")

	// ErrNoURL means that a header does not name a known field for the URL.
	ErrNoURL = errors.New("no field of the header is known to contain a URL")

	// ErrNoAgents means that a header does not name a known field for the User-Agent, but Options.Need is set.
	ErrNoAgents = errors.New("no field is known to contain a User-Agent")

	// ErrNoClients means that a log has no field for the client's address.
	ErrNoClients = errors.New("no field is known to contain the client's address")

	// ErrManyClients means that a field has several addresses.
	ErrManyClients = errors.New("a field contains several addresses")

	// ErrManyURLs means that a table has several columns of URLs, and none with a known name.
	ErrManyURLs = errors.New("no field of the header is known to contain the URL, and several contain URLs")

	// ErrSeparator means that a table has another separator than the tabs of its format.
	ErrSeparator = errors.New("the fields are not separated by tabs, but by another character")

	// ErrNoHeader means that the first line of a table has a URL instead of names.
	ErrNoHeader = errors.New("the lines look like a table without a header row")

	// ErrNativeIIS is the ErrNoHeader for the native format of IIS, which names a service in each line.
	ErrNativeIIS = fmt.Errorf("%w: the native format of IIS is not supported", ErrNoHeader)
)

// common has the fields that the parsers share.
type common struct {
	site
	opt   Options
	clock Clock
	err   error // why the log cannot be read
}

func newCommon(opt Options) common { return common{site: newSite(opt.Base), opt: opt} }

// Err returns why the whole log cannot be read, after Failed.
func (c *common) Err() error { return c.err }

// fail stores an error for Err.
func (c *common) fail(err error) Result {
	c.err = err
	return Failed
}

// setTime sets the time of a row, if times are read.
func (c *common) setTime(r *Row, text []byte) {
	if c.opt.Times {
		if r.Time = c.clock.Read(text); r.Time == NoTime {
			r.NoTime = present(text)
		}
	}
}

// setClient sets the client's address, if addresses are read. It reports false, and stores the error, if the field has
// several addresses but Options.ClientAt is 0.
func (c *common) setClient(r *Row, field []byte) bool {
	if c.opt.Clients {
		r.Client, c.err = clientOf(field, c.opt.ClientAt)
	}
	return c.err == nil
}

// clientOf returns the client's address in a field; at is Options.ClientAt.
func clientOf(field []byte, at int) ([]byte, error) {
	if bytes.IndexByte(field, ',') >= 0 {
		if at == 0 {
			return nil, fmt.Errorf("%w: %q", ErrManyClients, shortName(string(field)))
		}
		field = trimBlank(addressAt(field, at))
	} else if at > 1 {
		field = nil
	}
	return cutPort(present(field)), nil // ParseAddress ignores spaces around it
}

// Fields reads fields of requests that are not in a log, in the same way as columns of a table.
type Fields struct {
	ClientAt int // as in [Options]

	clock Clock
}

// Agent returns the User-Agent in a field, nil if there is none.
func (f *Fields) Agent(text []byte) []byte { return present(text) }

// Client returns the client's address in a field, nil if there is none. The error is an ErrManyClients.
func (f *Fields) Client(text []byte) ([]byte, error) { return clientOf(text, f.ClientAt) }

// Time returns the time in a field, in microseconds since 1970; NoTime if there is none.
func (f *Fields) Time(text []byte) int64 { return f.clock.Read(text) }

// addressAt returns an address in a comma-separated list by its position: 1 is the first, -1 the last. It is nil if
// there are fewer.
func addressAt(list []byte, place int) []byte {
	if place < 0 {
		return list[bytes.LastIndexByte(list, ',')+1:]
	}
	for ; place > 1; place-- {
		_, rest, ok := bytes.Cut(list, []byte{','})
		if !ok {
			return nil
		}
		list = rest
	}
	first, _, _ := bytes.Cut(list, []byte{','})
	return first
}

// mostNames is the maximum number of names in an error.
const mostNames = 40

// listed formats a list of names for a message. It gives only the first names, and shortens long ones.
func listed(names []string) string {
	short := make([]string, 0, mostNames)
	for _, name := range names[:min(len(names), mostNames)] {
		short = append(short, shortName(name))
	}
	text := strings.Join(short, ", ")
	if n := len(names) - mostNames; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// shortName truncates a text that is too long for a name, such as a line that is not a header row.
func shortName(name string) string {
	const most = 60
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "") + "…"
}

// noField returns the ErrNoField for a field, with the existing fields.
func noField(name string, have []string) error {
	return fmt.Errorf("%w: %q; the fields are %s", ErrNoField, name, listed(have))
}

// AnyNamed returns one of the fields that the user named for a role; "" if there is none.
func (o *Options) AnyNamed() string {
	for _, r := range slices.Sorted(maps.Keys(o.Named)) {
		if o.Named[r] != none {
			return o.Named[r]
		}
	}
	return ""
}

// MayLack reports whether a field of Keep is optional.
func (o *Options) MayLack(name string) bool { return slices.Contains(o.Optional, name) }
