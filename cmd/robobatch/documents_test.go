package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output"
)

// TestLinks checks that every file or section to which a document links exists.
func TestLinks(t *testing.T) {
	var documents []string
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../bench/*.md", "../../testdata/*/*.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, names...)
	}
	link, unclosed := regexp.MustCompile(`\]\(([^)\s]+)\)`), regexp.MustCompile(`\]\([A-Za-z0-9_./#:-]+(\s|$)`)
	links := 0
	for _, name := range documents {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, open := range unclosed.FindAllString(string(text), -1) {
			t.Errorf("%s: the link %q has no )", name, open)
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

// TestOutputDoc checks that the tables in docs/OUTPUT.md have exactly one row per column and per reason, in the order
// of the code.
func TestOutputDoc(t *testing.T) {
	var reasons []string
	for r := range engine.Reason(engine.NumReasons) {
		reasons = append(reasons, r.String())
	}
	text, err := os.ReadFile("../../docs/OUTPUT.md")
	if err != nil {
		t.Fatal(err)
	}
	for section, want := range map[string][]string{"Columns": output.Columns(), "Reasons": reasons} {
		_, part, _ := strings.Cut(string(text), "\n## "+section+"\n")
		part, _, _ = strings.Cut(part, "\n## ")
		var got []string
		for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\|").FindAllStringSubmatch(part, -1) {
			got = append(got, m[1])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the page has\n%v, the code\n%v", section, got, want)
		}
	}
}

// TestPlaces checks that every file and directory that DESIGN.md and CONTRIBUTING.md name exists.
func TestPlaces(t *testing.T) {
	place := regexp.MustCompile("`((?:automaton|bench|cmd|crawlers|docs|e2e|engine|ingest|internal|output|pipe|robots|testdata)(?:/[a-z0-9_.-]+)+)`")
	for _, name := range []string{"DESIGN.md", "CONTRIBUTING.md"} {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		places := place.FindAllStringSubmatch(string(text), -1)
		if len(places) < 10 {
			t.Errorf("%s names %d places", name, len(places))
		}
		for _, m := range places {
			if _, err := os.Stat(filepath.Join("../..", m[1])); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestPages checks that every page that messages, comments and files of the project name exists.
func TestPages(t *testing.T) {
	page := regexp.MustCompile(`\bdocs/[A-Za-z-]+\.(?:md|schema\.json|html)|\b(?:README|DESIGN|CONTRIBUTING|CHANGELOG|TRIED)\.md`)
	ends := []string{".go", ".py", ".toml", ".yml", ".yaml", ".sh", ".js", ".md", "Makefile"}
	named, messages := map[string]string{}, 0
	err := filepath.WalkDir("../..", func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && (name == ".git" || name == "testdata" || name == "node_modules" || path == "../../dist") {
			return filepath.SkipDir
		}
		if entry.IsDir() || strings.HasSuffix(path, "_test.go") || !slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(path, end) }) {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, name := range page.FindAllString(string(text), -1) {
			named[name] = path
			if strings.HasPrefix(path, "../../cmd/robobatch/") {
				messages++
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, path := range named {
		_, err := os.Stat(filepath.Join("../..", name))
		if name == "TRIED.md" {
			_, err = os.Stat("../../bench/TRIED.md")
		}
		if err != nil {
			t.Errorf("%s names %s: %v", path, name, err)
		}
	}
	if len(named) < 15 || messages < 10 {
		t.Errorf("%d pages are named, %d times by messages", len(named), messages)
	}
}

// TestCounts runs the commands in the table of docs/TESTING.md. The result of each must be greater than the number in
// its row ("more than 500"), but by at most a third.
func TestCounts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of Unix")
	}
	page, err := os.ReadFile("../../docs/TESTING.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| [^|]+ \\| ([0-9,]+) \\| `(.+)` \\|$").FindAllStringSubmatch(string(page), -1)
	if len(rows) < 5 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	for _, row := range rows {
		more, errMore := strconv.Atoi(strings.ReplaceAll(row[1], ",", ""))
		cmd := exec.Command("sh", "-c", strings.ReplaceAll(row[2], `\|`, "|"))
		cmd.Dir = "../.."
		out, errRun := cmd.Output()
		n, errNumber := strconv.Atoi(strings.TrimSpace(string(out)))
		if err := errors.Join(errMore, errRun, errNumber); err != nil || n <= more || 3*n > 4*more {
			t.Errorf("docs/TESTING.md: %s counts %d, want more than %d and at most a third more: %v", row[2], n, more, err)
		}
	}
}

// TestWords checks that the documents together stay below their maximum number of words.
func TestWords(t *testing.T) {
	count := func(pattern string) (words int) {
		t.Helper()
		names, err := filepath.Glob("../../" + pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(names), err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			words += len(strings.Fields(string(text)))
		}
		return words
	}
	for pattern, most := range map[string]int{"README.md": 1200, "DESIGN.md": 4000} {
		if words := count(pattern); words > most {
			t.Errorf("%s has %d words, want at most %d", pattern, words, most)
		}
	}
	if words := count("*.md") + count("docs/*.md") + count("bench/*.md") + count("bench/peers/*.md") + count("bench/peers/*/*.md") + count("python/*.md"); words > 30000 {
		t.Errorf("the documents have %d words, want at most 30,000", words)
	}
}

// TestPackages checks that the doc comment of every package of the module gives its purpose. The comment must also
// name the packages that may import it, except in packages that are internal to the command.
func TestPackages(t *testing.T) {
	imports := regexp.MustCompile(`\bimport(s|er|ed by)?\b`)
	packages := 0
	for _, top := range []string{"aggregate", "automaton", "cmd", "conduct", "crawlers", "engine", "ingest", "internal", "output", "pipe", "report", "robots", "sitemap"} {
		err := filepath.WalkDir(filepath.Join("../..", top), func(path string, entry os.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			name := strings.TrimPrefix(filepath.ToSlash(path), "../../")
			if entry.Name() == "testdata" || entry.Name() == "asm" || entry.Name() == "dist" || strings.HasPrefix(entry.Name(), "test") {
				return filepath.SkipDir // of tests, or modules of their own
			}
			text, ok := packageDoc(t, path)
			if !ok {
				return nil
			}
			packages++
			switch {
			case len(strings.Fields(text)) < 8:
				t.Errorf("the package %s does not say what it is for: %q", name, text)
			case !strings.HasPrefix(name, "cmd/") && !imports.MatchString(text):
				t.Errorf("the package %s does not say what may import it", name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if packages < 50 {
		t.Errorf("%d packages", packages)
	}
}

// packageDoc returns the doc comment of the package in a directory, and whether there is a package.
func packageDoc(t *testing.T, dir string) (text string, ok bool) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var sb strings.Builder
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		ok = true
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		sb.WriteString(file.Doc.Text())
	}
	return sb.String(), ok
}

// TestFunctionsExplained checks that an unexported function of more than six lines has a doc comment. The linter
// revive checks exported functions. Generated code and functions in assembly are excluded.
func TestFunctionsExplained(t *testing.T) {
	functions := 0
	err := filepath.WalkDir("../..", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != "..", d.IsDir() && (d.Name() == "bench" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || ast.IsGenerated(file) {
			return err
		}
		for _, declaration := range file.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			functions++
			begin, end := set.Position(f.Pos()), set.Position(f.End())
			if f.Doc == nil && end.Line-begin.Line > 7 && f.Name.Name != "main" && f.Name.Name != "init" {
				t.Errorf("%s: %s has %d lines and no comment", begin, f.Name.Name, end.Line-begin.Line-1)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if functions < 3000 {
		t.Errorf("%d functions found", functions)
	}
}

// TestConductPage checks that docs/CONDUCT.md shows a command from the script of its example, and the output of that
// command.
func TestConductPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/CONDUCT.md")
	if err != nil {
		t.Fatal(err)
	}
	const file = "testdata/script/conduct-log.txtar"
	script, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)```sh\n(.*?)\n```\n\n```text\n(.*?)```\n").FindSubmatch(page)
	if shown == nil {
		t.Fatal("docs/CONDUCT.md shows no command with what it prints")
	}
	if line := fmt.Sprintf("\nexits 0 %s\ncmp stdout $WORK/want-ranges\n", shown[1]); !strings.Contains(string(script.Comment), line) {
		t.Errorf("%s does not have the command of docs/CONDUCT.md:%s", file, line)
	}
	i := slices.IndexFunc(script.Files, func(f txtar.File) bool { return f.Name == "want-ranges" })
	if i < 0 || !bytes.Equal(shown[2], script.Files[i].Data) {
		t.Errorf("docs/CONDUCT.md does not have the text that %s wants", file)
	}
}
