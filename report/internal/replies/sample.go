// Package replies has samples of the answers of a server, and counts those to requests of robots.txt. Packages report and findings import it.
package replies

import (
	"bytes"
	"math/rand/v2"
	"strings"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// The limits of a sample.
const (
	sampleRows = 200
	samplePath = 128 // bytes of a path
)

// A Sample has some rows, each of those that came as likely as any other.
type Sample struct {
	Rows []Row
	Came int
}

// A Row is one of a sample.
type Row struct {
	At     int64 // as in engine.Batch.Times; engine.NoTime is none
	Status int64
	Path   string // without its query
}

// AddRow adds a row of a batch with its status, or leaves it out.
func (s *Sample) AddRow(rng *rand.Rand, b *engine.Batch, i int, status int64) {
	s.Came++
	n := len(s.Rows)
	if n < sampleRows {
		s.Rows = append(s.Rows, Row{})
	} else if n = rng.IntN(s.Came); n >= sampleRows {
		return
	}
	one := Row{At: engine.NoTime, Status: status}
	if len(b.Times) > 0 {
		one.At = b.Times[i]
	}
	if u, err := robots.SplitURL(b.URL(i)); err == nil {
		path := b.URL(i)[len(u.Prefix):]
		if end := bytes.IndexAny(path, "?#"); end >= 0 {
			path = path[:end]
		}
		one.Path = strings.ToValidUTF8(string(path[:min(len(path), samplePath)]), "")
	}
	s.Rows[n] = one
}
