package warn

import (
	"fmt"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/conduct"
)

// Misfits returns the warning that logs were answered with another robots.txt than that of the rules; none if they were not.
func Misfits(all []conduct.Misfit) []warning.Warning {
	if len(all) == 0 {
		return nil
	}
	d := warning.Warning{Code: warning.UnlikeAnswers}
	var others, denied int64
	for i := range all {
		m := &all[i]
		others, denied = others+m.Answers, denied+m.Denied
		if i >= warning.Examples {
			continue
		}
		var said []string
		if m.Answers > 0 {
			said = append(said, fmt.Sprintf("%s of %s, such as one of %s; the robots.txt has %s",
				say.Number(m.Answers), say.Count(m.Compared, "answer"), say.Count(m.Size, "byte"), say.Number(m.Text)))
		}
		if m.Denied > 0 {
			said = append(said, fmt.Sprintf("%s of %s: there is none (404 or 410)", say.Number(m.Denied), say.Count(m.Told, "answer")))
		}
		d.Examples = append(d.Examples, m.Origin+": "+strings.Join(said, "; "))
	}
	d.Count = others + denied
	by, had := "bytes", "another one, so that nothing is known of what they knew"
	switch {
	case others == 0:
		by, had = "status", "none, which allows everything"
	case denied > 0:
		by, had = "bytes or status", "another one, or none"
	}
	d.Text = say.Count(d.Count, "answer") + " to /robots.txt in the log cannot have given the text of -rules, by their " + by + ": crawlers had " + had + "; give the robots.txt of the time of the log"
	return []warning.Warning{d}
}
