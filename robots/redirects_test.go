package robots_test

import (
	"slices"
	"testing"
	"time"

	"github.com/robobatch/robobatch/robots"
)

// TestRedirectsAt checks which redirects lead to the robots.txt of another origin.
func TestRedirectsAt(t *testing.T) {
	for location, want := range map[string]robots.Origin{
		"": "", "https://b.com/robots.txt?x#y": "https://b.com", "https://b.com/other": "", "/robots.txt?x": "", "http://[": "", "https://b.com": "",
	} {
		h := robots.NewHistory(robots.Google)
		h.Add(robots.Response{Origin: "https://a.com", Status: 301, Location: location})
		var got []robots.Origin
		for _, r := range h.RedirectsAt(nil, "https://a.com", time.Time{}) {
			got = append(got, r.To)
		}
		if want != "" && !slices.Equal(got, []robots.Origin{want}) || want == "" && len(got) > 0 {
			t.Errorf("%q leads to %q, want %q", location, got, want)
		}
	}
}
