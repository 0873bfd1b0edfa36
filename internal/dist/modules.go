package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// noticesName is the name of the file with the licences of dependencies.
const noticesName = "THIRD_PARTY_NOTICES"

// A linked is a module with code in the program.
type linked struct {
	Path, Version, dir string
	Texts              []legalText
}

// A legalText is a file with terms of a module, or a part of such a file.
type legalText struct{ Name, Body string }

// readModules finds the modules of the packages in the program. Go's standard library comes first, because of the space
// before its name. A text that an earlier module has is replaced by a reference.
func (p *program) readModules() {
	const format = "{{if eq .ImportPath `runtime`}} std\t" + toolchain + "\t{{.Root}}{{else if .Standard}}{{else if not .Module.Main}}{{.Module.Path}}\t{{.Module.Version}}\t{{.Module.Dir}}{{end}}"
	lines := strings.Split(strings.Trim(string(p.keep(p.golang(p.root, "list", "-deps", "-f", format, "./cmd/robobatch"))), "\n"), "\n")
	slices.Sort(lines)
	seen := map[string]string{}
	for _, line := range slices.Compact(lines) {
		f := strings.Split(line+"\t\t", "\t")
		m := linked{strings.TrimSpace(f[0]), strings.TrimPrefix(f[1], "go"), f[2], nil}
		if p.keep(nil, m.readTexts()); p.err != nil {
			return
		}
		for i := range m.Texts {
			text := &m.Texts[i]
			if first := seen[text.Body]; first != "" {
				text.Body = "The text is that of " + first + ", above."
			} else {
				seen[text.Body] = text.Name + " of " + m.Path + " " + m.Version
			}
		}
		p.Modules = append(p.Modules, m)
	}
}

var (
	// legal matches the names of files with terms, or with names that the terms refer to.
	legal = regexp.MustCompile(`(?i)^(licen[cs]e|notice|copying|copyright|patents|authors)([-._].*)?$`)
	// licence matches texts that grant rights, unlike lists of authors or patents.
	licence = regexp.MustCompile(`(?i)permission\s+is\s+hereby\s+granted|redistribution\s+and\s+use|apache\s+license|mozilla\s+public\s+license|permission\s+to\s+use,\s+copy`)
	// licenceHeading matches the heading of the part of a README with the terms.
	licenceHeading = regexp.MustCompile(`(?im)^[# ]*(the )?(mit |bsd |apache )?licen[cs]e *$`)
)

// readTexts reads the files with terms of a module, in all its directories except testdata; of Go, only in the top
// directory. If there are none, the README must contain the terms.
func (m *linked) readTexts() error {
	add := func(name string, body []byte) {
		m.Texts = append(m.Texts, legalText{filepath.ToSlash(name), strings.TrimSpace(strings.ReplaceAll(string(body), "\r\n", "\n"))})
	}
	err := filepath.WalkDir(m.dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != m.dir && (m.Path == "std" || e.Name() == "testdata"):
			return fs.SkipDir
		case !e.Type().IsRegular() || !legal.MatchString(e.Name()) || strings.HasSuffix(path, ".go"):
			return nil
		}
		name, errName := filepath.Rel(m.dir, path)
		body, err := os.ReadFile(path)
		add(name, body)
		return errors.Join(errName, err)
	})
	if err != nil || slices.ContainsFunc(m.Texts, func(t legalText) bool { return licence.MatchString(t.Body) }) {
		return err
	}
	readme, _ := os.ReadFile(filepath.Join(m.dir, "README.md")) // there may be none
	at := licenceHeading.FindIndex(readme)
	if at == nil || !licence.Match(readme[at[0]:]) {
		return fmt.Errorf("no licence in %s: the program must not be distributed with it", m.dir)
	}
	add("README.md", readme[at[0]:])
	return nil
}
