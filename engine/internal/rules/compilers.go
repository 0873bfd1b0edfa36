package rules

import (
	"fmt"

	"github.com/robobatch/robobatch/internal/panics"
	"github.com/robobatch/robobatch/robots"
)

// compilers are goroutines that compile many texts each. A goroutine per text would have to grow its stack and be
// woken for about 20 µs of work (median).
type compilers struct {
	group panics.Group
	jobs  chan []compileJob
	next  []compileJob // sent when there are enough of them
	bytes int          // of the bodies in next
}

// A compileJob is a text to be compiled, and a response that has it.
type compileJob struct {
	text     *text
	response robots.Response
}

// Jobs are sent when their number or their bytes reach a limit.
const (
	compileJobs  = 32
	compileBytes = 64 << 10
)

// start starts the goroutines. Each stops compiling at its first error, but still receives jobs. A panic becomes an
// error that names the file and the origin.
func (c *compilers) start(workers int, compile func(compileJob) error) {
	c.jobs = make(chan []compileJob, workers)
	for range workers {
		c.group.Go(func() (err error) {
			for jobs := range c.jobs { // receives all jobs even after an error, because addJob waits for that
				for i := 0; i < len(jobs) && err == nil; i++ {
					err = panics.Catch(func() error {
						r := &jobs[i].response
						defer panics.At(func() string { return fmt.Sprintf("%s: the rules of %s", r.Name, r.Origin) })
						return compile(jobs[i])
					})
				}
			}
			return err
		})
	}
}

// addJob has a worker compile a text. It may wait until a worker is free. Jobs are sent in lists, the last one by wait.
func (c *compilers) addJob(j compileJob) {
	c.next = append(c.next, j)
	if c.bytes += len(j.response.Body); len(c.next) == compileJobs || c.bytes >= compileBytes {
		c.send()
	}
}

func (c *compilers) send() {
	c.jobs <- c.next
	c.next, c.bytes = make([]compileJob, 0, compileJobs), 0
}

// wait sends the remaining jobs, waits for all, and returns the first error.
func (c *compilers) wait() error {
	c.send()
	close(c.jobs)
	return c.group.Wait()
}
