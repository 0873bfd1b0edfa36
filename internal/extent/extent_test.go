package extent

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

var dialects = []robots.Dialect{robots.Google, robots.RFC9309, robots.Google2010, robots.Yandex}

// rulesOf returns the rules of a text for all crawlers.
func rulesOf(text string, d robots.Dialect) []robots.Rule {
	rules, _ := robots.Parse([]byte("User-agent: *\n"+text), d).Select(robots.NewAgent("*", d))
	return rules
}

// TestOf has cases for each part of the algorithm.
func TestOf(t *testing.T) {
	for _, tt := range []struct {
		rules string
		d     robots.Dialect
		want  string // access, the examples, and whether only files are open
	}{
		{"", robots.Google, `all "/" "" none`},
		{"Disallow:", robots.Google, `all "/" "" none`},
		{"Disallow: /", robots.Google, `none "" "/" none`},
		{"Disallow: /*", robots.Google, `none "" "/" none`},
		{"Disallow: *", robots.Google, `none "" "/" none`},
		{"Disallow: /$", robots.Google, `some "/x" "/" none`},
		{"Disallow: $", robots.Google, `all "/" "" none`},
		{"Disallow: x", robots.Google, `all "/" "" none`},
		{"Disallow: x", robots.Google2010, `some "/" "/x" none`},
		{"Disallow: /robots.txt", robots.Google, `some "/" "/robots.txtx" none`},
		{"Disallow: /robots.txt$", robots.Google, `all "/" "" none`},
		{"Disallow: /robots.txt?*", robots.Google, `all "/" "" none`},
		{"Disallow: /\nAllow: /robots.txt$\nAllow: /robots.txt?", robots.Google, `none "" "/" none`},
		{"Disallow: /\nAllow: /ads.txt", robots.Google, `some "/ads.txt" "/" all`},
		{"Disallow: /\nAllow: /ads.txt\nAllow: /$", robots.Google, `some "/" "/x" all`},
		{"Disallow: /\nAllow: /ads.txt\nAllow: /shop", robots.Google, `some "/shop" "/" none`},
		{"Disallow: /\nAllow: /ads.txt\nAllow: /shop/", robots.Google, `some "/shop/" "/" none`},
		{"Disallow: /\nAllow: /a.x1\nAllow: /longer/", robots.Google, `some "/a.x1" "/" none`},
		{"Disallow: /\nAllow: /ads.txt\nDisallow: /ads.txt*", robots.Google, `none "" "/" none`},
		{"Disallow: /\nAllow: /*.css$", robots.Google, `some "/.css" "/" none`},
		{"Disallow: /\nAllow: /index.html", robots.Google, `some "/" "/x" all`},
		{"Disallow: /\nAllow: /index.html", robots.RFC9309, `some "/index.html" "/" all`},
		{"Disallow: /*a\nAllow: /*a*", robots.Google, `all "/" "" none`},
		{"Disallow: /*a\nAllow: /*a*", robots.Yandex, `all "/" "" none`},
		{"Disallow: /a*b\nAllow: /a\nAllow: /*b$\nAllow: /a*b*c", robots.Google, `some "/" "/abx" none`},
		{"Disallow: /a b", robots.Google, `all "/" "" none`}, // no path has a blank
		{"Disallow: /a b", robots.RFC9309, `some "/" "/a%20b" none`},
		{"Disallow: /\nAllow: /%a*f$\nDisallow: /%ax*f$", robots.Google, `some "/%azf" "/" none`}, // "%af" is "%AF"
		{"Disallow: /%25*1", robots.RFC9309, `some "/" "/%251" none`},
		{"Disallow: /\nAllow: /%*1", robots.RFC9309, `some "/%1" "/" none`},
		{"Disallow: /\nAllow: /%*4*1\nDisallow: /%*4x*1", robots.RFC9309, `some "/%%34%31" "/" none`},
		{"Disallow: /%2A$", robots.RFC9309, `some "/" "/*" none`},
		{"Allow:", robots.Yandex, `none "" "/" none`},
	} {
		x := Of(rulesOf(tt.rules, tt.d), tt.d)
		if got := fmt.Sprintf("%s %q %q %s", x.Access, x.Open, x.Closed, x.OnlyFiles); got != tt.want {
			t.Errorf("%s: %q = %s, want %s", tt.d, tt.rules, got, tt.want)
		}
	}
}

// TestHostile tests that the largest files take limited time.
func TestHostile(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"wildcards": "Disallow: /" + strings.Repeat("a*", 100_000) + "\nAllow: /" + strings.Repeat("a*", 100_000) + "b\n",
		"period":    "Disallow: /*" + strings.Repeat("a", 200_000) + "$\nAllow: /*" + strings.Repeat("a", 200_000) + "b\n",
		"covered":   "Disallow: /\nAllow: /*" + strings.Repeat("a", 60_000) + "\nDisallow: /*" + strings.Repeat("a", 60_000) + "*\n",
		"many":      "Disallow: /\n" + strings.Repeat("Allow: /*a*b*c*d$\nDisallow: /*a*b*c*d*$\n", 12_000),
	} {
		x := Of(rulesOf(text, robots.Google), robots.Google)
		if t.Logf("%s: %s, %d states", name, x.Access, x.States); x.Access == All || name == "many" && x.Access != None {
			t.Errorf("%s: %s", name, x.Access)
		}
	}
}

// TestCut tests that the answer of a search with too many states is unknown, and that paths found before are returned.
func TestCut(t *testing.T) {
	var hostile strings.Builder
	for i := range 24 {
		c := 'a' + rune(i)
		fmt.Fprintf(&hostile, "Disallow: /*%c%c%c*xyz\n", c, c+1, c)
	}
	x := Of(rulesOf(hostile.String()+"Disallow: /*\nAllow: /*aba*bcb*cdc*ded*efe*fgf*ghg*hih*iji*jkj*klk*lml$\nDisallow: /*aba*bcb*cdc*ded*efe*fgf*ghg*hih*iji*jkj*klk*lml*$", robots.Google), robots.Google)
	if x.Access != None && x.Access != Unknown || x.Open != "" || x.Closed != "/" {
		t.Errorf("closed by a longer rule: %+v", x)
	}
	var sides strings.Builder
	for i := range 20 {
		c := 'a' + rune(i)
		fmt.Fprintf(&sides, "Allow: /*%c%c*$\nDisallow: /*%c*%c\n", c, c, c, c) // one is as long as the other, and matches more
	}
	x = Of(rulesOf(sides.String(), robots.Google), robots.Google)
	if x.Access != Some || x.Closed != "/axa" {
		t.Errorf("many wildcards: %+v", x)
	}
	all := strings.ReplaceAll(sides.String(), "*$", "*")
	if x = Of(rulesOf("Allow: /***************************a\nDisallow: /\n"+all, robots.Google), robots.Google); x.Access != Some {
		t.Errorf("many wildcards: %+v", x)
	}
}

// A drawer draws rules.
type drawer struct{ *rand.Rand }

// texts are the parts of random patterns. They produce prefixes, ties, escapes, ends and index pages.
var texts = []string{"/", "a", "b", "aa", "ab", "*", "*", "*", "**", "$", "%", "%2", "%41", "%af", "%2a", "%24", "%2F", "f", "4", "1", ".txt", "?", "/index.htm", "obots.txt", "r", "é", " ", "/r"}

// rules returns the text of a random group.
func (r drawer) rules() string {
	var sb strings.Builder
	for range 1 + r.IntN(4) {
		sb.WriteString([]string{"Allow: ", "Disallow: "}[r.IntN(2)])
		few := texts[:10]
		if r.IntN(3) == 0 {
			few = texts
		}
		if r.IntN(12) > 0 {
			sb.WriteString([]string{"/", "/", "/", "/", "*", ""}[r.IntN(6)])
		}
		for range r.IntN(5) {
			sb.WriteString(few[r.IntN(len(few))])
		}
		if r.IntN(4) == 0 {
			sb.WriteByte('$')
		}
		sb.WriteByte('\n')
	}
	return sb.String()
}

// A check decides by another way: sets of positions of all patterns, none of them left out, in a search by length over
// all bytes that occur, and what the reference says of one path for each of these sets.
type check struct {
	rules    []robots.Rule
	d        robots.Dialect
	patterns []string
}

// newCheck returns a check of rules.
func newCheck(rules []robots.Rule, d robots.Dialect) *check {
	c := &check{rules: rules, d: d, patterns: []string{"/robots.txt$", "/robots.txt?"}}
	for _, r := range rules {
		c.patterns = append(c.patterns, r.Pattern)
		if index, ok := d.IndexPattern(r); ok {
			c.patterns = append(c.patterns, index)
		}
	}
	return c
}

// A set is positions in a pattern, as bits.
type set = uint64

// add adds a position, and those that can be reached from it without a byte.
func add(to set, pattern string, at int) set {
	for {
		to |= 1 << at
		if at == len(pattern) || pattern[at] != '*' {
			return to
		}
		at++
	}
}

// step returns the positions after a byte. A position at the end of a pattern stays, because the pattern has matched.
func step(pattern string, from set, b byte) (to set) {
	for ; from != 0; from &= from - 1 {
		switch at := bits.TrailingZeros64(from); {
		case at == len(pattern), pattern[at] == '*':
			to = add(to, pattern, at)
		case pattern[at] == '$' && at == len(pattern)-1:
		case pattern[at] == b:
			to = add(to, pattern, at+1)
		}
	}
	return to
}

// occurs reports whether a path can come from a URL: it is unchanged by normalisation or, if escapes are decoded, is
// the result for a URL with all letters and digits escaped.
func (c *check) occurs(path string) bool {
	if got, _ := c.d.Path([]byte(path), nil); string(got) == path {
		return true
	}
	if c.d != robots.RFC9309 {
		return false
	}
	var sb strings.Builder
	for _, b := range []byte(path) {
		switch {
		case b == 0xaa || b == 0xa4:
			sb.WriteByte(b & 0x7f)
		case 'a' <= b|0x20 && b|0x20 <= 'z', '0' <= b && b <= '9':
			fmt.Fprintf(&sb, "%%%02x", b)
		default:
			sb.WriteByte(b)
		}
	}
	got, _ := c.d.Path([]byte(sb.String()), nil)
	return string(got) == path
}

// search returns the lengths of the shortest allowed and the shortest disallowed path; 0 if there is none, -1 if a
// limit on the number of sets was reached first.
func (c *check) search(limit int) (open, closed int) {
	var used, legal [256]bool
	for _, b := range []byte("/xA0%c~") {
		used[b] = true
	}
	for _, p := range c.patterns {
		if len(p) > 63 {
			return -1, -1
		}
		for i := range len(p) {
			used[p[i]] = true
		}
	}
	for b := range legal {
		legal[b] = c.occurs("/" + string([]byte{byte(b)}))
	}
	type node struct {
		path string
		at   []set
	}
	begin := node{at: make([]set, len(c.patterns))}
	for i, p := range c.patterns {
		begin.at[i] = add(0, p, 0)
	}
	at, key := make([]set, len(c.patterns)), []byte(nil)
	known := map[string]bool{}
	queue := []node{begin}
	for n := 0; n < len(queue); n++ {
		from := queue[n]
		for b := range used {
			if !used[b] || from.path == "" && b != '/' {
				continue
			}
			mark := strings.LastIndexByte(from.path, '%')
			if !legal[b] || mark >= 0 && mark >= len(from.path)-2 && !c.occurs(from.path+string([]byte{byte(b)})) {
				continue
			}
			key = key[:0]
			for i, p := range c.patterns {
				at[i] = step(p, from.at[i], byte(b))
				key = binary.LittleEndian.AppendUint64(key, at[i])
			}
			if b == '%' {
				key = append(key, '%') // what follows depends on it
			} else if mark >= 0 && mark == len(from.path)-1 {
				key = append(key, '%', byte(b))
			}
			if known[string(key)] {
				continue
			}
			next := node{from.path + string([]byte{byte(b)}), slices.Clone(at)}
			known[string(key)] = true
			if len(known) > limit {
				return -1, -1
			}
			queue = append(queue, next)
			if robots.IsTxt([]byte(next.path)) {
				continue
			}
			winner := robots.Decide(c.rules, []byte(next.path), c.d)
			if winner < 0 || c.rules[winner].Allow {
				if open == 0 {
					open = len(next.path)
				}
			} else if closed == 0 {
				closed = len(next.path)
			}
			if open > 0 && closed > 0 {
				return open, closed
			}
		}
	}
	return open, closed
}

// errLimit is the error of rules that the check takes too many sets for.
var errLimit = errors.New("too many sets of positions")

// compare reports the first difference between the package and the check.
func compare(text string, d robots.Dialect) error {
	rules := rulesOf(text, d)
	open, closed := newCheck(rules, d).search(500)
	if open < 0 {
		return errLimit
	}
	for _, try := range []bool{true, false} {
		x := extentOf(rules, d, try)
		want := Some
		switch {
		case open == 0:
			want = None
		case closed == 0:
			want = All
		}
		if x.Access != want {
			return fmt.Errorf("%s, try %t: %q is %s, want %s", d, try, text, x.Access, want)
		}
		for _, example := range []struct {
			url    string
			length int
			allow  bool
		}{{x.Open, open, true}, {x.Closed, closed, false}} {
			if example.url == "" && example.length == 0 {
				continue
			}
			path, _ := d.Path([]byte(example.url), nil)
			winner := robots.Decide(rules, path, d)
			if !example.allow && winner != x.Rule {
				return fmt.Errorf("%s, try %t: %q has the rule %d for %q, want %d", d, try, text, x.Rule, example.url, winner)
			}
			if len(path) != example.length || robots.IsTxt(path) || (winner < 0 || rules[winner].Allow) != example.allow {
				return fmt.Errorf("%s, try %t: %q has the example %q of %t, want one of %d bytes", d, try, text, example.url, example.allow, example.length)
			}
		}
	}
	return nil
}

// TestCompare compares with an independent search: 3,000 random groups in each dialect, or the number in CENSUS (make
// census).
func TestCompare(t *testing.T) {
	t.Parallel()
	count := 3000
	if text := os.Getenv("CENSUS"); text != "" {
		var err error
		if count, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
		count /= len(dialects)
	}
	for _, d := range dialects {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			draw := drawer{rand.New(rand.NewPCG(1, uint64(d)))}
			left, counts := 0, map[Access]int{}
			for range count {
				text := draw.rules()
				if err := compare(text, d); errors.Is(err, errLimit) {
					left++
				} else if err != nil {
					t.Fatal(err)
				}
				counts[Of(rulesOf(text, d), d).Access]++
			}
			if t.Logf("%d groups, %d of them beyond the limit of the check; %v", count, left, counts); left > count/50 || counts[Unknown] > 0 || counts[None] < count/100 || counts[All] < count/100 {
				t.Error("too many of one kind")
			}
		})
	}
}

// TestBrute compares with all URLs of at most six bytes, for groups whose shortest paths are not longer.
func TestBrute(t *testing.T) {
	t.Parallel()
	alphabet := []byte("/ab%4$")
	for _, d := range dialects {
		draw := drawer{rand.New(rand.NewPCG(2, uint64(d)))}
		var paths [7][][]byte
		level := [][]byte{nil}
		for n := 1; n < len(paths); n++ {
			var longer [][]byte
			for _, url := range level {
				for _, b := range alphabet {
					if n > 1 || b == '/' {
						longer = append(longer, append(slices.Clip(url), b))
					}
				}
			}
			for level = longer; len(longer) > 0; longer = longer[1:] {
				path, _ := d.Path(longer[0], nil)
				paths[n] = append(paths[n], path)
			}
		}
		for range 40 {
			text := draw.rules()
			rules := rulesOf(text, d)
			x := Of(rules, d)
			for n := range paths {
				for _, path := range paths[n] {
					winner := robots.Decide(rules, path, d)
					allow := winner < 0 || rules[winner].Allow
					switch {
					case robots.IsTxt(path):
					case allow && (x.Access == None || x.Open == ""), !allow && (x.Access == All || x.Closed == ""):
						t.Fatalf("%s: %q is %s, but %q is allowed: %t", d, text, x.Access, path, allow)
					case allow && len(x.Open) > len(path) && !strings.Contains(x.Open, "%"), !allow && len(x.Closed) > len(path) && !strings.Contains(x.Closed, "%"):
						t.Fatalf("%s: %q has the examples %q and %q, but %q is shorter", d, text, x.Open, x.Closed, path)
					}
				}
			}
		}
	}
}

// FuzzOf compares the results for arbitrary rules.
func FuzzOf(f *testing.F) {
	f.Add("Disallow: /\nAllow: /a*b$", uint8(0))
	f.Add("Allow: /%*4\nDisallow: /*", uint8(1))
	f.Fuzz(func(t *testing.T, text string, d uint8) {
		if len(text) > 60 {
			return
		}
		if err := compare(text, dialects[int(d)%len(dialects)]); err != nil && !errors.Is(err, errLimit) {
			t.Error(err)
		}
	})
}
