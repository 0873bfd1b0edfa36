package container

import "github.com/robobatch/robobatch/output/internal/columnar"

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
}

func newPool[E any](workers int, newE func() (E, error)) pool[E] {
	workers = max(1, workers)
	return pool[E]{workers: workers, idle: make(chan *worker[E], workers), newE: newE}
}

// takeWorker waits for a worker that has nothing to do.
func (p *pool[E]) takeWorker() (*worker[E], error) {
	if p.made == p.workers || len(p.idle) > 0 {
		return <-p.idle, nil
	}
	e, err := p.newE()
	if err == nil {
		p.made++
	}
	return &worker[E]{encoder: e}, err
}

// run has the worker encode a chunk, and returns an empty chunk for the next rows.
func (p *pool[E]) run(w *worker[E], c *columnar.Chunk, encode func()) *columnar.Chunk {
	work := func() {
		encode()
		c.Reset()
		p.idle <- w
	}
	if p.workers == 1 {
		work()
		return c
	}
	next := w.spare
	if w.spare = c; next == nil {
		next = c.Next()
	}
	next.Use(c.Names)
	go work()
	return next
}

// wait waits until all workers have nothing to do, and passes their encoders to each.
func (p *pool[E]) wait(each func(E)) {
	all := make([]*worker[E], p.made)
	for i := range all {
		all[i] = <-p.idle
		each(all[i].encoder)
	}
	for _, w := range all {
		p.idle <- w
	}
}
