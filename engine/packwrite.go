package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/robobatch/robobatch/internal/captures"
	"github.com/robobatch/robobatch/internal/pack"
	"github.com/robobatch/robobatch/robots"
)

// A PackFile is what a pack is written to, such as an *os.File that is empty and can be read.
type PackFile = pack.File

// PackOptions says how to write a pack. The zero value is the dialect rfc9309.
type PackOptions struct {
	Dialect robots.Dialect
	Workers int    // compiling goroutines; 0 or less means GOMAXPROCS
	TempDir string // where responses are sorted that do not fit in memory; "" is the usual place
}

// A PackStats counts what a pack holds.
type PackStats struct {
	Origins   int   // whose robots.txt was fetched, successfully or not
	Responses int   // all of them
	Texts     int   // distinct ones
	Rulesets  int   // distinct ones, compiled
	Bytes     int64 // of the pack
}

// urlFlags are the flags of a dialect that say how URLs are read. Rules compiled with and without them are the same.
const urlFlags = robots.URLAsIs

// A packWriter collects responses while workers compile their texts.
type packWriter struct {
	out      *pack.Writer
	dialect  robots.Dialect
	undated  captures.Undated
	texts    map[captures.Key]uint32   // numbers of the texts
	rulesets map[captures.Key]pack.Ref // by the hash of their chunk
	stats    PackStats
	files    int64
	queue    chan *packJob // in the order of their numbers
	workers  errgroup.Group
}

// A packJob is a text that is being compiled.
type packJob struct {
	text *packedText
	err  error
	done chan struct{}
}

// WritePack compiles the responses, in parallel, for any agent and any moment, and writes them as a pack, which [OpenPack]
// reads. The bytes of the pack depend on the responses and their order, and on nothing else. Memory grows by some 60
// bytes for each distinct text and set of rules, and 16 for each origin. The errors are those of [BuildStore], and of the files.
func WritePack(ctx context.Context, file PackFile, responses iter.Seq2[robots.Response, error], opt PackOptions) (PackStats, error) {
	workers := cmp.Or(max(0, opt.Workers), runtime.GOMAXPROCS(0))
	w := &packWriter{
		out:      pack.NewWriter(file, opt.TempDir),
		dialect:  opt.Dialect &^ urlFlags,
		undated:  captures.Undated{},
		texts:    map[captures.Key]uint32{},
		rulesets: map[captures.Key]pack.Ref{},
		queue:    make(chan *packJob, 16*workers),
	}
	defer w.out.Close()
	w.workers.SetLimit(workers)
	written := make(chan error, 1)
	go func() { written <- w.writeTexts() }()
	err := w.readAll(ctx, responses)
	close(w.queue)
	w.workers.Wait() //nolint:errcheck // the jobs have the errors
	if err = errors.Join(err, <-written); err != nil {
		return PackStats{}, err
	}
	err = w.out.Finish(func(r *pack.Reader) (pack.Summary, error) { return w.summarize(ctx, r) })
	w.stats.Texts, w.stats.Rulesets = len(w.texts), len(w.rulesets)
	return w.stats, err
}

func (w *packWriter) readAll(ctx context.Context, responses iter.Seq2[robots.Response, error]) error {
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
		if err := w.add(r); err != nil {
			return err
		}
	}
	return nil
}

// add takes in a response, and sets a worker to compile its text unless that is known.
func (w *packWriter) add(r robots.Response) error {
	w.stats.Responses++
	if err := w.undated.Add(&r); err != nil {
		return err
	}
	url, ok := robots.KeyOf(&r)
	if !ok {
		return nil // it never decides anything
	}
	c := pack.Capture{
		At: r.FetchedAt, File: r.File, Status: r.Status, Size: max(r.Size, int64(len(r.Body))),
		Text: pack.NoText, Location: r.Location, Error: r.Error,
	}
	if w.dialect.HasRules(&r) {
		c.Text = w.text(&r)
	}
	kind, name := recordOf(url)
	if err := w.out.AddCapture(kind, name, c); err != nil {
		return fmt.Errorf("sort the rules: %w", err)
	}
	return nil
}

// recordOf returns the record that the captures of a URL in normal form are in.
func recordOf(url string) (pack.Kind, string) {
	if origin, ok := strings.CutSuffix(url, robots.TxtPath); ok && strings.Count(origin, "/") == 2 {
		return pack.Site, origin
	}
	return pack.Target, url
}

// text returns the number of a response's text, which it has compiled if it is new.
func (w *packWriter) text(r *robots.Response) int {
	key := captures.KeyOf(r.Body)
	number, known := w.texts[key]
	if known {
		return int(number)
	}
	number = uint32(len(w.texts))
	w.texts[key] = number
	job := &packJob{done: make(chan struct{})}
	body, origin, name := r.Body, r.Origin, r.Name
	w.queue <- job // before it is begun, so that those that wait to be written are bounded
	w.workers.Go(func() error {
		defer close(job.done)
		if job.text, job.err = packText(key, body, w.dialect); job.err != nil {
			job.err = fmt.Errorf("compile the rules of %s from %s: %w", origin, name, job.err)
		}
		return nil
	})
	return int(number)
}

// writeTexts writes the texts in the order of their numbers. After an error it goes on without writing.
func (w *packWriter) writeTexts() (err error) {
	for job := range w.queue {
		<-job.done
		if err == nil {
			err = job.err
		}
		if err == nil {
			err = w.writeText(job.text)
		}
	}
	return err
}

// writeText writes a text, and those of its rules that are not written yet.
func (w *packWriter) writeText(t *packedText) error {
	for i, rules := range t.rules {
		key := captures.KeyOf(rules)
		ref, known := w.rulesets[key]
		if !known {
			var err error
			if ref, err = w.out.AddChunk(rules); err != nil {
				return err
			}
			w.rulesets[key] = ref
		}
		t.selections[i].ref = ref
	}
	return w.out.AddText(t.appendBinary(nil))
}

// summarize returns what the header of the pack says.
func (w *packWriter) summarize(ctx context.Context, r *pack.Reader) (pack.Summary, error) {
	s := pack.Summary{Dialect: uint32(w.dialect), Files: w.files}
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
	inForce, hash, err := scanPack(ctx, r, w.dialect, s.Newest)
	s.InForce, s.Hash = inForce, hash
	return s, err
}
