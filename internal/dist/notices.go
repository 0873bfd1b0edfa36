package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// noticesName is the file of the licences of others.
const noticesName = "THIRD_PARTY_NOTICES"

// A linked module has code in the program.
type linked struct {
	path, version string
	dir           string
	packages      []string // directories of its packages in the program
}

// isGo reports whether it stands for Go's library.
func (m *linked) isGo() bool { return m.version == toolchain }

// legal are the names of files with terms, or with names that the terms ask for.
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|notice|copying|copyright|patents|authors)([-._].*)?$`)

// collectNotices returns the licences and notices of the modules that have code in a program.
func collectNotices(modules []linked) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("robobatch is under the Apache License 2.0, in the file LICENSE. The program also has code of\nthe modules below, under their own terms.\n")
	seen := map[string]string{} // where a text stands already
	for i := range modules {
		if err := modules[i].appendTo(&b, seen); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// appendTo writes the texts of a module. A text that stands there already is named only.
func (m *linked) appendTo(b *bytes.Buffer, seen map[string]string) error {
	title := m.path + " " + m.version
	texts, err := m.legalTexts()
	if err != nil {
		return fmt.Errorf("%s: %w", title, err)
	}
	fmt.Fprintf(b, "\n%s\n%s\n", strings.Repeat("=", 80), title)
	for _, text := range texts {
		fmt.Fprintf(b, "\n---- %s\n\n", text.name)
		body := strings.TrimSpace(strings.ReplaceAll(string(text.body), "\r\n", "\n"))
		if first := seen[body]; first != "" {
			fmt.Fprintf(b, "The text is that of %s, above.\n", first)
			continue
		}
		seen[body] = text.name + " of " + title
		b.WriteString(body + "\n")
	}
	return nil
}

// linkedModules returns the modules of the packages in the program, and Go's library before them.
func linkedModules(root string, t target) ([]linked, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=Dir,ImportPath,Standard,Module", "./cmd/robobatch")
	cmd.Dir, cmd.Env = root, t.environ()
	out, err := output(cmd)
	if err != nil {
		return nil, err
	}
	cmd = exec.Command("go", "env", "GOROOT")
	cmd.Dir, cmd.Env = root, t.environ()
	goroot, err := output(cmd)
	if err != nil {
		return nil, err
	}
	modules := map[string]*linked{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Dir      string
			Standard bool
			Module   *struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if p.Standard || p.Module == nil || p.Module.Main {
			continue
		}
		m := modules[p.Module.Path]
		if m == nil {
			m = &linked{path: p.Module.Path, version: p.Module.Version, dir: p.Module.Dir}
			modules[m.path] = m
		}
		m.packages = append(m.packages, p.Dir)
	}
	dir := string(bytes.TrimSpace(goroot))
	list := []linked{{path: "Go, its runtime and standard library,", version: toolchain, dir: dir, packages: []string{dir}}}
	for _, m := range modules {
		list = append(list, *m)
	}
	slices.SortFunc(list[1:], func(a, b linked) int { return strings.Compare(a.path, b.path) })
	return list, nil
}

// A legalText is a file of the module, or a part of one.
type legalText struct {
	name string // below the module
	body []byte
}

// legalTexts returns the files with terms in the directories of the packages and all above them, up to
// the module. A module without any may state its terms in its README.
func (m *linked) legalTexts() ([]legalText, error) {
	var texts []legalText
	done := map[string]bool{}
	for _, dir := range m.packages {
		for ; !done[dir]; dir = filepath.Dir(dir) {
			done[dir] = true
			entries, err := os.ReadDir(dir)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				if !e.Type().IsRegular() || !legal.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
					continue
				}
				path := filepath.Join(dir, e.Name())
				body, err := os.ReadFile(path)
				if err != nil {
					return nil, err
				}
				name, err := filepath.Rel(m.dir, path)
				if err != nil {
					return nil, err
				}
				texts = append(texts, legalText{filepath.ToSlash(name), body})
			}
			if dir == m.dir {
				break
			}
		}
	}
	if !slices.ContainsFunc(texts, func(t legalText) bool { return isLicense(t.body) }) {
		text, err := m.readmeLicense()
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	slices.SortFunc(texts, func(a, b legalText) int { return strings.Compare(a.name, b.name) })
	return texts, nil
}

// isLicense reports whether a text gives rights: a list of authors, or of patents, does not.
func isLicense(text []byte) bool {
	return regexp.MustCompile(`(?i)permission\s+is\s+hereby\s+granted|redistribution\s+and\s+use|apache\s+license|mozilla\s+public\s+license|permission\s+to\s+use,\s+copy`).Match(text)
}

// licenseHeading begins the part of a README that states the terms.
var licenseHeading = regexp.MustCompile(`(?im)^[# ]*(the )?(mit |bsd |apache )?licen[cs]e *$`)

// readmeLicense returns the terms in the README of the module.
func (m *linked) readmeLicense() (legalText, error) {
	const name = "README.md"
	body, err := os.ReadFile(filepath.Join(m.dir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return legalText{}, err
	}
	if at := licenseHeading.FindIndex(body); at != nil && isLicense(body[at[0]:]) {
		return legalText{name, body[at[0]:]}, nil
	}
	return legalText{}, fmt.Errorf("no licence in %s: the program must not be given to others with it", m.dir)
}
