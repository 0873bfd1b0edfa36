package report

import (
	"cmp"
	"slices"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// trainingPurpose is the purpose of crawlers that collect texts for training models.
const trainingPurpose = "ai-training"

// A Trainer is a crawler that collects texts for training models, with its requests by the preference of the
// robots.txt in force for that use. Refused, Permitted and Unstated add up to Requests.
type Trainer struct {
	Name     string
	Requests int64 // without requests for robots.txt itself
	Refused  int64
	Denied   int64 // part of Refused: requests for URLs that robots.txt also disallows
	Served   int64 // part of Refused: responses with a status of 2xx or 304

	Permitted, Unstated int64
}

// training counts requests of crawlers that collect texts for training models. It is for one goroutine.
type training struct {
	counter  *Counter
	trainers []*Trainer // by number of the crawler; nil if it has another purpose
	said     bool       // a robots.txt said something
}

// addBatch counts a batch.
func (t *training) addBatch(_, b *engine.Batch) error {
	c := t.counter
	if len(b.Preferences) == 0 {
		return nil
	}
	for row := range b.Len() {
		if b.Sites[row] == engine.NoSite {
			continue
		}
		for a := range c.verdicts {
			agent := a
			if c.fromLog {
				agent = c.callers.Number(b, row)
			}
			trainer, verdict := t.trainer(agent), row*c.verdicts+a
			if trainer == nil || b.IsTxt(row) {
				continue
			}
			p := &b.Preferences[verdict]
			t.said = t.said || p.Said != (robots.Said{})
			trainer.Requests++
			switch p.Uses()[robots.TrainAI] {
			case robots.Permitted:
				trainer.Permitted++
			case robots.Unstated:
				trainer.Unstated++
			case robots.Refused:
				trainer.Refused++
				trainer.Denied += int64(bit(b.Verdicts[verdict].Access == engine.Denied))
				trainer.Served += int64(bit(c.isServed(b, row)))
			}
		}
	}
	return nil
}

// trainer returns the counts of a crawler; nil if it has another purpose.
func (t *training) trainer(agent int) *Trainer {
	for len(t.trainers) <= agent {
		var trainer *Trainer
		name := t.counter.agentName(len(t.trainers))
		if hasPurpose(name, trainingPurpose) {
			trainer = &Trainer{Name: name}
		}
		t.trainers = append(t.trainers, trainer)
	}
	return t.trainers[agent]
}

// A trainingView is the panel of AI training, for the page.
type trainingView struct {
	Draft    string
	Trainers []Trainer // those with the most refused requests first
	Sum      *Trainer  // nil if there is one
}

// view fills in the panel, if a robots.txt stated a preference to a crawler that made requests.
func (t *training) view(page *view) bool {
	v, sum := &trainingView{Draft: robots.UsageRevision}, Trainer{Name: "together"}
	for _, one := range t.trainers {
		if one == nil || one.Requests == 0 {
			continue
		}
		v.Trainers = append(v.Trainers, *one)
		sum.Requests += one.Requests
		sum.Refused += one.Refused
		sum.Denied += one.Denied
		sum.Served += one.Served
		sum.Permitted += one.Permitted
		sum.Unstated += one.Unstated
	}
	slices.SortStableFunc(v.Trainers, func(a, b Trainer) int {
		return cmp.Or(cmp.Compare(b.Refused, a.Refused), cmp.Compare(b.Requests, a.Requests))
	})
	if len(v.Trainers) > 1 {
		v.Sum = &sum
	}
	if t.said {
		page.Training = v
	}
	return t.said
}
