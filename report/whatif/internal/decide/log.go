package decide

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/robobatch/robobatch/internal/wire"
	"github.com/robobatch/robobatch/robots"
)

// A URL is a URL of the origin, with the crawlers that requested it.
type URL struct {
	Path   string  // the part after the origin, as written in the log
	Counts []Count // by ascending Agent, each once
}

// A Count is the number of requests of one crawler for a URL.
type Count struct {
	Agent    int   // index in the list of crawlers
	Requests int64 // at least 1
	Bytes    int64 // bytes of their responses; 0 is none or unknown
}

// Requests returns the requests of all crawlers.
func (u *URL) Requests() (n int64) {
	for _, c := range u.Counts {
		n += c.Requests
	}
	return n
}

// A Log holds the URLs of one origin and the requests for them. It is immutable.
type Log struct {
	dialect robots.Dialect
	raw     texts     // by URL: its path as written
	paths   texts     // by URL: its path, normalised by the dialect
	always  []bool    // by URL: whether the dialect allows it regardless of rules
	txt     []bool    // by URL: whether it is a robots.txt, which is never disallowed
	agents  []crawler // in the order of Count.Agent
}

// A crawler is one crawler and its requests.
type crawler struct {
	agent    robots.Agent
	urls     []int32 // ascending
	requests []int64 // for each of urls
	bytes    []int64 // the bytes of the responses; nil if unknown
}

// texts are concatenated strings: 50,000 slices would need as many headers.
type texts struct {
	all  []byte
	ends []int
}

func (t *texts) addText(s []byte) {
	t.all = append(t.all, s...)
	t.ends = append(t.ends, len(t.all))
}

func (t *texts) at(i int) []byte {
	begin := 0
	if i > 0 {
		begin = t.ends[i-1]
	}
	return t.all[begin:t.ends[i]]
}

// ErrLog is the error for bytes that are not an encoded log.
var ErrLog = errors.New("not the encoding of a log")

// AppendLog appends the encoding of URLs, which ReadLog reads, and returns the extended buffer. It consists of the
// number of URLs, 1 if response sizes are known, and the URLs sorted by path. Each URL has the number of bytes that
// its path shares with the previous one, the other bytes as a text, and the number of its counts. Each count has the
// difference to the previous agent, the requests and, if known, the response bytes.
func AppendLog(dst []byte, urls []URL) []byte {
	urls = slices.Clone(urls)
	slices.SortFunc(urls, func(a, b URL) int { return cmp.Compare(a.Path, b.Path) })
	hasBytes := slices.ContainsFunc(urls, func(u URL) bool { return slices.ContainsFunc(u.Counts, func(c Count) bool { return c.Bytes > 0 }) })
	dst = append(binary.AppendUvarint(dst, uint64(len(urls))), byte(bit(hasBytes)))
	before := ""
	for _, u := range urls {
		same := 0
		for same < min(len(before), len(u.Path)) && before[same] == u.Path[same] {
			same++
		}
		dst = binary.AppendUvarint(dst, uint64(same))
		dst = wire.AppendText(dst, u.Path[same:])
		dst = binary.AppendUvarint(dst, uint64(len(u.Counts)))
		last := 0
		for _, c := range u.Counts {
			dst = binary.AppendUvarint(dst, uint64(c.Agent-last))
			dst = binary.AppendUvarint(dst, uint64(c.Requests))
			if hasBytes {
				dst = binary.AppendUvarint(dst, uint64(c.Bytes))
			}
			last = c.Agent
		}
		before = u.Path
	}
	return dst
}

// maxPath is the length of the longest path that is read: log lines have at most 64 KiB.
const maxPath = 64 << 10

// ReadLog decodes the bytes that AppendLog wrote. agents are the names of the crawlers. The error is ErrLog.
func ReadLog(data []byte, d robots.Dialect, agents []string) (*Log, error) {
	l := &Log{dialect: d, agents: make([]crawler, len(agents))}
	for i, name := range agents {
		l.agents[i].agent = robots.NewAgent(name, d)
	}
	c := wire.NewCursor(data)
	var path, normal, buf []byte
	number := c.Count()
	hasBytes := c.Byte() == 1
	for i := range number {
		same := c.Uvarint()
		rest := c.Text()
		if same > uint64(len(path)) || len(rest) > maxPath {
			return nil, ErrLog
		}
		path = append(path[:same], rest...)
		l.raw.addText(path)
		normal, buf = d.Path(path, buf)
		l.paths.addText(normal)
		l.txt = append(l.txt, robots.IsTxt(normal))
		l.always = append(l.always, d.AlwaysAllowed(normal))
		if !l.readCounts(&c, int32(i), hasBytes) {
			return nil, ErrLog
		}
	}
	if !c.AtEnd() {
		return nil, ErrLog
	}
	return l, nil
}

// readCounts reads the counts of a URL, and reports whether they are valid.
func (l *Log) readCounts(c *wire.Cursor, url int32, hasBytes bool) bool {
	agent := uint64(0)
	for i := range c.Count() {
		step := c.Uvarint()
		if agent += step; step > uint64(len(l.agents)) || agent >= uint64(len(l.agents)) || i > 0 && step == 0 {
			return false
		}
		who := &l.agents[agent]
		who.urls = append(who.urls, url)
		who.requests = append(who.requests, int64(c.Uvarint()))
		if hasBytes {
			who.bytes = append(who.bytes, int64(c.Uvarint()))
		}
	}
	return !c.Bad()
}

// URLs returns the number of URLs.
func (l *Log) URLs() int { return len(l.always) }

// Path returns the path of a URL as written in the log. It shares the memory of the log.
func (l *Log) Path(url int) []byte { return l.raw.at(url) }
