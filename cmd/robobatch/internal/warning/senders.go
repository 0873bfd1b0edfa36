package warning

import (
	"fmt"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
)

// Senders returns warnings about where the requests of crawlers came from, and by which lists they are verified.
func Senders(s *engine.Stats) (all []Warning) {
	requests, unusable, anonymised := s.Census.Requests()
	network, proxied := s.Census.Proxied()
	if networks, sent := s.Census.Mixed(); networks > 0 && !proxied {
		text := fmt.Sprintf("%s of %s of crawlers came from %s, each with crawlers of three operators or more: of a proxy, so that the address of the client is in another field (-field client=name), or of somebody who sends many names",
			say.Number(sent), say.Count(requests, "request"), say.Count(networks, "network"))
		all = append(all, Warning{Code: ProxiedClients, Text: text, Count: sent})
	}
	if proxied {
		text := fmt.Sprintf("%s of %s of crawlers have no address of the internet", say.Number(unusable), say.Count(requests, "request"))
		count := unusable
		if network != 0 {
			count = s.Census.Sent(network)
			text = fmt.Sprintf("%s of %s of crawlers, of three operators or more, came from %s", say.Number(count), say.Count(requests, "request"), network.Prefix())
		}
		text += ": the field holds the address of a proxy, or a text in place of one; name the field of the client's with -field client=name"
		all = append(all, Warning{Code: ProxiedClients, Text: text, Count: count})
	}
	if n := s.Census.Texts(); n > 0 && !proxied {
		text := fmt.Sprintf("%s of %s of crawlers have a text in place of an address, so that they are not verified, and their violation is null: name the field of the client's with -field client=name",
			say.Number(n), say.Count(requests, "request"))
		all = append(all, Warning{Code: ProxiedClients, Text: text, Count: n})
	}
	if s.Census.Anonymised() {
		text := fmt.Sprintf("the addresses of %s of %s of crawlers end in 0 or x: they were made anonymous, and prove nothing", say.Number(anonymised), say.Count(requests, "request"))
		all = append(all, Warning{Code: AnonymisedClients, Text: text, Count: anonymised})
	}
	if n := s.UntimedRows + s.UntimedLists; n > 0 {
		why := "their lists have none: keep lists in directories named by their day"
		switch {
		case s.UntimedLists == 0:
			why = "their rows have none: name the field with -field time=name"
		case s.UntimedRows > 0:
			why = "their rows or lists have none: name the field with -field time=name, and keep lists in directories named by their day"
		}
		text := say.Count(n, "request") + " of crawlers verified without a time, by all lists there are: " + why
		all = append(all, Warning{Code: UntimedLists, Text: text, Count: n})
	}
	return all
}

// Lists returns a warning if files that are of one list and time differ.
func Lists(lists *ranges.Lists) []Warning {
	if lists == nil || len(lists.Differ) == 0 {
		return nil
	}
	n := int64(len(lists.Differ))
	d := Warning{Code: DifferingLists, Count: n, Text: say.Count(n, "pair") + " of lists of addresses with one name and time, and other addresses: all of them count; keep the right ones"}
	for _, pair := range lists.Differ[:min(n, Examples)] {
		d.Examples = append(d.Examples, say.File(pair[0])+" and "+say.File(pair[1]))
	}
	return []Warning{d}
}
