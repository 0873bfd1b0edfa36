package warning

import (
	"fmt"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/conduct"
)

// Mismatches returns a warning if the responses to /robots.txt in the logs contradict the robots.txt in the rules,
// and one if the logs seem to lack requests for /robots.txt; nil if neither applies.
func Mismatches(all []conduct.Mismatch) (warnings []Warning) {
	if d := unlikeAnswers(all); d.Count > 0 {
		warnings = append(warnings, d)
	}
	d := Warning{Code: NoRobotsRequests}
	for i := range all {
		m := &all[i]
		if m.Hidden == 0 {
			continue
		}
		if d.Count += m.Hidden; len(d.Examples) < Examples {
			d.Examples = append(d.Examples, fmt.Sprintf("%s: %s of %s with 20 or more requests", m.Origin, msg.Number(m.Asked), msg.Count(m.Busy, "crawler")))
		}
	}
	if d.Count > 0 {
		d.Text = "few crawlers with many requests have a response to /robots.txt in the log, perhaps because a CDN or proxy answers it: " + msg.Count(d.Count, "disallowed request") + " judged unseen instead of never_asked; add the log of the CDN or proxy"
		warnings = append(warnings, d)
	}
	return warnings
}

// unlikeAnswers returns the warning that responses in the log contradict the robots.txt in the rules; its Count is 0
// if none do.
func unlikeAnswers(all []conduct.Mismatch) Warning {
	d := Warning{Code: UnlikeAnswers}
	var others, denied, unseen int64
	for i := range all {
		m := &all[i]
		if !m.IsUnlike() {
			continue
		}
		others, denied, unseen = others+m.Answers, denied+m.Denied, unseen+m.Unseen
		if len(d.Examples) >= Examples {
			continue
		}
		var said []string
		if m.Answers > 0 {
			said = append(said, fmt.Sprintf("%s of %s differ in size, such as one with %s; the robots.txt has %s",
				msg.Number(m.Answers), msg.Count(m.Compared, "answer"), msg.Count(m.Size, "byte"), msg.Number(m.Text)))
		}
		if m.Denied > 0 {
			said = append(said, fmt.Sprintf("%s of %s say that there is no robots.txt (404 or 410)", msg.Number(m.Denied), msg.Count(m.Told, "answer")))
		}
		d.Examples = append(d.Examples, m.Origin+": "+strings.Join(said, "; "))
	}
	d.Count = others + denied
	by, had := "size", "a different one"
	switch {
	case others == 0:
		by, had = "status", "none (404 or 410), which allows everything"
	case denied > 0:
		by, had = "size or status", "a different one, or none"
	}
	d.Text = "according to the " + by + " of " + msg.Count(d.Count, "answer") + " to /robots.txt in the log, the site did not serve the robots.txt of -rules: crawlers received " + had
	if unseen > 0 {
		d.Text += ", so " + msg.Were(unseen, "disallowed request") + " judged unseen"
	}
	d.Text += "; use the robots.txt from the time of the log"
	return d
}
