package examples

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// mustBuild compiles robotsTxt for an origin.
func mustBuild(t *testing.T, origin robots.Origin, agents ...string) *engine.Store {
	t.Helper()
	store, err := engine.BuildStore(one(origin, robotsTxt), engine.StoreOptions{Agents: agents})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// TestZeroOptions holds that zero options work as documented.
func TestZeroOptions(t *testing.T) {
	store := mustBuild(t, "https://example.com")
	if got := store.Options().Dialect; got != robots.RFC9309 {
		t.Errorf("the zero dialect is %v", got)
	}
	if got := fmt.Sprint(store.Options().Agents); got != "[*]" {
		t.Errorf("the agents are %s", got)
	}
	var access engine.Access
	if got := fmt.Sprint(access, engine.Denied, engine.Allowed); got != "unknown denied allowed" {
		t.Errorf("accesses print %q", got)
	}
	for _, opt := range []output.Options{{}, {Format: output.CSV}} {
		var out bytes.Buffer
		w, err := output.NewWriter(&out, store, opt)
		if err != nil {
			t.Fatal(err)
		}
		_, err = engine.Run(t.Context(), store, &list{"https://example.com/private/"}, w, engine.Options{})
		if err = errors.Join(err, w.Close()); err != nil || w.Rows() != 1 {
			t.Errorf("%v: %d rows, %v", opt.Format, w.Rows(), err)
		}
		const row = "1,\"\",https://example.com/private/,https://example.com,*,false,rule,2,Disallow: /private/\n"
		if opt.Format == output.CSV && !strings.HasSuffix(out.String(), row) {
			t.Errorf("%s", out.String())
		}
	}
}

// TestOrigins holds that an origin may be written in any form, and that an empty origin is an error, because it
// would match no URL.
func TestOrigins(t *testing.T) {
	for _, origin := range []robots.Origin{"https://example.com", "https://EXAMPLE.com:443/", "https://example.com/robots.txt"} {
		answer, err := mustBuild(t, origin).Verdict("https://example.com/private/1", "*")
		if err != nil || answer.Access != engine.Denied {
			t.Errorf("%s: %v, %v", origin, answer, err)
		}
	}
	for _, origin := range []robots.Origin{"", "example.com", "https://example.com/x"} {
		_, err := engine.BuildStore(one(origin, robotsTxt), engine.StoreOptions{})
		if _, ok := errors.AsType[*robots.OriginError](err); !ok {
			t.Errorf("%q: %v", origin, err)
		}
	}
}

// TestAgents holds that the store and robots.Parse agree on a crawler with habits, and that an
// agent that the store does not contain is an error.
func TestAgents(t *testing.T) {
	store := mustBuild(t, "https://example.com", "AdsBot-Google", "Mozilla/5.0 (compatible; GPTBot/1.2)")
	for _, dialect := range []robots.Dialect{robots.RFC9309, robots.Google} {
		store, err := engine.BuildStore(one("https://example.com", "User-agent: *\nDisallow: /\n"),
			engine.StoreOptions{Dialect: dialect, Agents: []string{"AdsBot-Google"}})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := store.Verdict("https://example.com/", "AdsBot-Google")
		if err != nil {
			t.Fatal(err)
		}
		rules, _ := robots.Parse([]byte("User-agent: *\nDisallow: /\n"), dialect).Select(robots.NewAgent("AdsBot-Google", dialect))
		if bound := len(rules) > 0; bound != (answer.Access == engine.Denied) {
			t.Errorf("%v: %v, and %d rules", dialect, answer, len(rules))
		}
	}
	if _, err := store.Verdict("https://example.com/", "GPTBot"); !errors.Is(err, engine.ErrAgent) {
		t.Error(err)
	}
}
