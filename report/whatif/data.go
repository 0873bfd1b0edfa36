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

// Data is the data that the panel decides again.
type Data struct {
	Dialect robots.Dialect
	Agents  []string // the crawlers, by Count.Agent: names that robots.NewAgent takes; at least one
	Names   []string // the names that the page shows; nil are their names in Agents
	Origins []Origin // at most MaxOrigins are used, the first ones

	// Several says that each request is decided for several crawlers, and so counted for each: the page
	// speaks of verdicts.
	Several bool

	// Others says that the first of Agents stands for other clients: the page counts them apart.
	Others bool

	// LeftOut explains why there is no panel; "" if there is one, and also without origins.
	LeftOut string

	// Limit says why URLs have fewer than there are, as the end of "Other URLs are omitted: "; "" if they do not.
	Limit string

	// Note is a sentence on the texts that are not there to edit, and why; "" if nothing is missing.
	Note string
}

// An Origin is a site whose robots.txt can be edited.
type Origin struct {
	Origin   robots.Origin
	Others   int    // other origins with the same text, included in Requests and URLs
	Text     []byte // the robots.txt that is in force, as it is
	Name     string // where it was read, for people
	Requests int64  // to the origin, or verdicts, also for URLs that are not in URLs; 0 is unknown
	Distinct int    // URLs that were requested of the origin; 0 is unknown
	URLs     []URL  // each path once, those with the most requests first
}

// A URL is a URL of the origin, with the crawlers that requested it.
type URL = decide.URL

// A Count is the requests of a crawler for one URL.
type Count = decide.Count

// The limits of a page. Packed, 50,000 real URLs are 1 MB, the module 1.5 MB.
const (
	MaxOrigins = 20        // of these one is chosen
	MaxURLs    = 50_000    // of all origins
	minBytes   = 60_000    // of the data, packed
	maxBytes   = 1_500_000 // of texts and a few URLs
	minURLs    = 100       // of an origin, if it has them; fewer are not worth its text
)

// A head describes the data to the script, as JSON. Offsets count from the end of the head.
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

// A site is an origin in the head.
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
	Limit    string `json:"limit"`    // why there are fewer in Log; "" if there are not
}

// A span is the begin and the end of bytes.
type span [2]int

// encode packs the data: gzip of the length of the head in four bytes, the lowest first, the head as
// JSON, and the data it points at. It takes as many URLs as fit the limits and so many bytes.
func (d *Data) encode(room int) (string, error) {
	limit := fmt.Sprintf("the page has at most %d URLs of all origins", MaxURLs)
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
			return "", fmt.Errorf("pack the data of the panel: %d bytes, the most is %d", len(packed), maxBytes)
		}
		most = max(minURLs, int(int64(urls)*int64(room)/int64(len(packed))*95/100))
		limit = fmt.Sprintf("the page has room for %.2f MB of packed URLs", float64(room)/1e6)
	}
}

// packing is the level of gzip: the greatest takes over twice the time, and saves 1 % of real URLs.
const packing = 5

// packText packs bytes, and returns them in ascii85: base64 takes a fifteenth more.
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
		return "", fmt.Errorf("pack a part of the panel: %w", err)
	}
	text := make([]byte, ascii85.MaxEncodedLen(b.Len()))
	return unmarked.Replace(string(text[:ascii85.Encode(text, b.Bytes())])), nil
}

// unmarked has other signs for those that html/template escapes.
var unmarked = strings.NewReplacer(`"`, "v", "&", "w", "'", "x", "+", "y", "<", "{", ">", "|")

// layout returns the data with at most so many URLs, which is for a reason, not packed yet, and how many URLs it has.
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
		if s.Counted > s.Requests { // some were decided by a text that the origin had before or after
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

// hasBytes reports whether the answers have bytes, and each counts once.
func (d *Data) hasBytes() bool {
	return !d.Several && slices.ContainsFunc(d.Origins, func(o Origin) bool {
		return slices.ContainsFunc(o.URLs, func(u URL) bool { return slices.ContainsFunc(u.Counts, func(c Count) bool { return c.Bytes > 0 }) })
	})
}

func appendSpan(dst, b []byte) (span, []byte) {
	return span{len(dst), len(dst) + len(b)}, append(dst, b...)
}

// share divides so many URLs among the origins: equal parts, and the rest that an origin does not need is for
// the others.
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
