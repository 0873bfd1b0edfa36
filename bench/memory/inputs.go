package main

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/bench/internal/madeup"
	"github.com/robobatch/robobatch/robots"
)

// An input is a file that shapes read.
type input struct {
	name  string
	write func(path string, g *madeup.Generator) error
}

// firstDay is the time of the first captures of all origins, and of the first event.
var firstDay = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// The inputs. Logs have the URLs in random order, except for long, which has about one in ten of them.
var (
	pack = &input{"made-up.rbp", func(path string, g *madeup.Generator) error { return madeup.WritePack(path, g.Responses()) }}
	// closing has a different robots.txt for each origin, all of which disallow the whole site.
	closing = &input{"closing.rbp", func(path string, g *madeup.Generator) error {
		return madeup.WritePack(path, func(yield func(robots.Response, error) bool) {
			n := 0
			for r, err := range g.Responses() {
				r.Body = fmt.Appendf(nil, "# %d\nUser-agent: *\nDisallow: /\n", n)
				if n++; !yield(r, err) {
					return
				}
			}
		})
	}}
	// history has three captures of each robots.txt: the text, a failure, and the text again.
	history = &input{"history.rbp", func(path string, g *madeup.Generator) error {
		return madeup.WritePack(path, func(yield func(robots.Response, error) bool) {
			for r, err := range g.Responses() {
				for days, status := range map[int]int{0: http.StatusOK, 10: http.StatusServiceUnavailable, 20: http.StatusOK} {
					c := r
					c.FetchedAt, c.Status = firstDay.AddDate(0, 0, days), status
					if status != http.StatusOK {
						c.Body = nil
					}
					if !yield(c, err) {
						return
					}
				}
			}
		})
	}}
	captures = &input{"captures.jsonl.zst", func(path string, g *madeup.Generator) error { return madeup.WriteRules(path, g.Responses()) }}

	urls = newLog("urls.txt.zst", "", appendURL, "")
	long = newLog("long.txt.zst", "", func(dst, url []byte, rng *rand.Rand) []byte {
		if rng.IntN(10) > 0 {
			return dst
		}
		dst = append(append(dst, url...), "?q="...)
		for range 256 { // 4 KiB that do not compress well
			dst = fmt.Appendf(dst, "%016x", rng.Uint64())
		}
		return append(dst, '\n')
	}, "")
	windows = newLog("windows.txt.zst", "", appendURL, "", zstd.WithWindowSize(64<<20))
	// events are JSON lines with the URL and a dozen other fields, with times in 30 days.
	events = newLog("events.jsonl.zst", "", func(dst, url []byte, rng *rand.Rand) []byte {
		at := firstDay.Add(time.Duration(rng.Int64N(int64(30 * 24 * time.Hour))))
		return fmt.Appendf(dst, `{"url":%q,"time":%q,"method":"GET","status":%d,"referer":"https://referer%d.example/p/%x","country":"%c%c","ms":%.3f,`+
			`"bytes":%d,"request_id":"%016x","session":"%032x","cached":%t,"user_agent":%q}`+"\n",
			url, at.Format(time.RFC3339), 200+rng.IntN(4)*100, rng.IntN(5000), rng.Uint32(), 'A'+rng.IntN(26), 'A'+rng.IntN(26), rng.Float64()*1000,
			rng.IntN(1e6), rng.Uint64(), rng.Uint64(), rng.IntN(2) == 0, users[rng.IntN(len(users))])
	}, "")
	// sitemap has more URLs than the protocol permits.
	sitemap = newLog("sitemap.xml.zst", xml.Header+"<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n", func(dst, url []byte, _ *rand.Rand) []byte {
		return fmt.Appendf(dst, "<url><loc>%s</loc><priority>0.5</priority></url>\n", html.EscapeString(string(url)))
	}, "</urlset>\n")
	stream = &input{"urls.arrows", writeStream}

	words   = newWords("words.txt", 1)
	changed = newWords("changed.txt", 2)
)

// users are the User-Agents of events.
var users = []string{
	"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
	"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
	"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
	"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
}

// newLog returns the input of a compressed text: head, what appendLine appends for each URL, in random order, and
// tail.
func newLog(name, head string, appendLine func(dst, url []byte, rng *rand.Rand) []byte, tail string, opt ...zstd.EOption) *input {
	return &input{name, func(path string, g *madeup.Generator) error {
		return madeup.WriteFile(path, func(w io.Writer) error {
			enc, err := zstd.NewWriter(w, opt...)
			if err != nil {
				return err
			}
			text := bufio.NewWriterSize(enc, 1<<16)
			text.WriteString(head)
			rng := rand.New(rand.NewPCG(1, 2))
			var buf []byte
			for url := range g.URLs(madeup.Shuffled) {
				buf = appendLine(buf[:0], url, rng)
				text.Write(buf)
			}
			text.WriteString(tail)
			return errors.Join(text.Flush(), enc.Close())
		})
	}}
}

func appendURL(dst, url []byte, _ *rand.Rand) []byte { return append(append(dst, url...), '\n') }

// writeStream writes an Arrow stream of URLs, in record batches of 8,192 rows.
func writeStream(path string, g *madeup.Generator) error {
	return madeup.WriteFile(path, func(w io.Writer) error {
		schema := arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String}}, nil)
		out, column := ipc.NewWriter(w, ipc.WithSchema(schema)), array.NewStringBuilder(memory.DefaultAllocator)
		flush := func() error {
			values := column.NewArray()
			return out.Write(array.NewRecord(schema, []arrow.Array{values}, int64(values.Len())))
		}
		for url := range g.URLs(madeup.Shuffled) {
			if column.Append(string(url)); column.Len() == 8192 {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		return errors.Join(flush(), out.Close())
	})
}

// newWords returns the input of a robots.txt of nearly the maximum size. Its rules contain words that can follow each
// other in nearly any order, so that the number of possible sets of positions is huge.
func newWords(name string, seed uint64) *input {
	return &input{name, func(path string, _ *madeup.Generator) error {
		rng := rand.New(rand.NewPCG(seed, 29))
		text := []byte("User-agent: *\n")
		for len(text) < robots.MaxBytes-100 {
			text = append(text, "Disallow: /"...)
			for range 8 {
				text = fmt.Appendf(text, "*%03b%02b", rng.IntN(8), rng.IntN(4))
			}
			text = append(text, '\n')
		}
		return os.WriteFile(path, text, 0o666)
	}}
}
