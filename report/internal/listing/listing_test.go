package listing

import (
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/report/internal/show"
)

// TestAskers checks that the rows by crawler are those with the most requests, in the order of the lines, and that
// their number over all files is limited.
func TestAskers(t *testing.T) {
	file := File{Origin: "https://a.example", Origins: 1, Requests: 1}
	for line := range int32(10) {
		use := Use{Line: line + 1, Rule: "Disallow: /x"}
		for agent := range 30 {
			use.Asked = append(use.Asked, aggregate.Asked{Agent: agent, Requests: int64(30*line) + int64(agent)})
		}
		file.Uses = append(file.Uses, use)
	}
	few := File{Origin: "https://b.example", Uses: []Use{{Line: 7, Asked: []aggregate.Asked{{Agent: 1, Requests: 5}, {Requests: 3}}}}}
	files := New([]File{file, few, file, file, file}, func(agent int) string { return string(rune('A' + agent)) })
	want := []int{shownAsked, 2, shownAsked, allAsked - 2*shownAsked - 2, 0}
	for i, f := range files {
		if len(f.ByCrawler) != want[i] || i != 1 && len(f.ByCrawler)+int(f.HiddenAsked) != 300 {
			t.Errorf("file %d has %d rows, and %d others; want %d", i, len(f.ByCrawler), f.HiddenAsked, want[i])
		}
		if !slices.IsSortedFunc(f.ByCrawler, func(a, b Asked) int { return int(a.Line - b.Line) }) {
			t.Errorf("file %d is not in the order of lines", i)
		}
	}
	if f := files[0]; f.ByCrawler[0].Requests != 119 || f.ByCrawler[0].Crawler != string(rune('A'+29)) || f.ByCrawler[0].Line != 4 {
		t.Errorf("the first row of the busiest file is %+v", f.ByCrawler[0])
	}
	if alone := New([]File{file}, nil); len(alone[0].ByCrawler) > 0 {
		t.Error("a single crawler has rows by crawler")
	}
}

// TestNamed checks that as many origins with the same text are named as fit, and the others are counted.
func TestNamed(t *testing.T) {
	all := []File{{Origin: "https://a.example", Origins: 3, Same: []string{"https://b.example", "https://c.example"}}, {Origin: "https://d.example", Origins: 1}}
	for range 8 {
		file := File{Origin: "https://e.example", Origins: 500}
		for i := range file.Origins - 1 {
			file.Same = append(file.Same, "https://f.example:"+strings.Repeat("1", i%10))
		}
		all = append(all, file)
	}
	for range 2 { // New must not change the files
		named := 0
		for i, f := range New(all, nil) {
			if len(f.Named)+int(f.Unnamed) != f.Origins-1 || len(f.Names()) > show.MaxSentence || i == 0 && f.Names() != "https://b.example, https://c.example" {
				t.Errorf("file %d names %d origins and omits %d, of %d: %.100s", i, len(f.Named), f.Unnamed, f.Origins, f.Names())
			}
			named += len(f.Names())
		}
		if named < sameBytes*9/10 || named > sameBytes {
			t.Errorf("%d bytes", named)
		}
	}
	if f := New(all, nil)[1]; f.Others() != "" || f.Unnamed != 0 {
		t.Errorf("alone is %q, %d", f.Others(), f.Unnamed)
	}
}

// TestShorten checks that the least informative lines are omitted, and counted.
func TestShorten(t *testing.T) {
	text := []byte("User-agent: *\n# " + strings.Repeat("x", 100) + "\nDisallow: /p\n#\n#\nDisallow: /q\n")
	uses := []Use{{Line: 3, Rule: "Disallow: /p", Decided: Count{Requests: 1}}, {Line: 6, Rule: "Disallow: /q"}}
	f := newView(&File{Origin: "https://a.example", Origins: 1, Text: text, Uses: uses})
	f.shorten(2 * (lineBytes + len("Disallow: /p")))
	if len(f.Lines) != 2 || f.Hidden != 4 || f.Lines[0].No != 3 || f.Lines[0].Gap != 2 || f.Lines[1].No != 6 || f.Lines[1].Gap != 2 {
		t.Errorf("%d lines are hidden, the others are %+v", f.Hidden, f.Lines)
	}
}
