package report

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/report/internal/show"
	"github.com/robobatch/robobatch/robots"
)

// TestAskers holds that rows by crawler are those with the most requests, in the order of the lines, and
// that all files together have so many.
func TestAskers(t *testing.T) {
	file := File{Origin: "https://a.example", Origins: 1, Requests: 1}
	for line := range int32(10) {
		use := Use{Line: line + 1, Rule: "Disallow: /x"}
		for agent := range 30 {
			use.Asked = append(use.Asked, AgentRequests{agent, int64(30*line) + int64(agent)})
		}
		file.Uses = append(file.Uses, use)
	}
	few := File{Origin: "https://b.example", Uses: []Use{{Line: 7, Asked: []AgentRequests{{1, 5}, {0, 3}}}}}
	files := listings(&Run{Files: []File{file, few, file, file, file}}, func(agent int) string { return string(rune('A' + agent)) })
	want := []int{shownAsked, 2, shownAsked, allAsked - 2*shownAsked - 2, 0}
	for i, f := range files {
		if len(f.Asked) != want[i] || i != 1 && len(f.Asked)+int(f.HiddenAsked) != 300 {
			t.Errorf("file %d has %d rows, and %d others; want %d", i, len(f.Asked), f.HiddenAsked, want[i])
		}
		if !slices.IsSortedFunc(f.Asked, func(a, b askedView) int { return int(a.Line - b.Line) }) {
			t.Errorf("file %d is not in the order of lines", i)
		}
	}
	if f := files[0]; f.Asked[0].Requests != 119 || f.Asked[0].Crawler != string(rune('A'+29)) || f.Asked[0].Line != 4 {
		t.Errorf("the first of the busiest is %+v", f.Asked[0])
	}
	if alone := listings(&Run{Files: []File{file}}, nil); len(alone[0].Asked) > 0 {
		t.Error("one crawler has rows of its own")
	}
}

// TestSitemaps reads how many lines name sitemaps.
func TestSitemaps(t *testing.T) {
	run := &Run{}
	for _, text := range []string{"User-agent: *\nDisallow: /x\n", "Sitemap: https://a.example/1\n", "sitemap: https://a.example/1\nSitemap: /2\n"} {
		run.Files = append(run.Files, File{Origin: "https://a.example", Text: []byte(text), Report: robots.Inspect([]byte(text), robots.Google)})
	}
	run.Files = append(run.Files, File{Origin: "https://a.example"}) // there is no text
	var got bytes.Buffer
	if err := page().Lookup("rules").Execute(&got, &view{Run: run, Listings: listings(run, nil)}); err != nil {
		t.Fatal(err)
	}
	notes := regexp.MustCompile(`<p class="note">.*?</p>`).FindAllString(got.String(), -1)
	want := []string{
		`<p class="note">1 line names a sitemap: <code>robobatch rules -sitemaps</code> says whether crawlers may fetch it.</p>`,
		`<p class="note">2 lines name sitemaps: <code>robobatch rules -sitemaps</code> says whether crawlers may fetch them.</p>`,
	}
	if !slices.Equal(notes, want) {
		t.Errorf("the notes are %q, want %q", notes, want)
	}
}

// TestScale holds that a chart has up to six numbers beside it, the first of them 0.
func TestScale(t *testing.T) {
	for most, want := range map[int64]string{1: "0 1", 3: "0 1 2 3", 5: "0 1 2 3 4 5", 9: "0 2 4 6 8", 138: "0 50 100", 1_000_000: "0 200,000 400,000 600,000 800,000 1,000,000"} {
		v := timeView{Rows: []timeRow{{At: "a"}, {At: "b"}, {At: "c"}}}
		v.addScale(most)
		var got []string
		for _, tick := range v.Ticks {
			got = append(got, tick.Text)
		}
		if strings.Join(got, " ") != want || v.Ticks[0].Y != "160" || strings.Join(v.Labels, "") != "abc" {
			t.Errorf("up to %d: %q, %q, want %s", most, got, v.Labels, want)
		}
	}
}

// TestPeaks holds that the page names the busiest hour and, of several days, the busiest day.
func TestPeaks(t *testing.T) {
	rows := []timeRow{{At: "2015-05-17 22:00"}, {At: "2015-05-17 23:00"}, {At: "2015-05-18 00:00"}, {At: "2015-05-18 01:00"}}
	for _, c := range []struct {
		step    string
		numbers []int64
		want    string
	}{
		{"hour", []int64{0, 5, 3, 4}, "5 in the hour of 2015-05-17 23:00; 7 on the day 2015-05-18"},
		{"hour", []int64{2, 5}, "5 in the hour of 2015-05-17 23:00"},
		{"day", []int64{1, 5}, "5 on the day 2015-05-17 23:00"},
		{"week", []int64{1, 5}, "5 in the week from 2015-05-17 23:00"},
		{"hour", []int64{0, 0, 0, 0}, ""},
	} {
		v := timeView{Step: c.step, Rows: rows[:len(c.numbers)]}
		v.addPeak("requests", c.numbers)
		var got []string
		for _, p := range v.Peaks {
			got = append(got, p.Number+" "+p.When)
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("by the %s, %d: %q, want %q", c.step, c.numbers, got, c.want)
		}
	}
}

// TestNamed holds that the origins with the same text are named as far as there is room, and the others counted.
func TestNamed(t *testing.T) {
	run := &Run{Files: []File{{Origin: "https://a.example", Origins: 3, Same: []string{"https://b.example", "https://c.example"}}, {Origin: "https://d.example", Origins: 1}}}
	for range 8 {
		file := File{Origin: "https://e.example", Origins: 500}
		for i := range file.Origins - 1 {
			file.Same = append(file.Same, "https://f.example:"+strings.Repeat("1", i%10))
		}
		run.Files = append(run.Files, file)
	}
	for range 2 { // as what is shown does not change what is known
		named := 0
		for i, f := range listings(run, nil) {
			if len(f.Named)+int(f.Unnamed) != f.Origins-1 || len(f.Names()) > show.MaxSentence || i == 0 && f.Names() != "https://b.example, https://c.example" {
				t.Errorf("file %d names %d origins, and not %d, of %d: %.100s", i, len(f.Named), f.Unnamed, f.Origins, f.Names())
			}
			named += len(f.Names())
		}
		if named < sameBytes*9/10 || named > sameBytes {
			t.Errorf("%d bytes", named)
		}
	}
	if f := listings(run, nil)[1]; f.Others() != "" || f.Unnamed != 0 {
		t.Errorf("alone is %q, %d", f.Others(), f.Unnamed)
	}
}

// TestTextless holds that the page says how many files have no text in it for want of room, and does not count those that
// have none at all.
func TestTextless(t *testing.T) {
	large := []byte(strings.Repeat("# "+strings.Repeat("x", 1000)+"\n", 1+listingBytes/1000))
	for want, texts := range map[string][][]byte{
		"": {[]byte("# a\n"), nil, {}}, "One of these files has no link: there is no room in the page for its text and rules.": {[]byte("# a\n"), large, nil},
		"2 of these files have no link: there is no room in the page for their text and rules.": {large, large},
	} {
		run := &Run{}
		for _, text := range texts {
			run.Files = append(run.Files, File{Origin: "https://a.example", Text: text})
		}
		var got bytes.Buffer
		if err := page().Lookup("rules").Execute(&got, &view{Run: run, Listings: listings(run, nil)}); err != nil {
			t.Fatal(err)
		}
		if note := regexp.MustCompile(`(One|\d+) of these files (has|have).*?[.]`).FindString(got.String()); note != want {
			t.Errorf("the note is %q, want %q", note, want)
		}
	}
}
