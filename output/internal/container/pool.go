package container

import (
	"cmp"

	"github.com/robobatch/robobatch/internal/panics"
	"github.com/robobatch/robobatch/output/internal/columnar"
)

// A pool runs the encoders of a container, one for each worker. Each encodes a chunk at a time,
// beside the gathering of the next; with one worker, Write itself encodes.
type pool[E any] struct {
	workers int
	idle    chan *worker[E]
	made    int // workers that were started
	newE    func() (E, error)
}

// A worker is an encoder and the chunk that it encoded last, emptied.
type worker[E any] struct {
	encoder E
	spare   *columnar.Chunk
	runs    bool  // since it was taken
	err     error // the panic of a run; sticky
}

func newPool[E any](workers int, newE func() (E, error)) pool[E] {
	workers = max(1, workers)
	return pool[E]{workers: workers, idle: make(chan *worker[E], workers), newE: newE}
}

// takeWorker waits for a worker that has nothing to do. The caller defers giveBack.
func (p *pool[E]) takeWorker() (*worker[E], error) {
	if p.made == p.workers || len(p.idle) > 0 {
		w := <-p.idle
		w.runs = false
		if w.err != nil {
			p.giveBack(w)
		}
		return w, w.err
	}
	e, err := p.newE()
	if err == nil {
		p.made++
	}
	return &worker[E]{encoder: e}, err
}

// giveBack gives back a worker, unless it was run: then it comes back by itself.
func (p *pool[E]) giveBack(w *worker[E]) {
	if !w.runs {
		p.idle <- w
	}
}

// run has the worker encode a chunk, and returns an empty chunk for the next rows.
func (p *pool[E]) run(w *worker[E], c *columnar.Chunk, encode func()) *columnar.Chunk {
	if p.workers == 1 {
		encode()
		c.Reset()
		w.runs = true
		p.idle <- w // before wait, which Write may call
		return c
	}
	next := w.spare
	if w.spare = c; next == nil {
		next = c.Next()
	}
	next.Use(c.Names)
	w.runs = true
	panics.Send(p.idle, func() *worker[E] {
		encode()
		c.Reset()
		return w
	}, func(err error) *worker[E] {
		w.err = err
		return w
	})
	return next
}

// wait waits until all workers have nothing to do, and passes their encoders to each. The error is a panic of one.
func (p *pool[E]) wait(each func(E)) (err error) {
	all := make([]*worker[E], p.made)
	for i := range all {
		all[i] = <-p.idle
		each(all[i].encoder)
		err = cmp.Or(err, all[i].err)
	}
	for _, w := range all {
		p.idle <- w
	}
	return err
}
