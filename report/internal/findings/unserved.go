package findings

import (
	"fmt"
	"time"

	"github.com/robobatch/robobatch/report/internal/show"
)

// tooMany is the status of a server that refuses for a time. Crawlers take it as an error of the server.
const tooMany = 429

// unserved finds a robots.txt that is never sent. One that is missing is a fault only where the rules have a text of it.
func unserved(f *Facts) []Finding {
	u := &f.Unserved
	isError := u.Status >= 500 || u.Status == tooMany
	if !isError && !u.Ruled {
		return nil
	}
	means, do := "everything as allowed", "Have the server answer /robots.txt with the file."
	if isError {
		means, do = "everything as disallowed, and may stop", "Repair it: have the server answer /robots.txt with the file, or with 404 if there is none."
	}
	text := fmt.Sprintf("/robots.txt%s is never answered with 200: %s of %s got %d. Crawlers then take %s.",
		f.of(show.Text(u.Origin)), show.Number(u.Commonest), show.Plural(u.Requests, "request"), u.Status, means)
	found := f.findingOf(Unserved, u.Requests, u.Requests, time.Time{}, time.Time{}, text)
	for i := range found {
		found[i].opens = !isError
		found[i].Unit, found[i].Link, found[i].Title, found[i].Do = "requests of it", "rules", "Rules", do
	}
	return found
}
