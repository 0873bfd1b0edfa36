package capture

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
	"github.com/robobatch/robobatch/robots"
)

const (
	// maxJSONLine is the maximum length of a line in a JSON Lines file, in bytes.
	maxJSONLine = 16 << 20

	// maxURL is the maximum length of a URL, the same as for a line of a log.
	maxURL = 64 << 10
)

// A jsonlReader reads JSON Lines files of responses.
type jsonlReader struct {
	src    *unpack.Segments
	name   string
	pass   *Pass
	line   int64  // readable lines so far
	intact int    // responses so far
	before int64  // problems in previous files
	ends   bool   // the last line ends at the end of the text
	begins int64  // position of the last line in the text
	long   []byte // scratch for a line longer than the source's buffer
}

// A jsonRow has the fields of a line.
type jsonRow struct {
	jsonFields
	body, bodyB64 []byte // nil if absent
}

// jsonFields are the fields of a line, as package json reads them. It ignores unknown fields.
type jsonFields struct {
	URL       string    `json:"url"`
	Origin    string    `json:"origin"`
	Status    *int      `json:"status"`
	FetchedAt *jsonTime `json:"fetched_at"`
	Body      *string   `json:"body"`
	BodyB64   *string   `json:"body_b64"`
	Location  string    `json:"location"`
	MaxAge    *int      `json:"max_age"`
	Error     string    `json:"error"`
}

// read yields the responses of a file, and reports whether yield wants more. Invalid lines become problems, and a lost
// end becomes a Damage. The error is that the file cannot be read, or has no captures.
func (j *jsonlReader) read(name string, file io.ReaderAt, size int64, yield func(robots.Response) bool) (more bool, err error) {
	j.name, j.line, j.intact, j.before = name, 0, 0, j.pass.problems.Total
	if err := j.src.Reset(name, file, size); err != nil {
		return true, err
	}
	for {
		line, err := j.next()
		switch {
		case j.src.IOErr() != nil:
			return true, j.src.IOErr()
		case j.src.Fault() != nil && err != nil:
			return true, j.endFile(&RecordError{Name: name, Offset: j.src.Fault().Start, Line: j.line + 1, Err: err})
		case err == io.EOF:
			return true, j.endFile(nil)
		}
		r, err := j.parse(line, err)
		switch {
		case err == nil:
			j.intact++
			if !yield(r) {
				return false, nil
			}
		case j.ends && (line == nil || !json.Valid(line)):
			return true, j.endFile(&RecordError{Name: name, Offset: -1, Line: j.line, Err: &shortError{err, 0}})
		default:
			j.pass.problems.addProblem(&RecordError{Name: name, Offset: -1, Line: j.line, Err: err})
		}
	}
}

// endFile ends a file: at its end if at is nil, otherwise at the line with the fault at, after which nothing can be
// read. The fault becomes a Damage or, if the file has no response so far, a problem. The error is ErrNoCapture or nil.
func (j *jsonlReader) endFile(at *RecordError) error {
	switch {
	case at == nil && j.intact > 0:
		return nil
	case at == nil:
	case j.intact == 0:
		j.pass.problems.addProblem(at)
	default:
		unread := j.src.Rest()
		if !j.src.IsPacked() {
			unread = j.src.Size() - j.begins
		}
		j.pass.damages = append(j.pass.damages, newDamage(at, j.src.Size(), unread))
		return nil
	}
	return j.pass.problems.noCapture(j.before)
}

// next returns the next line that is not blank, which may have its line end. It is valid until the next call. The
// errors are io.EOF, ErrLongLine instead of a line, and those of the source.
func (j *jsonlReader) next() ([]byte, error) {
	for {
		j.begins = j.src.Pos()
		line, err := j.src.Text.ReadSlice('\n')
		j.ends = err == io.EOF
		if errors.Is(err, bufio.ErrBufferFull) {
			line, err = j.joinLine(line)
		}
		if err != nil && (err != io.EOF || len(line) == 0) && !errors.Is(err, ErrLongLine) {
			return nil, err
		}
		if j.line++; j.line == 1 {
			line = bytes.TrimPrefix(line, []byte(unpack.ByteOrderMark))
		}
		if errors.Is(err, ErrLongLine) || len(bytes.TrimSpace(line)) > 0 {
			if err == io.EOF {
				err = nil
			}
			return line, err
		}
	}
}

// joinLine returns the line that begins with head and exceeds the buffer of the text. It skips a line of more than
// maxJSONLine bytes, and returns ErrLongLine for it.
func (j *jsonlReader) joinLine(head []byte) ([]byte, error) {
	j.long = append(j.long[:0], head...)
	for {
		more, err := j.src.Text.ReadSlice('\n')
		isFull := errors.Is(err, bufio.ErrBufferFull)
		j.ends = err == io.EOF
		if len(j.long)+len(more) > maxJSONLine {
			for isFull {
				_, err = j.src.Text.ReadSlice('\n')
				isFull = errors.Is(err, bufio.ErrBufferFull)
			}
			j.ends = err == io.EOF
			if err == nil || err == io.EOF {
				err = ErrLongLine
			}
			return nil, err
		}
		if j.long = append(j.long, more...); !isFull {
			return j.long, err
		}
	}
}

// parse returns the response of a line, which owns its memory. readErr is the error of reading the line, or nil, and is
// returned.
func (j *jsonlReader) parse(line []byte, readErr error) (r robots.Response, err error) {
	if readErr != nil {
		return r, readErr
	}
	if !utf8.Valid(line) {
		return r, fmt.Errorf("%w: it is not UTF-8: use body_b64 for such a body", ErrResponse)
	}
	row, ok := scanRow(line)
	if !ok {
		if row, err = decodeRow(line); err != nil {
			return r, err
		}
	}
	if r.Origin, r.URL, err = row.target(); err != nil {
		return r, err
	}
	if r.Body, err = row.text(); err != nil {
		return r, err
	}
	if row.FetchedAt != nil {
		r.FetchedAt = row.FetchedAt.Time
	}
	if j.pass.undated.Add(&r) != nil {
		return r, ErrUndated
	}
	if r.Status, err = row.status(); err != nil {
		return r, err
	}
	isText := r.Status/100 == 2 && r.Status != http.StatusNoContent && r.Status != http.StatusResetContent
	if isText && row.body == nil && row.bodyB64 == nil && row.Error == "" { // as an empty file, it would allow everything
		return r, fmt.Errorf("%w: status %d without body: give its text as body, or in base64 as body_b64; an empty one is \"\"", ErrResponse, r.Status)
	}
	r.Size = int64(len(r.Body))
	if r.Size > MaxBody {
		r.Body = bytes.Clone(r.Body[:MaxBody])
	}
	if row.MaxAge != nil {
		if *row.MaxAge < 0 {
			return r, fmt.Errorf("%w: invalid max_age %d: want a number of seconds", ErrResponse, *row.MaxAge)
		}
		r.HasMaxAge, r.MaxAge = true, time.Duration(min(*row.MaxAge, math.MaxUint32))*time.Second
	}
	r.Name, r.Location, r.Error = j.name, row.Location, row.Error
	return r, nil
}

// scanRow returns the row of a line, in a third of the time that decodeRow takes. ok is false for lines that decodeRow
// must read: invalid lines, lines with names or values that only package json accepts, and lines that may contain the
// escape \xHH, which logs may use.
func scanRow(line []byte) (row jsonRow, ok bool) {
	var seen uint
	ok = !bytes.Contains(line, []byte(`\x`)) && weblog.Members(line, func(name, value []byte) bool {
		field := slices.IndexFunc(jsonNames, func(quoted []byte) bool { return string(quoted[1:len(quoted)-1]) == string(name) })
		if field < 0 { // package json ignores case and decodes escapes
			return bytes.IndexByte(name, '\\') < 0 && !slices.ContainsFunc(jsonNames, func(quoted []byte) bool {
				return bytes.EqualFold(quoted[1:len(quoted)-1], name)
			})
		}
		again := seen >> field & 1
		seen |= 1 << field
		return again == 0 && (value[0] == 'n' || row.set(string(name), value))
	})
	return row, ok
}

// set sets the field with that name, one of jsonNames, to a JSON value other than null. It reports whether the value
// has the right type.
func (row *jsonRow) set(name string, value []byte) bool {
	switch name {
	case "status":
		return setInt(&row.Status, value)
	case "max_age":
		return setInt(&row.MaxAge, value)
	case "fetched_at":
		row.FetchedAt = new(jsonTime)
		return row.FetchedAt.UnmarshalJSON(value) == nil
	}
	if value[0] != '"' {
		return false
	}
	text := weblog.AppendUnquoted(nil, value[1:len(value)-1])
	switch name {
	case "body":
		row.body = text
	case "body_b64":
		row.bodyB64 = text
	case "url":
		row.URL = string(text)
	case "origin":
		row.Origin = string(text)
	case "location":
		row.Location = string(text)
	case "error":
		row.Error = string(text)
	}
	return true
}

// setInt sets a field to a number, and reports whether the value is a number.
func setInt(field **int, value []byte) bool {
	n, err := strconv.Atoi(string(value))
	*field = &n
	return err == nil
}

// decodeRow returns the row of a line, using package json. The error is an ErrResponse, also for a name that occurs
// twice.
func decodeRow(line []byte) (row jsonRow, err error) {
	if err := json.Unmarshal(bytes.TrimSpace(line), &row.jsonFields); err != nil {
		return row, fmt.Errorf("%w: %w", ErrResponse, jsonError(err))
	}
	if name := repeatedName(line); name != "" {
		return row, fmt.Errorf("%w: duplicate %s", ErrResponse, name)
	}
	if row.Body != nil {
		row.body = []byte(*row.Body)
	}
	if row.BodyB64 != nil {
		row.bodyB64 = []byte(*row.BodyB64)
	}
	return row, nil
}

// jsonNames are the exact names of the fields of a row.
var jsonNames = func() (names [][]byte) {
	for field := range reflect.TypeFor[jsonFields]().Fields() {
		names = append(names, strconv.AppendQuote(nil, field.Tag.Get("json")))
	}
	return names
}()

// repeatedName returns a name, in quotes, that occurs twice in an object, as if a part between two records were
// missing; "" if no name does. It checks only jsonNames. The line is valid JSON.
func repeatedName(line []byte) string {
	for _, name := range jsonNames {
		if i := bytes.Index(line, name); i < 0 || !bytes.Contains(line[i+1:], name) {
			continue
		}
		n := 0
		for d := json.NewDecoder(bytes.NewReader(line)); ; {
			key, err := d.Token()
			if key == json.Delim('{') {
				continue
			}
			var value json.RawMessage
			text, isName := key.(string)
			if err != nil || !isName || d.Decode(&value) != nil {
				break
			}
			if strconv.Quote(text) == string(name) {
				n++
			}
		}
		if n > 1 {
			return string(name)
		}
	}
	return ""
}

// jsonError returns an error of package json in the terms of JSON instead of Go, if it is about a type; otherwise it
// returns err.
func jsonError(err error) error {
	e, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case !ok:
		return err
	case e.Field == "":
		return fmt.Errorf("it is %s instead of an object", withArticle(e.Value))
	}
	return fmt.Errorf("%s is %s instead of %s", e.Field, withArticle(e.Value), map[reflect.Kind]string{
		reflect.Int: "a whole number", reflect.String: "a string",
	}[e.Type.Kind()])
}

// withArticle returns a kind of JSON value with its article: "an array" for "array".
func withArticle(kind string) string {
	kind, _, _ = strings.Cut(kind, " ") // "number 1.5"
	if kind == "array" || kind == "object" {
		return "an " + kind
	}
	return "a " + kind
}

// target returns the origin of the row, and the fetched URL as written if it is not a robots.txt. The error is an
// ErrTarget or ErrResponse.
func (row *jsonRow) target() (o robots.Origin, target string, err error) {
	if max(len(row.URL), len(row.Origin), len(row.Location)) > maxURL {
		return "", "", fmt.Errorf("%w: it is longer than 64 KiB", ErrTarget)
	}
	if row.Origin != "" {
		if o, err = robots.ParseOrigin(row.Origin); err != nil {
			return "", "", fmt.Errorf("%w: %w", ErrTarget, err)
		}
	}
	if row.URL == "" {
		if o == "" {
			err = fmt.Errorf("%w: it has neither url nor origin", ErrResponse)
		}
		return o, "", err
	}
	u, err := robots.SplitURL([]byte(row.URL))
	var byURL []byte
	if err == nil {
		byURL, err = robots.AppendOrigin(nil, u)
	}
	switch {
	case err != nil:
		return "", "", fmt.Errorf("%w: url is %q: %w", ErrTarget, fault.Short([]byte(row.URL)), err)
	case o != "" && o != robots.Origin(byURL):
		return "", "", fmt.Errorf("%w: origin is %s, but the origin of url is %s", ErrResponse, o, byURL)
	case string(u.Path) != robots.TxtPath:
		target = row.URL
	}
	return robots.Origin(byURL), target, nil
}

// text returns the body of the row, decoded from base 64 if needed; nil if absent.
func (row *jsonRow) text() ([]byte, error) {
	switch {
	case row.body != nil && row.bodyB64 != nil:
		return nil, fmt.Errorf("%w: it has both body and body_b64", ErrResponse)
	case row.bodyB64 != nil:
		body, err := base64.RawStdEncoding.DecodeString(string(bytes.TrimRight(row.bodyB64, "=")))
		if err != nil {
			return nil, fmt.Errorf("%w: body_b64: %w", ErrResponse, err)
		}
		return body, nil
	}
	return row.body, nil
}

// status returns the status of the row; 0 means a network failure. If the status is missing, a body means 200, and an
// error means 0.
func (row *jsonRow) status() (int, error) {
	switch {
	case row.Status != nil && *row.Status != 0 && (*row.Status < 100 || *row.Status > 999):
		return 0, fmt.Errorf("%w: invalid status %d: want three digits, or 0 for a network failure", ErrResponse, *row.Status)
	case row.Status != nil:
		return *row.Status, nil
	case row.Error != "":
		return 0, nil
	case row.body != nil || row.bodyB64 != nil:
		return 200, nil
	}
	return 0, fmt.Errorf("%w: it has no status", ErrResponse)
}

// A jsonTime is a time in RFC 3339 format or in seconds since 1970, with an optional fraction.
type jsonTime struct{ time.Time }

// UnmarshalJSON reads a time, which it converts to UTC and rounds down to microseconds if it is a number. The error is
// errJSONTime.
func (t *jsonTime) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		if err := json.Unmarshal(data, &t.Time); err != nil {
			return errJSONTime
		}
		if t.Time = t.UTC(); t.Year() < 1 || t.Year() > 9999 {
			return errJSONTime
		}
		return nil
	}
	const year10000 = 253402300800
	var seconds float64
	if err := json.Unmarshal(data, &seconds); err != nil || seconds < 0 || seconds >= year10000 {
		return errJSONTime
	}
	whole, fraction := math.Modf(seconds)
	t.Time = time.Unix(int64(whole), int64(fraction*1e6)*1e3).UTC()
	return nil
}

var errJSONTime = errors.New("fetched_at is neither like \"2026-05-31T12:00:00Z\" nor seconds since 1970")
