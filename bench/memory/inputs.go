package main

import (
	"bufio"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/bench/internal/madeup"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// An input is a file that shapes read.
type input struct {
	name  string
	write func(path string, g *madeup.Generator, spec madeup.Spec) error
}

// The inputs. The one with long URLs has a tenth of the rows.
var (
	pack     = &input{"made-up.rbp", makePack}
	closing  = &input{"closing.rbp", makeClosing}
	history  = &input{"history.rbp", makeHistory}
	captures = &input{"captures.jsonl.zst", makeCaptures}
	urls     = &input{"urls.txt.zst", makeURLs}
	longURLs = &input{"long.txt.zst", makeLongURLs}
	events   = &input{"events.jsonl.zst", makeEvents}
	windows  = &input{"windows.txt.zst", makeWindows}
	words    = &input{"words.txt", makeWords(1)}
	changed  = &input{"changed.txt", makeWords(2)}
	sitemap  = &input{"sitemap.xml.zst", makeSitemap}
	stream   = &input{"urls.arrows", makeStream}
)

// makeSitemap writes the URLs as an XML sitemap with more URLs than the protocol permits.
func makeSitemap(path string, g *madeup.Generator, s madeup.Spec) error {
	return madeup.WriteFile(path, func(w io.Writer) error {
		enc, err := zstd.NewWriter(w)
		if err != nil {
			return err
		}
		text := bufio.NewWriterSize(enc, 1<<16)
		text.WriteString(xml.Header + "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n")
		rows := s.URLs
		for url := range g.URLs(madeup.Shuffled) {
			if rows--; rows < 0 {
				break
			}
			text.WriteString("<url><loc>")
			xml.EscapeText(text, url) //nolint:errcheck // Flush returns it
			text.WriteString("</loc><priority>0.5</priority></url>\n")
		}
		text.WriteString("</urlset>\n")
		return errors.Join(text.Flush(), enc.Close())
	})
}

// makeStream writes an Arrow stream of URLs, in record batches of 8,192 rows.
func makeStream(path string, g *madeup.Generator, s madeup.Spec) error {
	return madeup.WriteFile(path, func(w io.Writer) error {
		schema := arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String}}, nil)
		out, column := ipc.NewWriter(w, ipc.WithSchema(schema)), array.NewStringBuilder(memory.DefaultAllocator)
		rows := int64(0)
		flush := func() error {
			values := column.NewArray()
			return out.Write(array.NewRecord(schema, []arrow.Array{values}, int64(values.Len())))
		}
		for url := range g.URLs(madeup.Shuffled) {
			if rows++; rows > s.URLs {
				break
			}
			if column.Append(string(url)); column.Len() == 8192 {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		return errors.Join(flush(), out.Close())
	})
}

// makeWords returns a writer of a robots.txt whose rules contain words that can follow each other in nearly any order,
// so that the number of possible sets of positions is huge.
func makeWords(seed uint64) func(path string, _ *madeup.Generator, _ madeup.Spec) error {
	return func(path string, _ *madeup.Generator, _ madeup.Spec) error {
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
	}
}

// makeWindows writes a log whose frame needs a window of 64 MiB.
func makeWindows(path string, g *madeup.Generator, s madeup.Spec) error {
	return writeLog(path, g, 4*s.URLs, appendURL, zstd.WithWindowSize(64<<20))
}

func makePack(path string, g *madeup.Generator, _ madeup.Spec) error {
	return writePack(path, g.Responses())
}

// makeClosing writes a different robots.txt for each origin, all of which disallow the whole site.
func makeClosing(path string, g *madeup.Generator, _ madeup.Spec) error {
	return writePack(path, func(yield func(robots.Response, error) bool) {
		n := 0
		for r, err := range g.Responses() {
			r.Body = fmt.Appendf(nil, "# %d\nUser-agent: *\nDisallow: /\n", n)
			if n++; !yield(r, err) {
				return
			}
		}
	})
}

func makeHistory(path string, g *madeup.Generator, _ madeup.Spec) error {
	return writePack(path, captured(g.Responses()))
}

func makeCaptures(path string, g *madeup.Generator, _ madeup.Spec) error {
	return madeup.WriteRules(path, g.Responses())
}

func makeURLs(path string, g *madeup.Generator, s madeup.Spec) error {
	return writeLog(path, g, s.URLs, appendURL)
}

func makeLongURLs(path string, g *madeup.Generator, s madeup.Spec) error {
	return writeLog(path, g, s.URLs/10, appendLong)
}

func makeEvents(path string, g *madeup.Generator, s madeup.Spec) error {
	return writeLog(path, g, s.URLs, appendEvent)
}

// writePack compiles rules in the command's own dialect.
func writePack(path string, all iter.Seq2[robots.Response, error]) error {
	return madeup.WriteFile(path, func(w io.Writer) error {
		_, err := engine.WritePack(context.Background(), w.(*os.File), all, engine.PackOptions{Dialect: robots.Google, TempDir: filepath.Dir(path)})
		return err
	})
}

// firstDay is the time of the first captures of all origins, and of the first event.
var firstDay = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// captured yields three captures for each robots.txt: the text, a failure, and the text again.
func captured(all iter.Seq2[robots.Response, error]) iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		for r, err := range all {
			for days, status := range map[int]int{0: http.StatusOK, 10: http.StatusServiceUnavailable, 20: http.StatusOK} {
				c := r
				c.FetchedAt, c.Status = firstDay.AddDate(0, 0, days), status
				if status != http.StatusOK {
					c.Body = nil
				}
				if !yield(c, err) || err != nil {
					return
				}
			}
		}
	}
}

// writeLog writes the first rows of a log in random order. line makes a line of a URL.
func writeLog(path string, g *madeup.Generator, rows int64, line func(dst, url []byte, rng *rand.Rand) []byte, opt ...zstd.EOption) error {
	return madeup.WriteFile(path, func(w io.Writer) error {
		enc, err := zstd.NewWriter(w, opt...)
		if err != nil {
			return err
		}
		text := bufio.NewWriterSize(enc, 1<<16)
		rng := rand.New(rand.NewPCG(1, 2))
		var buf []byte
		for url := range g.URLs(madeup.Shuffled) {
			if rows--; rows < 0 {
				break
			}
			buf = append(line(buf[:0], url, rng), '\n')
			text.Write(buf)
		}
		return errors.Join(text.Flush(), enc.Close())
	})
}

func appendURL(dst, url []byte, _ *rand.Rand) []byte { return append(dst, url...) }

// appendLong appends the URL with a query of about 4 KiB that does not compress well.
func appendLong(dst, url []byte, rng *rand.Rand) []byte {
	const words = 256
	dst = append(append(dst, url...), "?q="...)
	for range words {
		dst = fmt.Appendf(dst, "%016x", rng.Uint64())
	}
	return dst
}

// users are the User-Agents of events.
var users = []string{
	"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
	"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
	"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
	"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
}

// appendEvent appends a JSON line with the URL and a dozen other fields, with a time in 30 days.
func appendEvent(dst, url []byte, rng *rand.Rand) []byte {
	at := firstDay.Add(time.Duration(rng.Int64N(int64(30 * 24 * time.Hour))))
	return fmt.Appendf(dst, `{"url":%q,"time":%q,"method":"GET","status":%d,"referer":"https://referer%d.example/p/%x","country":"%c%c","ms":%.3f,`+
		`"bytes":%d,"request_id":"%016x","session":"%032x","cached":%t,"user_agent":%q}`,
		url, at.Format(time.RFC3339), 200+rng.IntN(4)*100, rng.IntN(5000), rng.Uint32(), 'A'+rng.IntN(26), 'A'+rng.IntN(26), rng.Float64()*1000,
		rng.IntN(1e6), rng.Uint64(), rng.Uint64(), rng.IntN(2) == 0, users[rng.IntN(len(users))])
}
