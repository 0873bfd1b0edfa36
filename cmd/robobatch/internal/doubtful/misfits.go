package doubtful

import (
	"fmt"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/doubt"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/conduct"
)

// Misfits returns the doubt that logs were answered with another robots.txt than that of the rules; none if they were not.
func Misfits(all []conduct.Misfit) []doubt.Doubt {
	if len(all) == 0 {
		return nil
	}
	d := doubt.Doubt{Code: doubt.UnlikeAnswers}
	for i := range all {
		m := &all[i]
		d.Count += m.Answers
		if i < doubt.Examples {
			d.Examples = append(d.Examples, fmt.Sprintf("%s: %s of %s, such as one of %s; the robots.txt has %s",
				m.Origin, say.Number(m.Answers), say.Count(m.Compared, "answer"), say.Count(m.Size, "byte"), say.Number(m.Text)))
		}
	}
	d.Text = say.Count(d.Count, "answer") + " to /robots.txt in the log cannot have given the text of -rules, by their bytes: crawlers had another one, so that nothing is known of what they knew; give the robots.txt of the time of the log"
	return []doubt.Doubt{d}
}
