package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLinks holds that every link of a document to a file or to a section leads somewhere.
func TestLinks(t *testing.T) {
	var documents []string
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../bench/*.md", "../../testdata/*/*.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, names...)
	}
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	links := 0
	for _, name := range documents {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			path, section, _ := strings.Cut(m[1], "#")
			target := filepath.Join(filepath.Dir(name), path)
			switch {
			case strings.Contains(path, "://"):
				continue
			case path == "":
				target = name
			case strings.HasPrefix(path, "/"):
				target = filepath.Join("../..", path)
			}
			links++
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s: %v", name, m[0], err)
			} else if section != "" && !hasSection(t, target, section) {
				t.Errorf("%s: %s: no such section", name, m[0])
			}
		}
	}
	if links < 50 {
		t.Errorf("%d links found", links)
	}
}

// hasSection reports whether a document has a heading whose anchor is section, as GitHub makes
// them.
func hasSection(t *testing.T, name, section string) bool {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	dropped := regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(string(text), -1) {
		anchor := strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")
		if anchor == section {
			return true
		}
	}
	return false
}
