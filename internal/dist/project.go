package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// A project is the part of pyproject.toml that becomes the metadata of a wheel. A key that it does not name
// is an error: it would be lost.
type project struct {
	Name           string              `toml:"name"`
	Version        string              `toml:"version"` // of a source tree; a wheel has that of its commit
	Description    string              `toml:"description"`
	Readme         string              `toml:"readme"`
	RequiresPython string              `toml:"requires-python"`
	License        string              `toml:"license"`
	LicenseFiles   []string            `toml:"license-files"`
	Keywords       []string            `toml:"keywords"`
	Classifiers    []string            `toml:"classifiers"`
	URLs           map[string]string   `toml:"urls"`
	Dependencies   []string            `toml:"dependencies"`
	Optional       map[string][]string `toml:"optional-dependencies"`

	readme []byte
}

// readProject reads pyproject.toml of a directory, and the readme that it names.
func readProject(dir string) (*project, error) {
	name := filepath.Join(dir, "pyproject.toml")
	var file struct {
		Project project `toml:"project"`
	}
	meta, err := toml.DecodeFile(name, &file)
	if err != nil {
		return nil, err
	}
	for _, key := range meta.Undecoded() {
		if key[0] == "project" {
			return nil, fmt.Errorf("%s: %s is not known here: internal/dist/project.go would lose it", name, key)
		}
	}
	p := &file.Project
	if p.Name == "" {
		return nil, fmt.Errorf("%s: the project has no name", name)
	}
	if p.Readme != "" {
		p.readme, err = os.ReadFile(filepath.Join(dir, p.Readme))
	}
	return p, err
}

// metadata returns the file METADATA.
func (p *project) metadata(version string) []byte {
	var b bytes.Buffer
	line := func(key, value string) {
		if value != "" {
			b.WriteString(key + ": " + strings.ReplaceAll(value, "\n", " ") + "\n")
		}
	}
	line("Metadata-Version", "2.4")
	line("Name", p.Name)
	line("Version", version)
	line("Summary", p.Description)
	line("Keywords", strings.Join(p.Keywords, ","))
	for _, name := range slices.Sorted(maps.Keys(p.URLs)) {
		line("Project-URL", name+", "+p.URLs[name])
	}
	for _, c := range p.Classifiers {
		line("Classifier", c)
	}
	line("License-Expression", p.License)
	line("License-File", "LICENSE")
	line("License-File", noticesName)
	line("Requires-Python", p.RequiresPython)
	for _, d := range p.Dependencies {
		line("Requires-Dist", d)
	}
	for _, extra := range slices.Sorted(maps.Keys(p.Optional)) {
		line("Provides-Extra", extra)
		for _, d := range p.Optional[extra] {
			line("Requires-Dist", withExtra(d, extra))
		}
	}
	if p.readme != nil {
		line("Description-Content-Type", "text/markdown")
		b.WriteString("\n")
		b.Write(p.readme)
	}
	return b.Bytes()
}

// withExtra returns a dependency that counts only where its extra was asked for.
func withExtra(dependency, extra string) string {
	what, condition, ok := strings.Cut(dependency, ";")
	if !ok {
		return dependency + " ; extra == '" + extra + "'"
	}
	return strings.TrimSpace(what) + " ; (" + strings.TrimSpace(condition) + ") and extra == '" + extra + "'"
}
