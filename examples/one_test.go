package examples

import (
	"fmt"
	"iter"
	"log"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

const robotsTxt = `User-agent: *
Disallow: /private/
Allow: /private/press/

User-agent: GPTBot
Disallow: /
`

// one yields one robots.txt, as fetched from the origin.
func one(origin robots.Origin, body string) iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		yield(robots.Response{Origin: origin, Status: 200, Body: []byte(body)}, nil)
	}
}

// Decide one URL with one robots.txt.
func Example_oneURL() {
	store, err := engine.BuildStore(one("https://example.com", robotsTxt), engine.StoreOptions{Agents: []string{"Googlebot", "GPTBot"}})
	if err != nil {
		log.Fatal(err)
	}
	for _, url := range []string{"https://example.com/private/press/1", "https://example.com/private/1", "https://example.org/"} {
		for _, agent := range store.Options().Agents {
			answer, err := store.Verdict(url, agent)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Printf("%s, %s: %v, %v", url, agent, answer.Access, answer.Reason)
			if answer.Reason == engine.ReasonRule {
				fmt.Printf(": line %d, %v", answer.Rule.Line, answer.Rule)
			}
			fmt.Println()
		}
	}
	// Output:
	// https://example.com/private/press/1, Googlebot: allowed, rule: line 3, Allow: /private/press/
	// https://example.com/private/press/1, GPTBot: denied, rule: line 6, Disallow: /
	// https://example.com/private/1, Googlebot: denied, rule: line 2, Disallow: /private/
	// https://example.com/private/1, GPTBot: denied, rule: line 6, Disallow: /
	// https://example.org/, Googlebot: allowed, no_robots
	// https://example.org/, GPTBot: allowed, no_robots
}

// The outcome of a fetch decides instead of rules, as in RFC 9309: a server error disallows
// everything.
func Example_outcome() {
	responses := func(yield func(robots.Response, error) bool) {
		_ = yield(robots.Response{Origin: "https://down.example", Status: 503}, nil) &&
			yield(robots.Response{Origin: "https://none.example", Status: 404}, nil)
	}
	store, err := engine.BuildStore(responses, engine.StoreOptions{}) // for the agent "*", in the dialect rfc9309
	if err != nil {
		log.Fatal(err)
	}
	for _, url := range []string{"https://down.example/", "https://none.example/", "not a URL"} {
		answer, err := store.Verdict(url, "*")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(url, answer.Access, answer.Reason)
	}
	// Output:
	// https://down.example/ denied unreachable
	// https://none.example/ allowed status_4xx
	// not a URL unknown bad_url
}

// The reference decides without compiling: it is slow, but short enough to check by reading.
func Example_reference() {
	const dialect = robots.RFC9309
	file := robots.Parse([]byte(robotsTxt), dialect)
	rules, ok := file.Select(robots.NewAgent("Googlebot", dialect))
	fmt.Println(len(rules), "rules,", ok)
	url, err := robots.SplitURL([]byte("https://example.com/private/1"))
	if err != nil {
		log.Fatal(err)
	}
	path, _ := dialect.Path(url.Path, nil)
	if i := robots.Decide(rules, path, dialect); i >= 0 {
		fmt.Println(rules[i])
	}
	// Output:
	// 2 rules, true
	// Disallow: /private/
}
