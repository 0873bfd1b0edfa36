//go:build unix

package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/robobatch/robobatch/robots"
)

// A rulesFormat is a way to give rules to the command.
type rulesFormat struct {
	name string
	text bool
	// write returns the rules, and the part of them that is about each origin if that can be told.
	write func(a *attack, bodies map[string][]byte) (data []byte, parts map[string][]byte, err error)
	// reads returns the robots.txt that a slow and strict reader finds in damaged rules; an error
	// for the fault that must show.
	read func(data []byte) (map[string][]byte, error)
	file string // its name
}

var rulesFormats = []rulesFormat{
	{
		name: "one robots.txt", text: true, file: "robots.txt",
		write: func(_ *attack, bodies map[string][]byte) ([]byte, map[string][]byte, error) {
			return bodies[site], nil, nil
		},
		read: func(data []byte) (map[string][]byte, error) { return map[string][]byte{site: data}, nil },
	},
	{
		name: "a directory", text: true, file: "https_www.example.com.txt",
		write: func(_ *attack, bodies map[string][]byte) ([]byte, map[string][]byte, error) {
			return bodies[site], nil, nil
		},
		read: func(data []byte) (map[string][]byte, error) { return map[string][]byte{site: data}, nil },
	},
	{name: "captures.jsonl", file: "r.jsonl", write: writeCaptures, read: readCaptures},
	{name: "captures.jsonl.gz", file: "r.jsonl.gz", write: packedRules(writeCaptures, &packings[0]), read: unpackedRules(&packings[0])},
	{name: "captures.jsonl.zst", file: "r.jsonl.zst", write: packedRules(writeCaptures, &packings[1]), read: unpackedRules(&packings[1])},
	{name: "captures.warc", file: "r.warc", write: writeWARC(false)},
	{name: "captures.warc.gz", file: "r.warc.gz", write: writeWARC(true)},
	{name: "pack", file: "r.rbp", write: compilePack},
}

// packedRules packs the bytes that write writes.
func packedRules(write func(*attack, map[string][]byte) ([]byte, map[string][]byte, error), p *packing) func(*attack, map[string][]byte) ([]byte, map[string][]byte, error) {
	return func(a *attack, bodies map[string][]byte) ([]byte, map[string][]byte, error) {
		data, _, err := write(a, bodies)
		if err != nil {
			return nil, nil, err
		}
		packed, err := p.pack(pieces(data, 3))
		return packed, nil, err
	}
}

func unpackedRules(p *packing) func([]byte) (map[string][]byte, error) {
	return func(data []byte) (map[string][]byte, error) {
		text, err := p.unpack(data)
		if err != nil {
			return nil, err
		}
		return readCaptures(text)
	}
}

// A captured is a line of captures.
type captured struct {
	URL    string  `json:"url,omitempty"`
	Origin string  `json:"origin,omitempty"`
	Status *int    `json:"status,omitempty"`
	At     any     `json:"fetched_at,omitempty"`
	Body   *string `json:"body,omitempty"`
}

func writeCaptures(_ *attack, bodies map[string][]byte) (data []byte, parts map[string][]byte, err error) {
	status := 200
	for _, origin := range slices.Sorted(maps.Keys(bodies)) {
		body := string(bodies[origin])
		line, err := json.Marshal(captured{Origin: origin, Status: &status, At: "2026-05-31T12:00:00Z", Body: &body})
		if err != nil {
			return nil, nil, err
		}
		data = append(append(data, line...), '\n')
	}
	return data, nil, nil
}

// errRecord is the error of a record that is not as it should be, and errOther the error of a record that
// says things that the slow reader does not know, such as a redirect or a failure.
var (
	errRecord = errors.New("a record is damaged")
	errOther  = errors.New("a record is of another kind")
)

// statusOK is the status of a body without one.
var statusOK = 200

// readCaptures reads captures by the rules of the format: fields that are unknown are ignored, and of
// several captures of an origin the newest counts, of captures of one moment the last, and of captures
// without a time the first. A record that is no capture of a body is an error.
func readCaptures(data []byte) (map[string][]byte, error) {
	bodies, times := map[string][]byte{}, map[string]time.Time{}
	for _, line := range cut(data) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var c captured
		if err := json.Unmarshal(line, &c); err != nil {
			return nil, err
		}
		switch status := cmp.Or(c.Status, &statusOK); {
		case c.Body == nil || c.Origin == "" || c.URL != "":
			return nil, errRecord
		case *status >= 400 && *status < 500: // no rules
			c.Body = new(string)
		case *status < 200 || *status > 299 || *status == 204 || *status == 205:
			return nil, errOther
		}
		origin, err := robots.ParseOrigin(c.Origin)
		if err != nil {
			return nil, err
		}
		var at time.Time
		if c.At != nil {
			text, ok := c.At.(string)
			if at, err = time.Parse(time.RFC3339, text); err != nil || !ok {
				return nil, errRecord
			}
		}
		if before, seen := times[string(origin)]; seen && (at.IsZero() || before.After(at)) {
			continue
		}
		bodies[string(origin)], times[string(origin)] = []byte(*c.Body), at
	}
	return bodies, nil
}

// writeWARC returns a writer of captures in a WARC file, with a gzip member for each record if that
// is asked for.
func writeWARC(packed bool) func(*attack, map[string][]byte) ([]byte, map[string][]byte, error) {
	return func(_ *attack, bodies map[string][]byte) (data []byte, parts map[string][]byte, err error) {
		parts = map[string][]byte{}
		for _, origin := range slices.Sorted(maps.Keys(bodies)) {
			if parts[origin], err = member(warcResponse(origin+"/robots.txt", bodies[origin]), packed); err != nil {
				return nil, nil, err
			}
			data = append(data, parts[origin]...)
		}
		return data, parts, nil
	}
}

// warcResponse returns the record of a response.
func warcResponse(url string, body []byte) []byte {
	http := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	return fmt.Appendf(nil, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nWARC-Date: 2026-05-31T12:00:00Z\r\n"+
		"WARC-Record-ID: <urn:uuid:12345678-1234-1234-1234-123456789abc>\r\nContent-Type: application/http; msgtype=response\r\n"+
		"Content-Length: %d\r\n\r\n%s\r\n\r\n", url, len(http), http)
}

// member returns a record, packed if that is asked for.
func member(record []byte, packed bool) ([]byte, error) {
	if !packed {
		return record, nil
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(record); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}

// compilePack returns a pack of rules, which the command makes.
func compilePack(a *attack, bodies map[string][]byte) (data []byte, parts map[string][]byte, err error) {
	dir, err := os.MkdirTemp(a.dir, "pack-")
	if err != nil {
		return nil, nil, err
	}
	if err := writeRules(filepath.Join(dir, "rules"), bodies); err != nil {
		return nil, nil, err
	}
	if _, res := a.run(nil, "compile", "-quiet", "-rules", filepath.Join(dir, "rules"), "-out", filepath.Join(dir, "x.rbp")); res.code != 0 {
		return nil, nil, errors.New(res.stderr)
	}
	data, err = os.ReadFile(filepath.Join(dir, "x.rbp"))
	return data, nil, err
}

// rulesTarget returns the target of a format of rules. The log is whole.
func (a *attack) rulesTarget(f *rulesFormat) target {
	log := a.newBase(a.random("rules", 0), 200, false)
	var text []byte
	for _, r := range log.rows {
		text = append(append(text, r.URL...), '\n')
	}
	return target{
		name: "rules/" + f.name,
		bases: func(_ *rand.Rand) ([]*base, error) {
			data, parts, err := f.write(a, a.oracle.bodies)
			other := newOracle().bodies
			other["https://other.example"] = []byte("User-agent: *\nDisallow: /other\n")
			another, _, err2 := f.write(a, other)
			return []*base{{data: data, about: parts}, {data: another, about: parts}}, errors.Join(err, err2)
		},
		try: func(r *rand.Rand, b *base, _ *mutation, data []byte) (*result, judgement, string) {
			dir, err := os.MkdirTemp(a.dir, "rules-")
			if err != nil {
				panic(err) // nothing works without it
			}
			defer os.RemoveAll(dir) //nolint:errcheck // it is below a directory that is removed
			path := filepath.Join(dir, f.file)
			arguments := []string{"-rules", path, "-in", "-", "-format", "urls"}
			expected := a.oracle.bodies
			switch f.name {
			case "one robots.txt":
				arguments = append(arguments, "-origin", site)
				expected = map[string][]byte{site: b.data}
			case "a directory":
				arguments[1] = dir
				if err := writeRules(dir, a.oracle.bodies); err != nil {
					panic(err)
				}
			}
			if err := os.WriteFile(path, data, 0o666); err != nil {
				panic(err)
			}
			if r.IntN(4) == 0 {
				arguments = append(arguments, "-max-memory", "256MiB")
			}
			res := a.job(r, text, arguments...)
			j, reason := a.judgeRules(f, b, expected, data, &res)
			return &res, j, reason
		},
	}
}

// judgeRules judges the rows of a whole log by rules that were damaged.
func (a *attack) judgeRules(f *rulesFormat, b *base, expected map[string][]byte, data []byte, res *result) (judgement, string) {
	if res.code != 0 {
		return refused, ""
	}
	untrue := func(o oracle) string {
		for _, got := range res.rows {
			if want := o.decide(got.Line, []byte(got.URL)); !same(want, got) {
				return fmt.Sprintf("%v, want %v", got, want)
			}
		}
		return ""
	}
	reason := untrue(newOracleOf(expected))
	if reason == "" && len(res.rows) > 0 {
		return whole, ""
	}
	if res.warned() {
		return warned, ""
	}
	if f.read != nil {
		bodies, err := f.read(data)
		if errors.Is(err, errOther) {
			return unseen, ""
		}
		if err != nil {
			return wrong, fmt.Sprintf("%s; the strict reader says: %v", reason, err)
		}
		if f.name == "a directory" {
			others := maps.Clone(expected)
			maps.Copy(others, bodies)
			bodies = others
		}
		if again := untrue(newOracleOf(bodies)); again != "" {
			return wrong, again
		}
		return unseen, ""
	}
	return a.judgeRecords(b, data, res, reason)
}

// judgeRecords judges rows by records, some damaged. Intact records decide as ever.
// The others may say anything, if the format has no checksum for it.
func (a *attack) judgeRecords(b *base, data []byte, res *result, reason string) (judgement, string) {
	packed := bytes.HasPrefix(b.data, []byte("\x1f\x8b"))
	if _, err := packings[0].unpack(data); b.about == nil || packed && err != nil {
		return wrong, reason
	} else if packed { // a file that is cut between two members looks like a shorter one
		bodies := map[string][]byte{}
		for origin, part := range b.about {
			if bytes.Contains(data, part) {
				bodies[origin] = a.oracle.bodies[origin]
			}
		}
		intact := newOracleOf(bodies)
		for _, got := range res.rows {
			if want := intact.decide(got.Line, []byte(got.URL)); !same(want, got) {
				return wrong, fmt.Sprintf("%v, want %v", got, want)
			}
		}
		return unseen, ""
	}
	for _, got := range res.rows {
		want := a.oracle.decide(got.Line, []byte(got.URL))
		if same(want, got) {
			continue
		}
		origin, _, _ := strings.Cut(got.URL[len("https://"):], "/")
		origin = strings.TrimSuffix(got.URL[:len("https://")]+origin, "/")
		if part := b.about[origin]; part != nil && bytes.Contains(data, part) && bytes.Count(data, []byte(origin+"/robots.txt")) == 1 {
			return wrong, fmt.Sprintf("%v, want %v, whose record is intact", got, want)
		}
	}
	return unseen, ""
}

// warcLogTarget returns the target of logs in WARC files.
func (a *attack) warcLogTarget(packed bool) target {
	name := "warc"
	if packed {
		name = "warc.gz"
	}
	return target{
		name: name,
		bases: func(r *rand.Rand) (bases []*base, err error) {
			for _, rows := range []int{30, 20, 300} {
				b := a.newBase(r, rows, false)
				for i, row := range b.rows {
					b.rows[i].Line = int64(i + 1)
					part, err := member(warcResponse(row.URL, []byte("text "+row.URL)), packed)
					if err != nil {
						return nil, err
					}
					b.parts = append(b.parts, part)
					b.data = append(b.data, part...)
				}
				bases = append(bases, b)
			}
			return bases, nil
		},
		try: func(r *rand.Rand, b *base, _ *mutation, data []byte) (*result, judgement, string) {
			file, remove := a.file("log."+name, data)
			defer remove()
			res := a.job(r, nil, "-rules", "rules", "-in", file, "-format", "warc")
			j, reason := a.judgeWARC(b, data, &res, packed)
			return &res, j, reason
		},
	}
}

// judgeWARC judges the rows of a WARC file that was damaged: the rows of intact records are
// there, unless the run counts refused records; all others stand in the bytes.
func (a *attack) judgeWARC(b *base, data []byte, res *result, packed bool) (judgement, string) {
	found, more := map[string]bool{}, unseen
	headers := bytes.ReplaceAll(data, []byte("\r\n "), []byte(" ")) // a header may go on in the next line
	for _, got := range res.rows {
		found[got.URL] = true
		switch {
		case b.has(got):
		case packed:
			return wrong, got.String() + " is no row of the file"
		case !bytes.Contains(headers, []byte(got.URL)) && !strings.Contains(got.URL, "%"):
			return wrong, got.String() + " is not in the file"
		}
	}
	if res.code != 0 {
		return refused, ""
	}
	if res.warned() || res.stats.refused() > 0 {
		return warned, ""
	}
	for i, part := range b.parts {
		if bytes.Contains(data, part) && !found[b.rows[i].URL] {
			return wrong, fmt.Sprintf("missing: %v, whose record is intact", b.rows[i])
		}
	}
	if len(found) == len(b.rows) {
		more = whole
	}
	return more, ""
}
