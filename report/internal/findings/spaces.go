package findings

import (
	"fmt"
	"slices"
	"time"

	"github.com/robobatch/robobatch/report/internal/show"
)

// A Space is URLs of a site without end.
type Space struct {
	On       string // a phrase for the URLs
	Origin   string
	Names    []string // of the parameters or segments that make it
	InQuery  bool     // Names are parameters
	Requests int64
	URLs     int64
	Example  string   // a path
	Rules    []string // that close it; nil if none does
	Others   int64    // URLs of other pages that these close
	By       []Part   // of crawlers, those with the most requests first
}

// A Part is how many of its requests a crawler spent.
type Part struct {
	Crawler      string
	Requests, Of int64
}

// hit returns the parts that are more than the limits of Endless.
func (s *Space) hit() (parts []Part) {
	l := &limits[Endless]
	for _, p := range s.By {
		if p.Requests >= l.least && show.Share(p.Requests, p.Of) >= l.share {
			parts = append(parts, p)
		}
	}
	return parts
}

// beside returns how many requests a parameter has beside the spaces that are found and that it makes.
func (f *Facts) beside(p *Parameter) int64 {
	left := p.Requests
	for i := range f.Spaces {
		s := &f.Spaces[i]
		if s.InQuery && slices.Contains(s.Names, p.Name) && len(s.hit()) > 0 {
			left -= s.Requests
		}
	}
	return left
}

// endless finds crawlers that spend their requests on URLs without end.
func endless(f *Facts) (found []Finding) {
	for i := range f.Spaces {
		s := &f.Spaces[i]
		parts := s.hit()
		if len(parts) == 0 {
			continue
		}
		on := s.On
		if len(s.Names) > 0 {
			on += ", by " + list(quoted(s.Names), "other")
		}
		if of := f.of(show.Text(s.Origin)); len(s.Names) > 0 && of != "" {
			on += "," + of
		} else {
			on += of
		}
		others := make([]string, 0, len(parts))
		for _, p := range parts[1:] {
			others = append(others, show.Text(p.Crawler)+" "+show.Percent(show.Share(p.Requests, p.Of)))
		}
		text := fmt.Sprintf("%s spent %s of its requests on %s", show.Text(parts[0].Crawler), show.Percent(show.Share(parts[0].Requests, parts[0].Of)), on)
		if len(others) > 0 {
			text += ", and " + list(others, "other crawler")
		}
		text += fmt.Sprintf(": %s such as %s.", show.Plural(s.URLs, "URL"), brief(s.Example))
		for _, one := range f.findingOf(Endless, s.Requests, s.Requests, time.Time{}, time.Time{}, text) {
			one.Link, one.Title, one.Do = "spaces", "Paths", "Link to no such URLs, and write no ids and no choices into URLs."
			if len(s.Rules) > 0 {
				one.Do = "Close these URLs, and try it in What if: " + list(s.Rules, "other rule")
				if s.Others > 0 {
					one.Do += ". They close " + show.Plural(s.Others, "other URL") + ", too."
				}
			}
			found = append(found, one)
		}
	}
	return most(found, mostSpaces)
}

// quoted returns texts in quotation marks.
func quoted(texts []string) (all []string) {
	for _, text := range texts {
		all = append(all, "“"+brief(text)+"”")
	}
	return all
}

// mostSpaces is how many spaces are told of.
const mostSpaces = 4
