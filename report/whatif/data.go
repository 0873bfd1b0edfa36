package whatif

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/ascii85"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/report/whatif/internal/decide"
	"github.com/robobatch/robobatch/robots"
)

// Data is what the panel needs to evaluate requests again.
type Data struct {
	Dialect robots.Dialect
	Agents  []string // the crawlers, indexed by Count.Agent: names that robots.NewAgent accepts; at least one
	Names   []string // their names on the page; nil means Agents
	Origins []Origin // only the first MaxOrigins are used

	// Several says that each request has a verdict for each of several crawlers, so the page counts verdicts, not
	// requests.
	Several bool

	// Others says that the first of Agents stands for unidentified clients. The page counts them separately.
	Others bool

	// LeftOut explains why there is no panel; "" if there is one. Without origins there is no panel either.
	LeftOut string

	// Limit explains why URLs may have fewer entries than were requested, to follow "Other URLs are omitted: "; "" if
	// they are complete.
	Limit string

	// Note is a sentence that says which texts cannot be edited, and why; "" if all can.
	Note string
}

// An Origin is an origin whose robots.txt can be edited.
type Origin struct {
	Origin   robots.Origin
	Others   int    // number of other origins with the same text, whose requests are included
	Text     []byte // the unchanged robots.txt that is in force
	Name     string // where it was read, for people
	Requests int64  // requests or verdicts of the origin, including those for URLs that are not in URLs; 0 means unknown
	Distinct int    // number of distinct URLs that were requested; 0 means unknown
	URLs     []URL  // each path once, most requested first
}

// A URL is a URL of an Origin, with the crawlers that requested it.
type URL = decide.URL

// A Count is the number of requests of one crawler for a URL.
type Count = decide.Count

// Limits of the data in a page. Compressed, 50,000 real URLs take 1 MB, and the module takes 1.5 MB.
const (
	MaxOrigins = 20        // of these one is chosen
	MaxURLs    = 50_000    // of all origins
	minBytes   = 60_000    // of the data, packed
	maxBytes   = 1_500_000 // of texts and a few URLs
	minURLs    = 100       // of an origin, if it has as many; with fewer URLs its text is not worth the space
)

// A head describes the data to the script, as JSON. Offsets are relative to the end of the head.
type head struct {
	Dialect string   `json:"dialect"`
	Flags   uint32   `json:"flags"` // of the dialect
	Agents  []string `json:"agents"`
	Names   []string `json:"names"`
	Unit    string   `json:"unit"`  // of counts
	Bytes   bool     `json:"bytes"` // counts have them
	Others  bool     `json:"others"`
	Origins []site   `json:"origins"`
}

// A site is an Origin in the head.
type site struct {
	Origin   string `json:"origin"`
	Name     string `json:"name"`
	Others   int    `json:"others"`
	Text     span   `json:"text"`
	Log      span   `json:"log"`
	URLs     int    `json:"urls"`     // in Log
	Counted  int64  `json:"counted"`  // requests in Log
	Requests int64  `json:"requests"` // of the origin
	Distinct int    `json:"distinct"` // URLs of the origin
	Limit    string `json:"limit"`    // why Log has fewer URLs than were requested; "" if it has all
}

// A span is the begin and the end of bytes.
type span [2]int

// encode compresses the data with gzip: the length of the head in four bytes, little-endian, the head as JSON, and
// the data to which its offsets refer. It includes as many URLs as fit into the limits and room bytes.
func (d *Data) encode(room int) (string, error) {
	limit := fmt.Sprintf("the page can contain at most %d URLs", MaxURLs)
	for most := MaxURLs; ; {
		raw, urls, err := d.layout(most, limit)
		if err != nil {
			return "", err
		}
		packed, err := packText(raw)
		if err != nil {
			return "", err
		}
		if len(packed) <= room || urls <= minURLs && len(packed) <= maxBytes {
			return packed, nil
		}
		if urls <= minURLs {
			return "", fmt.Errorf("compress the data of the panel: %d bytes exceed the limit of %d", len(packed), maxBytes)
		}
		most = max(minURLs, int(int64(urls)*int64(room)/int64(len(packed))*95/100))
		limit = fmt.Sprintf("the page has room for %.2f MB of packed URLs", float64(room)/1e6)
	}
}

// packing is the gzip level. The highest level takes over twice the time, and saves only 1 % on real URLs.
const packing = 5

// packText compresses bytes, and returns them in ascii85; base64 would be a fifteenth larger.
func packText(raw []byte) (string, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, packing)
	if err == nil {
		_, err = z.Write(raw)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return "", fmt.Errorf("compress a part of the panel: %w", err)
	}
	text := make([]byte, ascii85.MaxEncodedLen(b.Len()))
	return unmarked.Replace(string(text[:ascii85.Encode(text, b.Bytes())])), nil
}

// unmarked replaces the characters of ascii85 that html/template would escape.
var unmarked = strings.NewReplacer(`"`, "v", "&", "w", "'", "x", "+", "y", "<", "{", ">", "|")

// layout returns the uncompressed data with at most the given number of URLs, and their actual number. limit is the
// reason for that maximum, which the page shows.
func (d *Data) layout(most int, limit string) (raw []byte, urls int, err error) {
	h := head{Bytes: d.hasBytes(), Others: d.Others, Dialect: d.Dialect.String(), Flags: uint32(d.Dialect), Agents: d.Agents, Names: d.Names}
	if h.Unit = "request"; d.Several {
		h.Unit = "verdict"
	}
	if h.Names == nil {
		h.Names = d.Agents
	}
	origins := d.Origins[:min(MaxOrigins, len(d.Origins))]
	var body []byte
	for i, n := range share(origins, most) {
		o := &origins[i]
		s := site{Origin: string(o.Origin), Name: o.Name, Others: o.Others, URLs: n, Requests: o.Requests, Distinct: o.Distinct}
		s.Text, body = appendSpan(body, o.Text)
		s.Log, body = appendSpan(body, decide.AppendLog(nil, o.URLs[:n]))
		for j := range n {
			s.Counted += o.URLs[j].Requests()
		}
		switch {
		case n < len(o.URLs):
			s.Limit = limit
		case n < o.Distinct:
			s.Limit = d.Limit
		}
		if s.Counted > s.Requests { // some URLs were decided by an earlier or a later text of the origin
			s.Requests = 0
		}
		urls += n
		h.Origins = append(h.Origins, s)
	}
	top, err := json.Marshal(h)
	if err != nil {
		return nil, 0, fmt.Errorf("write the head of the panel's data: %w", err)
	}
	raw = binary.LittleEndian.AppendUint32(raw, uint32(len(top)))
	return append(append(raw, top...), body...), urls, nil
}

// hasBytes reports whether response sizes are known and each request has only one verdict.
func (d *Data) hasBytes() bool {
	return !d.Several && slices.ContainsFunc(d.Origins, func(o Origin) bool {
		return slices.ContainsFunc(o.URLs, func(u URL) bool { return slices.ContainsFunc(u.Counts, func(c Count) bool { return c.Bytes > 0 }) })
	})
}

func appendSpan(dst, b []byte) (span, []byte) {
	return span{len(dst), len(dst) + len(b)}, append(dst, b...)
}

// share divides a number of URLs among the origins in equal parts. What an origin does not need goes to the others.
func share(origins []Origin, most int) []int {
	parts := make([]int, len(origins))
	order := make([]int, len(origins))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(origins[a].URLs), len(origins[b].URLs)) })
	for k, i := range order {
		parts[i] = min(len(origins[i].URLs), most/(len(order)-k))
		most -= parts[i]
	}
	return parts
}
