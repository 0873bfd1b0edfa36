package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
)

// TestCI runs the commands that docs/CI.md gives to GitHub and to other services, on a site that its expectations fit,
// and on one that was closed.
func TestCI(t *testing.T) {
	page, err := os.ReadFile("../../docs/CI.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^(?: +- run: )?robobatch ((?:lint|check|diff) .*)$`).FindAllSubmatch(page, -1)
	if len(commands) != 6 {
		t.Fatalf("docs/CI.md has %d commands, want 6", len(commands))
	}
	for _, command := range commands[1:] {
		if line := string(command[0]); !strings.Contains(line, "|| failed=$?") && !strings.HasPrefix(after(string(page), line), "\n        if: ${{ !cancelled()") {
			t.Errorf("a step that fails hides what this one finds: %s", line)
		}
	}
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("robots.expect", "allow Googlebot,bingbot /blog/\ndisallow * /cart/ rule=2\n")
	write("robots.txt", "User-agent: *\nDisallow: /cart/\n")
	write("old.txt", "User-agent: *\nDisallow: /cart/\n")
	write("urls.txt", "/blog/\n/cart/\n")
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	std := console.Streams{In: null, Out: null, Err: null}
	if code := run([]string{"lint", "-rules", "robots.txt", "-approve", "robots.baseline.json"}, std); code != 0 {
		t.Fatalf("exit code %d of -approve", code)
	}
	for _, site := range []struct {
		robots string
		code   int
	}{{"User-agent: *\nDisallow: /cart/\n", 0}, {"User-agent: *\nDisallow: /\n", 1}} {
		write("robots.txt", site.robots)
		for _, command := range commands {
			line, _, _ := strings.Cut(string(command[1]), " >")
			line, _, _ = strings.Cut(line, " ||")
			if code := run(strings.Fields(line), std); code != site.code {
				t.Errorf("robobatch %s: exit code %d, want %d, of\n%s", line, code, site.code, site.robots)
			}
		}
	}
}

// after returns the rest of a page behind a text.
func after(page, text string) string {
	_, rest, _ := strings.Cut(page, text)
	return rest
}
