// Package worlds generates logs of sites with or without planted faults, describes the faults, and compares them with
// the findings of reports:
//
//	go test ./worlds -worlds 20
//
// A world is a directory: access.log.zst in Combined Log Format; robots.jsonl, the captures of robots.txt; ranges and
// ranges.args, lists of crawlers' addresses; sitemap.xml.zst; and truth.json. The same seed gives the same bytes. The
// package does not know how faults are detected. Each world is read again after writing, and compared with its truth.
package worlds

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/bench/internal/madeup"
)

// An order describes the world to generate.
type order struct {
	seed           uint64
	codes          []string // codes of the faults; nil means zero to five random ones
	faultless      bool
	alone          bool // only faults with these codes
	days, requests int  // 0 means a random number
}

func codes() []string {
	all := make([]string, len(kinds))
	for i, k := range kinds {
		all[i] = k.code
	}
	return all
}

// make generates a world, writes it and reads it again.
func (o *order) make(dir string) error {
	w, err := o.world()
	if err != nil {
		return err
	}
	if err := w.write(dir); err != nil {
		return err
	}
	problems, err := check(dir)
	for _, p := range problems {
		err = errors.Join(err, fmt.Errorf("%s: %s", dir, p))
	}
	return err
}

// world generates worlds until one has all faults above their thresholds.
func (o *order) world() (*world, error) {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, o.codes, o.faultless)
	rng := rand.New(rand.NewPCG(o.seed, h.Sum64()))
	days, requests := o.days, o.requests
	if days == 0 {
		days = 14 + rng.IntN(22)
	}
	if requests == 0 {
		requests = 40_000 + rng.IntN(160_000)
	}
	wanted := slices.Clone(o.codes)
	if !o.faultless && wanted == nil {
		for _, i := range rng.Perm(len(kinds))[:rng.IntN(6)] {
			wanted = append(wanted, kinds[i].code)
		}
	}
	for !o.alone && len(o.codes) == 1 && len(wanted) < 5 && rng.IntN(2) == 0 { // sometimes with other faults
		if code := pick(rng, codes()); !slices.Contains(wanted, code) {
			wanted = append(wanted, code)
		}
	}
	attempts := 40
	for attempt := range attempts {
		w := newWorld(rand.New(rand.NewPCG(o.seed, h.Sum64()+1+uint64(attempt))), o.seed, days, requests)
		ok := true
		for _, k := range kinds {
			n := len(w.faults)
			switch {
			case !slices.Contains(wanted, k.code):
			case k.plant(w, k.code):
				w.faults[n].Consequences = append(w.faults[n].Consequences, strings.Fields(k.consequences)...)
			default:
				w.dropped = append(w.dropped, k.code)
				ok = ok && attempt > attempts/2 && !slices.Contains(o.codes, k.code)
			}
		}
		if !ok {
			continue
		}
		often := .3
		if len(wanted) == 0 {
			often = .55
		}
		w.disturb(often, wanted)
		w.generateLog()
		if w.countFaults() {
			return w, nil
		}
	}
	return nil, fmt.Errorf("seed %d: no world of %d days and %d requests with %s after %d attempts: use more days or requests", o.seed, days, requests, strings.Join(wanted, ", "), attempts)
}

// write writes the files of a world.
func (w *world) write(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "ranges"), 0o755); err != nil {
		return err
	}
	file := func(name string, write func(*bufio.Writer) error) error {
		return madeup.WriteFile(filepath.Join(dir, name), func(out io.Writer) error {
			if !strings.HasSuffix(name, ".zst") {
				text := bufio.NewWriter(out)
				return errors.Join(write(text), text.Flush())
			}
			enc, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
			if err != nil {
				return err
			}
			text := bufio.NewWriter(enc)
			return errors.Join(write(text), text.Flush(), enc.Close())
		})
	}
	err := file("access.log.zst", func(out *bufio.Writer) error {
		var line []byte
		for i := range w.log {
			r := &w.log[i]
			line = append(append(line[:0], r.ip...), " - - ["...)
			line = time.Unix(r.at, 0).UTC().AppendFormat(line, "02/Jan/2006:15:04:05 -0700")
			method := "GET"
			if r.who == monitor {
				method = "HEAD"
			}
			line = fmt.Appendf(line, "] \"%s %s HTTP/1.1\" %d %d \"%s\" \"%s\"\n", method, r.path, r.status, r.size, cmp.Or(r.referer, "-"), cmp.Or(r.agent, r.who.agent))
			if _, err := out.Write(line); err != nil {
				return err
			}
		}
		return nil
	})
	err = errors.Join(err, file("robots.jsonl", func(out *bufio.Writer) error {
		lines := json.NewEncoder(out)
		for _, v := range w.versions {
			body := v.text
			if v.status != 200 {
				body = ""
			}
			if err := lines.Encode(map[string]any{"url": w.host + "/robots.txt", "status": v.status, "fetched_at": stamp(v.from), "body": body}); err != nil {
				return err
			}
		}
		return nil
	}), file("sitemap.xml.zst", func(out *bufio.Writer) error {
		out.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n")
		for _, path := range w.listed {
			fmt.Fprintf(out, "<url><loc>%s%s</loc></url>\n", w.host, path)
		}
		_, err := out.WriteString("</urlset>\n")
		return err
	}), file("truth.json", func(out *bufio.Writer) error {
		enc := json.NewEncoder(out)
		enc.SetIndent("", " ")
		return enc.Encode(w.truth())
	}))
	var arguments strings.Builder
	for _, c := range w.clients {
		if c.list == "" {
			continue
		}
		arguments.WriteString("-ranges\n" + c.name + "=ranges/" + c.list + ".json\n")
		err = errors.Join(err, file("ranges/"+c.list+".json", func(out *bufio.Writer) error {
			prefixes := make([]map[string]string, len(c.nets))
			for i, n := range c.nets {
				prefixes[i] = map[string]string{"ipv4Prefix": n + ".0/24"}
			}
			return json.NewEncoder(out).Encode(map[string]any{"creationTime": strings.TrimSuffix(stamp(w.from/2+w.to/2), "Z") + ".000000", "prefixes": prefixes})
		}))
	}
	return errors.Join(err, file("ranges.args", func(out *bufio.Writer) error {
		if arguments.Len() > 0 {
			arguments.WriteString("-ranges-age\n90d\n")
		}
		_, err := out.WriteString(arguments.String())
		return err
	}))
}

// A report has the contents of truth.json.
type report struct {
	Seed     uint64              `json:"seed"`
	Lines    int                 `json:"lines"`
	Days     int                 `json:"days"`
	Format   string              `json:"format"`
	Base     string              `json:"base"`
	From     string              `json:"from"`
	To       string              `json:"to"`
	Crawlers map[string]int      `json:"crawlers"` // mean number of requests per day
	Dropped  []string            `json:"dropped"`  // codes that were impossible to plant
	Innocent map[string]any      `json:"innocent"`
	Limits   []map[string]string `json:"limits"`
	Faults   []truth             `json:"faults"`
}

func (w *world) truth() report {
	r := report{w.seed, len(w.log), int(w.days()), "combined", w.host, stamp(w.from), stamp(w.to), map[string]int{}, w.dropped, w.innocent, w.limits, []truth{}}
	for _, c := range w.clients {
		if c.kind != 'i' && c.kind != 'x' {
			r.Crawlers[c.name] = int(c.daily + .5)
		}
	}
	for _, f := range w.faults {
		r.Faults = append(r.Faults, f.truth)
	}
	return r
}
