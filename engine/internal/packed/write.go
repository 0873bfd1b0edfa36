package packed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"time"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/internal/captures"
	"github.com/robobatch/robobatch/internal/pack"
	"github.com/robobatch/robobatch/internal/panics"
	"github.com/robobatch/robobatch/robots"
)

// WriteOptions say how to write a pack, see engine.WriteOptions.
type WriteOptions struct {
	Dialect robots.Dialect
	Workers int    // compiling goroutines; 0 or less means GOMAXPROCS
	TempDir string // where responses that do not fit in memory are sorted; "" means the default
	Notes   func() []byte
}

// Stats count the content of a pack, see engine.PackStats.
type Stats struct {
	Origins   int   // whose robots.txt was fetched, successfully or not
	Responses int   // Responses int
	Texts     int   // distinct texts
	Rulesets  int   // distinct compiled rule sets
	Bytes     int64 // of the pack
	Odd       rules.OddCount
}

// URLFlags are the flags of a dialect that concern only how URLs are read. They do not change compiled rules.
const URLFlags = robots.URLAsIs

// A writer collects responses while workers compile their texts.
type writer struct {
	out      *pack.Writer
	dialect  robots.Dialect
	undated  captures.Undated
	texts    map[captures.Key]uint32   // numbers of the texts
	ruleSets map[captures.Key]pack.Ref // by the hash of their chunk
	stats    Stats
	files    int64
	odd      rules.Odd     // of the texts written so far
	tokens   rules.Tokens  // of the texts written so far
	written  int           // number of texts
	marks    [2]pack.Ref   // of the chunks of odd and tokens
	queue    chan *packJob // in the order of their numbers, for writeTexts
	jobs     chan *packJob // the same jobs, for the workers
	workers  panics.Group
}

// A packJob is a text that is being compiled.
type packJob struct {
	key    captures.Key
	body   []byte        // nil once it is compiled
	origin robots.Origin // of a response with the text
	name   string        // of that response
	text   *packedText
	err    error
	done   chan struct{}
}

// Write compiles the responses and writes them as a pack, see engine.WritePack. opt.Notes is called after all responses
// have been read.
func Write(ctx context.Context, file pack.File, responses iter.Seq2[robots.Response, error], opt WriteOptions) (Stats, error) {
	workers := cmp.Or(max(0, opt.Workers), runtime.GOMAXPROCS(0))
	w := &writer{
		out:      pack.NewWriter(file, opt.TempDir),
		dialect:  opt.Dialect &^ URLFlags,
		undated:  captures.Undated{},
		texts:    map[captures.Key]uint32{},
		ruleSets: map[captures.Key]pack.Ref{},
		queue:    make(chan *packJob, 16*workers),
		jobs:     make(chan *packJob, workers),
	}
	defer w.out.Close()
	for range workers { // each goroutine compiles many texts, because a new one would have to grow its stack
		w.workers.Go(w.compile)
	}
	written := panics.Run(w.writeTexts)
	err := w.readAll(ctx, responses)
	close(w.queue)
	close(w.jobs)
	if err = errors.Join(err, w.workers.Wait(), <-written); err != nil {
		return Stats{}, err
	}
	if err := w.writeMarks(); err != nil {
		return Stats{}, err
	}
	if opt.Notes != nil {
		if err := w.out.SetNotes(opt.Notes()); err != nil {
			return Stats{}, err
		}
	}
	w.stats.Texts, w.stats.Rulesets = len(w.texts), len(w.ruleSets)
	w.texts, w.ruleSets, w.undated = nil, nil, nil // a hundred bytes per origin; building the indexes needs memory, too
	err = w.out.Finish(func(r *pack.Reader) (pack.Summary, error) { return w.summarize(ctx, r) })
	return w.stats, err
}

// readAll adds all responses, and counts them and the files that they come from. Workers compile their texts, each
// distinct one once. It ignores responses that can never decide.
func (w *writer) readAll(ctx context.Context, responses iter.Seq2[robots.Response, error]) error {
	name := ""
	for r, err := range responses {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("read rules: %w", err)
		}
		if r.Name != name {
			name = r.Name
			w.files++
		}
		w.stats.Responses++
		if err := w.undated.Add(&r); err != nil {
			return err
		}
		url, ok := robots.KeyOf(&r)
		if !ok {
			continue // it never decides
		}
		c := pack.Capture{
			At: r.FetchedAt, File: r.File, Status: r.Status, Size: max(r.Size, int64(len(r.Body))),
			Text: pack.NoText, Location: r.Location, Error: r.Error, MaxAge: -1,
		}
		if r.HasMaxAge {
			c.MaxAge = int64(r.MaxAge / time.Second)
		}
		if w.dialect.HasRules(&r) {
			c.Text = w.text(&r)
		}
		kind, record := recordOf(url)
		if err := w.out.AddCapture(kind, record, c); err != nil {
			return fmt.Errorf("sort the rules: %w", err)
		}
	}
	return nil
}

// recordOf returns the kind and the name of the record with the captures of a normalised URL: for the robots.txt of a
// site, the origin, otherwise the URL.
func recordOf(url string) (pack.Kind, string) {
	if origin, ok := strings.CutSuffix(url, robots.TxtPath); ok && strings.Count(origin, "/") == 2 {
		return pack.Site, origin
	}
	return pack.Target, url
}

// text returns the number of the text of a response. If the text is new, a worker compiles it; text may wait for
// one.
func (w *writer) text(r *robots.Response) int {
	key := captures.KeyOf(r.Body)
	number, known := w.texts[key]
	if known {
		return int(number)
	}
	number = uint32(len(w.texts))
	w.texts[key] = number
	job := &packJob{key: key, body: r.Body, origin: r.Origin, name: r.Name, done: make(chan struct{})}
	w.queue <- job // sent before the work starts, to bound how many texts wait to be written
	w.jobs <- job
	return int(number)
}

// compile compiles texts until there are no more. Their errors and panics are in the jobs; the result is always nil.
func (w *writer) compile() error {
	for job := range w.jobs {
		job.err = panics.Catch(func() (err error) {
			job.text, err = packText(job.key, job.body, w.dialect)
			return err
		})
		if job.err != nil {
			job.err = fmt.Errorf("compile the rules of %s from %s: %w", job.origin, job.name, job.err)
		}
		job.body = nil
		close(job.done)
	}
	return nil
}

// writeTexts writes the texts in the order of their numbers, and returns the first error. After an error it receives
// the remaining texts without writing them.
func (w *writer) writeTexts() (err error) {
	for job := range w.queue {
		<-job.done
		if err == nil {
			err = job.err
		}
		if err == nil {
			err = panics.Catch(func() error {
				w.note(job.text, job.origin)
				return w.writeText(job.text)
			})
		}
	}
	return err
}

// note records the oddity and the product tokens of the next text to be written. origin is the first origin with
// the text.
func (w *writer) note(t *packedText, origin robots.Origin) {
	w.tokens.Add(t.groups)
	w.odd.Add(rules.TextID(w.written), t.odd)
	if t.odd.IsOdd() {
		w.stats.Odd.Add(rules.OddOrigin{Origin: origin, Odd: t.odd})
	}
	w.written++
}

// writeText writes a text, and its rules unless they are written already. It sets the places of the rules in t.
func (w *writer) writeText(t *packedText) error {
	for i, chunk := range t.rules {
		key := captures.KeyOf(chunk)
		ref, known := w.ruleSets[key]
		if !known {
			var err error
			if ref, err = w.out.AddChunk(chunk); err != nil {
				return err
			}
			w.ruleSets[key] = ref
		}
		t.selections[i].ref = ref
	}
	return w.out.AddText(t.appendBinary(nil))
}

// summarize returns the content of the pack's header. It reads all records of the pack, and sets the number of origins
// and the size in w.stats.
func (w *writer) summarize(ctx context.Context, r *pack.Reader) (pack.Summary, error) {
	s := pack.Summary{Dialect: uint32(w.dialect), Files: w.files, Odd: w.marks[0], Tokens: w.marks[1]}
	w.stats.Origins, w.stats.Bytes = r.Sites(), r.Size()
	var b pack.Buffer
	for _, kind := range []pack.Kind{pack.Site, pack.Target} {
		for record, err := range b.All(r, kind) {
			if err != nil {
				return s, err
			}
			for i := range record.Captures {
				if at := record.Captures[i].At; at.After(s.Newest) {
					s.Newest = at
				}
			}
		}
	}
	sum, inForce, err := hashRulings(ctx, r, w.dialect, rules.Moment{})
	s.InForce, s.Hash = int64(inForce), sum
	return s, err
}
