package conduct

import "github.com/robobatch/robobatch/internal/extsort"

// Export calls write with blocks that have all that was found, for a [Merger]. A block is valid until write returns.
// The Journal needs Options.Requests, and all Journals of a Merger need the same rules and options. Nothing may be
// written after it. Errors are those of write and of temporary files.
func (j *Journal) Export(write func(block []byte) error) error {
	w := &runWriter{run: blocks(write)}
	if j.spill.Runs() == 0 {
		if err := j.sendPairs(w, true); err != nil {
			return err
		}
		return w.flush()
	}
	if err := j.writeRun(true); err != nil {
		return err
	}
	j.table = table{} // the merge has its memory
	return merge(j.spill, &joiner{to: w, run: w, details: true})
}

// blocks is a function that takes the blocks of a run.
type blocks func(block []byte) error

// Write calls the function.
func (b blocks) Write(block []byte) error { return b(block) }

// A Merger judges the requests that several Journals exported, each from a part of the logs, as one Journal would judge
// all of them. For each part call Begin, Write with its blocks in their order, and End; then Judge. The order of the parts
// does not matter. It is for one goroutine. Use CloseTemp.
type Merger struct {
	opt   Options
	spill *extsort.Spill
	run   *extsort.Run
}

// NewMerger returns a Merger without parts. Of the options, those about columns are of no use to it.
func NewMerger(opt Options) *Merger { return &Merger{opt: opt, spill: extsort.NewSpill(opt.TempDir)} }

// Begin begins a part.
func (m *Merger) Begin() (err error) {
	m.run, err = m.spill.Begin()
	return err
}

// Write adds a block to the part.
func (m *Merger) Write(block []byte) error { return m.run.Write(block) }

// End completes the part. One that has no End is left out.
func (m *Merger) End() { m.run.End() }

// Judge is [Journal.Judge] of all parts.
func (m *Merger) Judge(to Report) error { return judgeRuns(m.spill, m.opt, true, to) }

// CloseTemp removes the temporary file. Further calls do nothing.
func (m *Merger) CloseTemp() { m.spill.Close() }
