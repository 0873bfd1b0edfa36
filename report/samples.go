package report

import (
	"bytes"
	"strings"
	"time"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/report/internal/findings"
	"github.com/robobatch/robobatch/robots"
)

// The limits of a sample of answers.
const (
	answerRows = 200
	answerPath = 128 // bytes of a path
)

// ownAnswers are the answers to a crawler that have a status.
type ownAnswers struct {
	answered   int64
	redirected int64           // 3xx, but for 304
	missed     int64           // 4xx
	failed     int64           // 5xx
	samples    [3]answerSample // of redirected, missed and failed
}

// addAnswer counts an answer of a class of statuses.
func (o *ownAnswers) addAnswer(class int, served bool) {
	o.answered++
	switch {
	case served:
	case class == 3:
		o.redirected++
	case class == 4:
		o.missed++
	case class == 5:
		o.failed++
	}
}

// An answerSample has some rows, each of those that came as likely as any other.
type answerSample struct {
	rows []answered
	came int
}

// An answered is a row of a sample.
type answered struct {
	at     int64 // engine.NoTime is none
	status int64
	path   string // without its query
}

// addRow adds a row of a batch, or leaves it out.
func (s *answerSample) addRow(c *Counter, b *engine.Batch, i int) {
	s.came++
	n := len(s.rows)
	if n < answerRows {
		s.rows = append(s.rows, answered{})
	} else if n = c.rng.IntN(s.came); n >= answerRows {
		return
	}
	one := answered{at: engine.NoTime, status: b.Kept[c.status].Ints[i]}
	if len(b.Times) > 0 {
		one.at = b.Times[i]
	}
	if u, err := robots.SplitURL(b.URL(i)); err == nil {
		path := b.URL(i)[len(u.Prefix):]
		if end := bytes.IndexAny(path, "?#"); end >= 0 {
			path = path[:end]
		}
		one.path = strings.ToValidUTF8(string(path[:min(len(path), answerPath)]), "")
	}
	s.rows[n] = one
}

// facts returns the sample for the findings.
func (s *answerSample) facts(c *Counter) findings.Sample {
	all := findings.Sample{Of: int64(s.came)}
	for _, row := range s.rows {
		one := findings.Answer{Status: row.status, Path: row.path}
		if row.at != engine.NoTime {
			one.At = time.UnixMicro(c.clock.Shown(row.at)).UTC()
		}
		all.Rows = append(all.Rows, one)
	}
	return all
}
