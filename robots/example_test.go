package robots_test

import (
	"fmt"

	"github.com/robobatch/robobatch/robots"
)

// Decide one URL with one robots.txt: the rule that decides, its line, and whether it allows.
func ExampleDecide() {
	body := []byte("User-agent: *\nDisallow: /private\nAllow: /private/press\n")
	const dialect = robots.RFC9309
	rules, ok := robots.Parse(body, dialect).Select(robots.NewAgent("ExampleBot/1.0", dialect))
	if !ok {
		fmt.Println("no group applies to the crawler: everything is allowed")
		return
	}
	u, err := robots.SplitURL([]byte("https://www.example.com/private/press/1?x=2"))
	if err != nil {
		fmt.Println(err)
		return
	}
	path, _ := dialect.Path(u.Path, nil)
	winner := robots.Decide(rules, path, dialect)
	if winner < 0 {
		fmt.Println("no rule matches: the URL is allowed")
		return
	}
	rule := rules[winner]
	fmt.Printf("line %d, %s: allowed is %t\n", rule.Line, rule, rule.Allow)
	// Output: line 3, Allow: /private/press: allowed is true
}
