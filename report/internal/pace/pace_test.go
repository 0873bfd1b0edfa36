package pace

import (
	"math"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// TestTooFast compares gaps with a delay.
func TestTooFast(t *testing.T) {
	p, g := &pace{last: engine.NoTime}, &gaps{}
	for _, at := range []int64{0, 1_900_000, 3_900_000, 5_950_000, 5_000_000, 5_000_000, 900_000_000} {
		p.addRequest(at, g)
	}
	for delay, want := range map[float64]int64{0: 0, 0.5: 1, 1.9: 1, 2: 2, 2.1: 4, 700: 5} {
		if fast, all := g.faster(delay); fast != want || all != 5 {
			t.Errorf("%g s: %d of %d, want %d of 5", delay, fast, all, want)
		}
	}
	if p.back != 1 || p.requests != 7 {
		t.Errorf("%+v", p)
	}
}

// TestJumbled holds that gaps are told only where the times are in order.
func TestJumbled(t *testing.T) {
	for back, jumbled := range map[int64]bool{0: false, 1: false, 20: false, 21: true, 500: true} {
		p := Pace{Requests: 1000, Back: back, Median: "1.0 s"}
		if p.Jumbled() != jumbled || (p.MedianText() == "1.0 s") == jumbled {
			t.Errorf("%d of 1000 go back: %v, %s", back, p.Jumbled(), p.MedianText())
		}
	}
}

// TestInheritedDelay holds that bingbot heeds the Crawl-delay for "*" beside a group of its own, unless that has one, and
// that others do not.
func TestInheritedDelay(t *testing.T) {
	const text = engine.RulingID(math.MaxUint32)
	for _, c := range []struct{ agent, own, want string }{
		{"bingbot", "Disallow: /x", "7 s"}, {"bingbot", "Crawl-delay: 2", "2 s"}, {"AhrefsBot", "Disallow: /x", "none"},
	} {
		r := robots.Inspect([]byte("User-agent: *\nCrawl-delay: 7\nDisallow: /\n\nUser-agent: "+c.agent+"\n"+c.own+"\n"), robots.Google)
		if d, known := delayOf(text, map[engine.RulingID]*robots.Report{text: r}, robots.NewAgent(c.agent, robots.Google)); d.String() != c.want || !known {
			t.Errorf("%s with %s: %s, %t, want %s", c.agent, c.own, d, known, c.want)
		}
	}
}
