package engine

import (
	"testing"
	"time"

	"github.com/robobatch/robobatch/robots"
)

// TestInForce compares the rulings and answers for moments with an evaluation of rows at these times.
func TestInForce(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	all := []robots.Response{
		{Origin: "https://a.example", Status: 200, FetchedAt: day(3), Body: []byte("User-agent: *\nDisallow: /\nContent-Signal: ai-train=no\n")},
		{Origin: "https://a.example", Status: 200, FetchedAt: day(9), Body: []byte("User-agent: Googlebot\nUser-agent: yandex\nAllow: /x\n")},
		{Origin: "https://b.example", Status: 404, FetchedAt: day(5)},
		{Origin: "https://c.example", Error: "refused", FetchedAt: day(5)},
		{Origin: "https://d.example", Status: 200, Body: []byte("<!DOCTYPE html><html>\n")},
	}
	opt := StoreOptions{
		Dialect: robots.Google, Agents: []string{"*", "Googlebot", "Googlebot-Image", "AdsBot-Google"}, RowTimes: true, Missing: MissingUnknown,
		Choices: true, Directives: append(robots.PreferenceLines(), robots.LicenseLines),
	}
	moments := []int64{NoTime, day(1).UnixMicro(), day(4).UnixMicro(), day(10).UnixMicro()}
	stores := waysToOpen(t, makePack(t, robots.Google, all...), opt)
	stores["memory"] = storeOf(t, opt, all...)
	for way, s := range stores {
		look, choices := s.NewLookup(), map[string]int{}
		for site := range SiteID(s.NumSites()) {
			origin := look.Origin(site)
			ids := look.InForce(nil, site, moments)
			var b Batch
			for i, at := range moments {
				b.AddURL([]byte(string(origin)+"/x"), int64(i+1))
				b.Times = append(b.Times, at)
			}
			s.NewEvaluator().Evaluate(&b)
			for i, id := range ids {
				if id != b.Rulings[i] {
					t.Errorf("%s: %s at %d: ruling %d, want %d", way, origin, moments[i], id, b.Rulings[i])
				}
				for a := range opt.Agents {
					v, got := b.Verdicts[i*len(opt.Agents)+a], look.Answer(id, a, []byte("/x"))
					if got.Access != v.Access || got.Reason != v.Reason || got.Preferences.Said != b.Preferences[i*len(opt.Agents)+a].Said {
						t.Errorf("%s: %s at %d for %s: %+v, want %+v", way, origin, moments[i], opt.Agents[a], got, v)
					}
					choices[look.Choice(id, a).String()]++
				}
			}
			first, last, ok := look.Span(site)
			if want := origin != "https://d.example"; ok != want || origin == "https://a.example" && (first != day(3).UnixMicro() || last != day(9).UnixMicro()) {
				t.Errorf("%s: the span of %s is %d to %d, %t", way, origin, first, last, ok)
			}
			if odd := look.Odd(ids[0]); (odd == robots.OddHTML) != (origin == "https://d.example") {
				t.Errorf("%s: %s is odd: %s", way, origin, odd)
			}
		}
		// a.example has one text on day 1 and another on day 2; d.example has HTML on day 4; otherwise there is no
		// text.
		if choices["name"] != 2 || choices["family"] != 2 || choices["*"] != 3 || choices["none"] != 64-7 {
			t.Errorf("%s: choices are %v", way, choices)
		}
		if err := s.Err(); err != nil {
			t.Error(err)
		}
	}
}
