package listings

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/robobatch/robobatch/internal/captures"
	"github.com/robobatch/robobatch/robots"
)

// noon returns a moment of the day with this number.
func noon(day int) time.Time { return time.Date(2024, 1, day, 12, 0, 0, 0, time.UTC) }

// responsesOf yields the responses.
func responsesOf(all ...robots.Response) iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		for _, r := range all {
			r.Body = slices.Clone(r.Body)
			if !yield(r, nil) {
				return
			}
		}
	}
}

// list returns "origin outcome status sitemaps" for each listing.
func list(tb testing.TB, opt Options, all ...robots.Response) (got []string) {
	tb.Helper()
	err := List(tb.Context(), responsesOf(all...), opt, func(l *Listing) error {
		said := "no body"
		if l.Report != nil {
			said = fmt.Sprint(l.Report.Sitemaps)
		}
		if l.Response.Body != nil {
			tb.Errorf("%s: the body is kept", l.Origin)
		}
		got = append(got, fmt.Sprintf("%s %s/%s %d %s %d", l.Origin, l.Outcome.Effect, l.Outcome.Cause, l.Response.Status, said, l.Response.Size))
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return got
}

// TestList lists every kind of outcome: rules, a redirect target's rules for both origins, client and server errors,
// and captures that are not yet in force.
func TestList(t *testing.T) {
	body := []byte("Sitemap: https://a.example/s\n")
	all := []robots.Response{
		{Origin: "https://new.example", Status: 200, FetchedAt: noon(9), Body: body},
		{Origin: "https://a.example", Status: 301, FetchedAt: noon(1), Location: "https://b.example/robots.txt"},
		{Origin: "https://b.example", Status: 200, FetchedAt: noon(1), Body: body},
		{Origin: "https://c.example", Status: 404, FetchedAt: noon(1), Body: []byte("gone")},
		{Origin: "https://d.example", Error: "refused", FetchedAt: noon(1)},
		{Origin: "https://e.example", Status: 200, FetchedAt: noon(1), Body: body},
		{Origin: "https://e.example", Status: 200, FetchedAt: noon(2)},
	}
	want := []string{
		"https://a.example use rules/fetched 200 [{1 https://a.example/s}] 29",
		"https://b.example use rules/fetched 200 [{1 https://a.example/s}] 29",
		"https://c.example allow all/status_4xx 404 no body 4",
		"https://d.example disallow all/unreachable 0 no body 0",
		"https://e.example use rules/fetched 200 [] 0",
		"https://new.example no record/none 0 no body 0",
	}
	for _, workers := range []int{1, 2, 8} {
		opt := Options{Dialect: robots.Google, AsOf: noon(3), Workers: workers}
		if got := list(t, opt, all...); !slices.Equal(got, want) {
			t.Errorf("%d workers: got\n%q, want\n%q", workers, got, want)
		}
	}
	if got := list(t, Options{Dialect: robots.Google, AsOf: noon(3), Origin: "https://a.example"}, all...); !slices.Equal(got, want[:1]) {
		t.Errorf("one origin: got %q, want %q", got, want[:1])
	}
	if got := list(t, Options{Dialect: robots.Google}, all...); len(got) != 6 || got[0] != "https://new.example use rules/fetched 200 [{1 https://a.example/s}] 29" {
		t.Errorf("at the newest moment: %q", got)
	}
}

// TestListTooLarge tests that a body which Yandex ignores for its size is still inspected.
func TestListTooLarge(t *testing.T) {
	large := make([]byte, robots.MaxBytes+1)
	copy(large, "Sitemap: https://a.example/s\n")
	got := list(t, Options{Dialect: robots.Yandex}, robots.Response{Origin: "https://a.example", Status: 200, Body: large})
	if want := fmt.Sprintf("https://a.example allow all/too_large 200 [{1 https://a.example/s}] %d", len(large)); !slices.Equal(got, []string{want}) {
		t.Errorf("got %.200q, want %q", got, want)
	}
}

// swapped yields the responses, the second time with the first two exchanged.
func swapped(all []robots.Response) iter.Seq2[robots.Response, error] {
	again := false
	return func(yield func(robots.Response, error) bool) {
		order := slices.Clone(all)
		if again {
			order[0], order[1] = order[1], order[0]
		}
		again = true
		responsesOf(order...)(yield)
	}
}

// TestListFaults tests that errors of the responses, at either reading, of yield and of ctx end a listing.
func TestListFaults(t *testing.T) {
	broken := errors.New("broken")
	good := make([]robots.Response, 100)
	for i := range good {
		good[i] = robots.Response{Origin: robots.Origin(fmt.Sprintf("https://%d.example", i)), Status: 200, FetchedAt: noon(1)}
	}
	// turns yields the responses, and fails or ends early in the given reading.
	turns := func(reading int, fault error) iter.Seq2[robots.Response, error] {
		readings := 0
		return func(yield func(robots.Response, error) bool) {
			readings++
			for i, r := range good {
				if i == 50 && readings == reading {
					if fault != nil {
						yield(r, fault)
					}
					return
				}
				if !yield(r, nil) {
					return
				}
			}
		}
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	twice := append(slices.Clone(good), robots.Response{Origin: "https://x.example"}, robots.Response{Origin: "https://x.example"})
	for what, tt := range map[string]struct {
		ctx       context.Context
		responses iter.Seq2[robots.Response, error]
		yield     error
		want      error
	}{
		"first reading":    {t.Context(), turns(1, broken), nil, broken},
		"second reading":   {t.Context(), turns(2, broken), nil, broken},
		"fewer in second":  {t.Context(), turns(2, nil), nil, ErrChanged},
		"others in second": {t.Context(), swapped(good), nil, ErrChanged},
		"yield":            {t.Context(), responsesOf(good...), broken, broken},
		"canceled":         {canceled, responsesOf(good...), nil, context.Canceled},
		"two files":        {t.Context(), responsesOf(twice...), nil, captures.ErrTwoFiles},
		"nothing is wrong": {t.Context(), responsesOf(good...), nil, nil},
	} {
		err := List(tt.ctx, tt.responses, Options{AsOf: time.Time{}}, func(*Listing) error { return tt.yield })
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", what, err, tt.want)
		}
	}
}
