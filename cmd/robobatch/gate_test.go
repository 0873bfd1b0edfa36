package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
)

// gateSites holds the robots.txt files of three sites before a change, by file name.
var gateSites = map[string]string{
	"https_shop.example.txt": `# The shop
User-agent: *
Disallow: /cart/
Disallow: /checkout/
Disallow: /account/
Allow: /account/help
Disallow: /*?sort=

User-agent: GPTBot
Disallow: /

User-agent: Googlebot
Disallow: /cart/
Disallow: /checkout/
Disallow: /account/
Disallow: /*?sort=

Sitemap: https://shop.example/sitemap.xml
`,
	"https_news.example.txt": `User-agent: *
Disallow: /admin/
Disallow: /search
Disallow: /drafts/
Content-Signal: search=yes, ai-train=no

User-agent: GPTBot
User-agent: CCBot
User-agent: ClaudeBot
Disallow: /
Allow: /about

User-agent: Googlebot-News
Disallow: /archive/
Disallow: /drafts/

Sitemap: https://news.example/news.xml
`,
	"https_docs.example.txt": `User-agent: *
Allow: /docs/
Disallow: /docs/internal/
Disallow: /*.pdf$
Disallow: /api/

User-agent: bingbot
Crawl-delay: 5
Disallow: /docs/internal/
Disallow: /docs/old/
Disallow: /api/

Sitemap: https://docs.example/sitemap.xml
`,
}

// gateExpect are the expectations that a CI job has about these sites.
const gateExpect = `allow Googlebot,bingbot https://shop.example/shoes/1
disallow GPTBot https://shop.example/shoes/1
allow Googlebot https://news.example/2026/
disallow GPTBot https://news.example/2026/
allow @search https://docs.example/docs/
`

// A gateChange is a change of one of these sites.
type gateChange struct {
	name     string
	site     string // as in https_site.example.txt
	old, new string // old is replaced by new in the file; "" means the whole file
	file     string // if not "", the site's file is replaced by a file with this name and the text new
	bad      bool
}

// gateChanges are 27 changes that a gate must find, 4 changes for which both results are acceptable, and 4 that must
// pass.
var gateChanges = []gateChange{
	{name: "cart lost", site: "shop", old: "Disallow: /cart/\nDisallow: /checkout/\nDisallow: /account/\nAllow", new: "Disallow: /checkout/\nDisallow: /account/\nAllow", bad: true},
	{name: "GPTBot's group removed", site: "shop", old: "User-agent: GPTBot\nDisallow: /\n\n", new: "", bad: true},
	{name: "GPTBot in a group without its rule", site: "shop", old: "User-agent: GPTBot\nDisallow: /\n", new: "User-agent: GPTBot\nDisallow:\n", bad: true},
	{name: "Googlebt", site: "shop", old: "User-agent: Googlebot", new: "User-agent: Googlebt", bad: true},
	{name: "everything closed", site: "shop", old: "Disallow: /cart/", new: "Disallow: /", bad: true},
	{name: "a path without its slash", site: "shop", old: "Allow: /account/help\nDisallow: /*?sort=", new: "Allow: /account/help\nDisallow: /*?sort=\nDisallow: /s", bad: true},
	{name: "a group that loses the rules of *", site: "news", old: "Sitemap:", new: "User-agent: Googlebot\nDisallow: /tmp/\n\nSitemap:", bad: true},
	{name: "Admin", site: "news", old: "/admin/", new: "/Admin/", bad: true},
	{name: "Dis allow", site: "news", old: "Disallow: /drafts/\nContent", new: "Dis allow: /drafts/\nContent", bad: true},
	{name: "Noindex", site: "news", old: "Disallow: /search", new: "Noindex: /search", bad: true},
	{name: "a name lost", site: "news", old: "User-agent: CCBot\n", new: "", bad: true},
	{name: "names become groups", site: "news", old: "User-agent: CCBot", new: "Disallow:\nUser-agent: CCBot", bad: true},
	{name: "training permitted", site: "news", old: "ai-train=no", new: "ai-train=yes", bad: true},
	{name: "a rule commented out", site: "news", old: "Disallow: /archive/", new: "# Disallow: /archive/", bad: true},
	{name: "an Allow that closes nothing any more", site: "news", old: "Disallow: /\nAllow: /about", new: "Allow: /\nDisallow: /about", bad: true},
	{name: "a dollar lost", site: "docs", old: "/*.pdf$", new: "/*.pdf", bad: true},
	{name: "a dollar too much", site: "docs", old: "Disallow: /api/\n\n", new: "Disallow: /api/$\n\n", bad: true},
	{name: "a star lost", site: "docs", old: "/*.pdf$", new: "/.pdf$", bad: true},
	{name: "another slash", site: "docs", old: "Disallow: /docs/internal/\nDisallow: /*", new: `Disallow: \docs\internal\` + "\nDisallow: /*", bad: true},
	{name: "a URL in place of a path", site: "docs", old: "Disallow: /api/\n\n", new: "Disallow: https://docs.example/api/\n\n", bad: true},
	{name: "a page in place of the file", site: "docs", new: "<!doctype html><title>Not found</title>\n", bad: true},
	{name: "an empty file", site: "docs", new: "", bad: true},
	{name: "the file of a test system", site: "docs", new: "User-agent: *\nDisallow: /\n", bad: true},
	{name: "a copy under another host", file: "https_www.shop.example.txt", new: "User-agent: *\nDisallow: /\n", bad: true},
	{name: "a mark of conflict", site: "docs", old: "User-agent: bingbot\n", new: "<<<<<<< HEAD\nUser-agent: bingbot\n=======\nUser-agent: Bing\n>>>>>>> new\n", bad: true},
	{name: "a longer Allow", site: "docs", old: "Allow: /docs/\n", new: "Allow: /docs/internal/a\n", bad: true},
	{name: "a letter that looks like another", site: "docs", old: "Disallow: /api/\n\n", new: "Disallow: /\u0430pi/\n\n", bad: true},

	// People may judge these either way.
	{name: "a Crawl-delay", site: "docs", old: "Crawl-delay: 5", new: "Crawl-delay: 60"},
	{name: "a Sitemap lost", site: "docs", old: "Sitemap: https://docs.example/sitemap.xml\n", new: ""},
	{name: "a file twice", site: "docs", old: "Disallow: /docs/old/\n", new: "Disallow: /docs/old/\n\nUser-agent: bingbot\nDisallow: /api/\n"},
	{name: "a word that Google alone reads", site: "docs", old: "Disallow: /docs/old/", new: "Disalow: /docs/old/", bad: true},

	{name: "comments", site: "shop", old: "# The shop\n", new: "# The shop, of Wednesday\n# Ask before you change it.\n"},
	{name: "another order", site: "shop", old: "Disallow: /cart/\nDisallow: /checkout/\n", new: "Disallow: /checkout/\nDisallow: /cart/\n"},
	{name: "a Sitemap more, and spaces", site: "news", old: "Sitemap: ", new: "Sitemap:   https://news.example/more.xml\n\nSitemap: "},
	{name: "the same in other words", site: "docs", old: "Allow: /docs/\nDisallow: /docs/internal/\n", new: "Disallow: /docs/internal/*\nDisallow: /docs/internal/a/\n"},
}

// change writes the sites, after a change, to a directory.
func (c *gateChange) write(t *testing.T, dir string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range gateSites {
		if c.site != "" && name == "https_"+c.site+".example.txt" {
			if c.old == "" {
				text = c.new
			} else if !strings.Contains(text, c.old) {
				t.Fatalf("%s: the change does not fit", c.name)
			} else {
				text = strings.Replace(text, c.old, c.new, 1)
			}
		}
		write(name, text)
	}
	if c.file != "" {
		write(c.file, c.new)
	}
}

// TestGate checks that the gate of docs/CI.md finds each bad change, and lets the others pass. It also checks that an
// approved change passes, that the approval covers no other change, and that it ends when the previous robots.txt is
// a different one.
func TestGate(t *testing.T) {
	page, err := os.ReadFile("../../docs/CI.md")
	if err != nil {
		t.Fatal(err)
	}
	var commands []string // approve, lint, check, diff
	for _, m := range regexp.MustCompile(`(?m)^ *robobatch ((?:lint|check|diff) .*-rules robots .*)$`).FindAllSubmatch(page, -1) {
		command, _, _ := strings.Cut(string(m[1]), " >")
		commands = append(commands, command)
	}
	if len(commands) != 4 {
		t.Fatalf("docs/CI.md has the commands %q, want 4", commands)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("robots.expect", []byte(gateExpect), 0o600); err != nil {
		t.Fatal(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	fails := func(command string) bool {
		code := run(strings.Fields(command), console.Streams{In: null, Out: null, Err: null})
		if code > 1 {
			t.Errorf("exit code %d of robobatch %s", code, command)
		}
		return code == 1
	}
	approve, diff := commands[0], commands[3]
	found := 0
	var before *gateChange // the last one that was found
	for _, c := range gateChanges {
		old := filepath.Join("old", "robots")
		(&gateChange{}).write(t, old)
		c.write(t, "robots")
		other := fails(commands[1])
		other = fails(commands[2]) || other
		if found++; !fails(diff) {
			if found--; other != c.bad {
				t.Errorf("%s: the gate fails: %v, want %v", c.name, other, c.bad)
			}
			continue
		}
		if !c.bad {
			t.Errorf("%s: diff fails", c.name)
		}
		if fails(approve) || fails(diff) {
			t.Errorf("%s: diff fails, though it is approved", c.name)
		}
		if before != nil && c.name != "an empty file" { // which has the rules of the page before
			if before.write(t, "robots"); !fails(diff) {
				t.Errorf("%s: approved with %s", before.name, c.name)
			}
			c.write(t, "robots")
		}
		before = &c
		for name, text := range gateSites {
			if err := os.WriteFile(filepath.Join(old, name), []byte(text+"# another\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if c.file == "" && !fails(diff) {
			t.Errorf("%s: approved for another robots.txt", c.name)
		}
		if err := os.Remove("robots.approved"); err != nil {
			t.Fatal(err)
		}
	}
	if found < 26 {
		t.Errorf("diff finds %d changes", found)
	}
	// Run the other snippets of the document on these sites: for a baseline, and for code scanning.
	for _, m := range regexp.MustCompile("robobatch (lint -rules robots -(?:approve|print sarif -out) [a-z.]+)").FindAllSubmatch(page, -1) {
		if fails(string(m[1])) {
			t.Errorf("robobatch %s fails", m[1])
		}
	}
	if _, err := os.Stat("robots.baseline.json"); err != nil || fails(commands[1]+" -baseline robots.baseline.json") {
		t.Errorf("no baseline: %v", err)
	}
}
