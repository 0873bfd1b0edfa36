package why

import (
	"reflect"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

const text = `User-agent: a
User-agent: b
Disallow: /x
Allow: /x/y
Allow: /z

User-agent: *
Disallow: /
`

func TestDecide(t *testing.T) {
	for _, c := range []struct {
		text, agent, path string
		d                 robots.Dialect
		line              int32
		allow             bool
		because           string
	}{
		{text, "a", "/x/y", robots.RFC9309, 4, true, "rule"},
		{text, "a", "/x/z", robots.RFC9309, 3, false, "rule"},
		{text, "a", "/q", robots.RFC9309, 0, true, "default"},
		{text, "c", "/q", robots.RFC9309, 8, false, "rule"},
		{text, "c", "/robots.txt", robots.RFC9309, 0, true, "robots_txt"},
		{text, "AdsBot-Google", "/", robots.Google, 0, true, "no_group"},
		{"user-agent: *\ndisallow: /*b\nallow: /ab\n", "c", "/ab", robots.Google2010, 3, true, "undefined"},
	} {
		rule, because := Decide(robots.Parse([]byte(c.text), c.d), robots.NewAgent(c.agent, c.d), []byte(c.path), c.d)
		if rule.Line != c.line || rule.Allow != c.allow || because.String() != c.because {
			t.Errorf("%s on %s in %s: %v by line %d, %s; want %v by line %d, %s",
				c.agent, c.path, c.d, rule.Allow, rule.Line, because, c.allow, c.line, c.because)
		}
	}
}

func TestGroupAndRules(t *testing.T) {
	f := robots.Parse([]byte(text), robots.Google)
	who := robots.NewAgent("B/2.1", robots.Google)
	got := GroupOf(f, who)
	want := &Group{Names: []Name{{"B", true}}, Parts: []Lines{{1, 5, []string{"a", "b"}}}, Shared: 1}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the group is %+v, want %+v", got, want)
	}
	bound, _ := f.Select(who)
	rules := RulesOf(bound, []byte("/x/y"), robots.Google)
	if len(rules) != 3 || rules[0] != (Rule{4, "Allow: /x/y", "/x/y", true, 4, 0, "longest"}) || rules[1].Line != 3 || rules[2].StopsAt != 2 {
		t.Errorf("the rules are %+v", rules)
	}
}
