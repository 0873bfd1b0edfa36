package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/robobatch/robobatch/robots"
)

// TestMethods checks for which crawlers each method counts a robots.txt as closed.
func TestMethods(t *testing.T) {
	for _, tt := range []struct {
		text string
		want [5]bool // by method, for GPTBot
	}{
		{"User-agent: GPTBot\nDisallow: /\n", [5]bool{true, true, true, true, true}},
		{"user-agent: gptbot\ndisallow: /\n", [5]bool{false, false, false, true, true}},
		{"User-agent: a\nDisallow: /b\nUser-agent: GPTBot\nUser-agent: c\nDisallow: /\n", [5]bool{false, true, false, false, true}},
		{"User-agent: *\nDisallow: /x\n\nUser-agent: b\nDisallow: /\n", [5]bool{false, true, false, false, false}},
		{"User-agent: *\n\nDisallow: /\n", [5]bool{false, true, true, true, true}},
		{"User-agent: *\nDisallow: /\nAllow: /x\n", [5]bool{}},
		{"User-agent: *\nDisallow: /\nAllow: /?x\n", [5]bool{true, true, true, true, true}},
	} {
		for m := range methods {
			name := "GPTBot"
			if methods[m].anyCase {
				name = "gptbot"
			}
			if got := isClosed(methods[m].readLines(tt.text), name); got != tt.want[m] {
				t.Errorf("%s: %q is closed: %t", methods[m].name, tt.text, got)
			}
		}
	}
}

// TestHistory reads a repository with three commits.
func TestHistory(t *testing.T) {
	clone := t.TempDir()
	git := func(arguments ...string) {
		t.Helper()
		if out, err := exec.Command("git", append([]string{"-C", clone, "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"}, arguments...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", arguments[0], err, out)
		}
	}
	git("init", "-q")
	if err := os.MkdirAll(filepath.Join(clone, "data", "gov"), 0o777); err != nil {
		t.Fatal(err)
	}
	for i, body := range []string{"User-agent: *\n", `{"issue_type": "request_error", "error_msg": "refused"}`, `{"issue_type": "html_response_error", "error_msg": "HTML", "status_code": 404}`} {
		if err := os.WriteFile(filepath.Join(clone, "data", "gov", "A.example"), []byte(body), 0o666); err != nil {
			t.Fatal(err)
		}
		git("add", ".")
		t.Setenv("GIT_COMMITTER_DATE", []string{"1000000000 +0000", "1000000001 +0000", "1000000002 +0000"}[i])
		git("commit", "-q", "-m", "x")
	}
	var got []robots.Response
	for r, err := range readHistory(t.Context(), clone) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	if len(got) != 3 || got[0].Origin != "http://a.example" || string(got[0].Body) != "User-agent: *\n" || got[0].FetchedAt.Unix() != 1000000000 ||
		got[1].Error != "refused" || got[1].Status != 0 || got[2].Status != 404 || len(got[2].Body) > 0 {
		t.Errorf("got %+v", got)
	}
}
