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

// A Row is the content of one line. Its slices are valid until the next call of the Parser, and
// share the line's memory or the Parser's.
type Row struct {
	Scheme string // of the URL that Host and Target make; "" if Target is all there is
	Host   []byte
	Target []byte   // path and query, or a whole URL, or whatever else stands where a URL should
	Agent  []byte   // the User-Agent; nil if there is none, or [Options].Agents is not set
	Client []byte   // the address of the client; nil if there is none, or [Options].Clients is not set
	Time   int64    // microseconds since 1970 UTC; NoTime if unknown, or [Options].Times is not set
	Fields [][]byte // the columns of [Options].Keep as text; nil where there is none
	Odd    Odd

	// HasAgent is whether the line has a field for the User-Agent, if only an empty one. It is false if
	// [Options].Agents is not set.
	HasAgent bool

	Blank     bool // Target holds white space, and comes from a table
	Elsewhere bool // Host is another than that of [Options].Base

	Queries bool   // Target has a query, and the field for the query another
	NoTime  []byte // the value of the time field, if it is not a time
	Address bool   // Host is an address before a line, which may be the client's
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

// An Odd is the kind of a request without a URL.
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

// A Result is the kind of a line.
type Result uint8

// The results. Those from RefusedFormat on are refusals.
const (
	IsRow         Result = iota
	NoRow                // a header, a directive or a comment
	Continues            // the line ends inside quotes: the record continues in the next line
	Failed               // [Parser.Err] names the fault of the log
	RefusedFormat        // the line is not of the format
	RefusedQuote         // a quote does not end, or stands where none may be
	RefusedFields        // too few or too many fields
	RefusedURL           // an entry or record without a URL; no Parser returns it
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

// Options say which fields to read of a log. Fields are named as the format does, in JSON also by their
// path, as in "request.headers.Referer.0"; where none is named, the fields in [Names] are looked for.
type Options struct {
	Base   robots.Origin     // whose log it is, where the rows do not tell; "" if all do
	Named  map[string]string // fields by their roles, see [Roles]; "none" means no field
	Keep   []string          // fields to keep, by the names of [Names] or the format's own
	Agents bool              // read User-Agents
	Need   bool              // of Agents: a table without a field for them is an ErrNoAgents
	Times  bool              // read times

	Optional []string // fields of Keep that a log may lack: they have no value then

	// Clients reads addresses of clients: a log without a field for them is an ErrNoClients. Where a field
	// holds several, as X-Forwarded-For does, ClientAt says which is the client's: 1 is the first, -1 the
	// last. Where it is 0, such a field is an ErrManyClients.
	Clients  bool
	ClientAt int
}

// Faults of a log as a whole.
var (
	// ErrNoBase is the error of a log that has paths without their host.
	ErrNoBase = errors.New("the log has only paths, and its site is unknown")

	// ErrNoField is the kind of the errors about a field that the log does not have.
	ErrNoField = errors.New("no such field")

	// ErrNoURL is the kind of the errors about a header that names no field for the URL.
	ErrNoURL = errors.New("no field of the header is known to hold a URL")

	// ErrNoAgents is the kind of the errors about a header that names no field for the User-Agent, if that
	// is needed.
	ErrNoAgents = errors.New("no field is known to hold a User-Agent")

	// ErrNoClients is the kind of the errors about a log that has no field for the client's address.
	ErrNoClients = errors.New("no field is known to hold the client's address")

	// ErrManyClients is the kind of the errors about a field that holds several addresses.
	ErrManyClients = errors.New("a field holds several addresses")

	// ErrManyURLs is the kind of the errors about a table with several columns of URLs, if the
	// header has no name that is known.
	ErrManyURLs = errors.New("no field of the header is known to hold the URL, and several hold URLs")

	// ErrSeparator is the kind of the errors about a table without tabs that is said to have them.
	ErrSeparator = errors.New("the lines have no tabs, and in all of them as many of another separator")

	// ErrNoHeader is the kind of the errors about a table whose first line has a URL, not names.
	ErrNoHeader = errors.New("the lines look like a table without a header row")

	// ErrNativeIIS is the kind of an ErrNoHeader about a log in the format of IIS itself, whose lines name a service.
	ErrNativeIIS = fmt.Errorf("%w: they are of IIS's own format, which is not read", ErrNoHeader)
)

// A common holds the fields that the parsers share.
type common struct {
	site
	opt   Options
	clock Clock
	err   error // why the log cannot be read
}

func newCommon(opt Options) common { return common{site: newSite(opt.Base), opt: opt} }

// Err returns why the log as a whole cannot be read, after Failed.
func (c *common) Err() error { return c.err }

// fail keeps an error for Err.
func (c *common) fail(err error) Result {
	c.err = err
	return Failed
}

// setTime sets the time of a row, if it is wanted.
func (c *common) setTime(r *Row, text []byte) {
	if c.opt.Times {
		if r.Time = c.clock.Read(text); r.Time == NoTime {
			r.NoTime = present(text)
		}
	}
}

// setClient sets the address of the client, if it is wanted. It reports false, and keeps the error, if the
// field has several addresses and nobody said which of them it is.
func (c *common) setClient(r *Row, field []byte) bool {
	if c.opt.Clients {
		r.Client, c.err = clientOf(field, c.opt.ClientAt)
	}
	return c.err == nil
}

// clientOf returns the address of the client in a field; at is Options.ClientAt.
func clientOf(field []byte, at int) ([]byte, error) {
	if bytes.IndexByte(field, ',') >= 0 {
		if at == 0 {
			return nil, fmt.Errorf("%w: %q", ErrManyClients, shortName(string(field)))
		}
		field = trimBlank(addressAt(field, at))
	} else if at > 1 {
		field = nil
	}
	return cutPort(present(field)), nil // blanks around it are for those who parse it
}

// Fields read the fields of requests that stand in no log, as a table with their columns has them.
type Fields struct {
	ClientAt int // as in [Options]

	clock Clock
}

// Agent returns the User-Agent in a field, nil if there is none.
func (f *Fields) Agent(text []byte) []byte { return present(text) }

// Client returns the address of the client in a field, nil if there is none. The error is an ErrManyClients.
func (f *Fields) Client(text []byte) ([]byte, error) { return clientOf(text, f.ClientAt) }

// Time returns the time in a field in microseconds since 1970, NoTime if there is none.
func (f *Fields) Time(text []byte) int64 { return f.clock.Read(text) }

// addressAt returns an address of those that commas separate, by its place: 1 is the first, -1 the last. It is
// nil if there are fewer.
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

// mostNames is the number of names of a header an error lists.
const mostNames = 40

// listed returns the first of some names for a message, each no longer than a name should be.
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

// shortName cuts off a text too long for a name: a line that is none of a table.
func shortName(name string) string {
	const most = 60
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "") + "…"
}

// noField is the ErrNoField for a field, with those there are.
func noField(name string, have []string) error {
	return fmt.Errorf("%w: %q; there are %s", ErrNoField, name, listed(have))
}

// AnyNamed returns a field that was named for a role, "" if none was.
func (o *Options) AnyNamed() string {
	for _, r := range slices.Sorted(maps.Keys(o.Named)) {
		if o.Named[r] != none {
			return o.Named[r]
		}
	}
	return ""
}

// MayLack reports whether a log may lack a field of Keep.
func (o *Options) MayLack(name string) bool { return slices.Contains(o.Optional, name) }
