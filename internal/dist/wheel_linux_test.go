package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// pyproject is a Python package of the tests.
const pyproject = `
[project]
name = "robobatch"
version = "0.0.0.dev0"
description = "Say so"
readme = "README.md"
license = "Apache-2.0"
requires-python = ">=3.9"
dependencies = []
classifiers = ["Typing :: Typed"]

[project.optional-dependencies]
arrow = ["pyarrow>=16", "tomli>=2; python_version < '3.11'"]

[project.urls]
Source = "https://github.com/robobatch/robobatch"
`

// wheelOf returns the wheel of a repository with a Python package, and the program of this machine.
func wheelOf(t *testing.T, project string) (file, error) {
	t.Helper()
	b := builtHere(t)
	root, git := repository(t)
	for name, text := range map[string]string{
		"python/pyproject.toml":                         project,
		"python/README.md":                              "# The package\n",
		"python/src/robobatch/__init__.py":              "answer = 42\n",
		"python/src/robobatch/py.typed":                 "",
		"python/src/robobatch/__pycache__/init.cpython": "left behind",
	} {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	git("add", "python/pyproject.toml", "python/README.md", "python/src/robobatch/__init__.py", "python/src/robobatch/py.typed")
	p := program{release: &release{root: root, Version: "v1.2.3", Time: b.Time}, target: hostTarget, docs: map[string][]byte{"LICENSE": []byte("terms"), noticesName: []byte("more terms")}}
	p.Binary = p.keep(os.ReadFile(filepath.Join(b.dir, hostTarget.OS+"-"+hostTarget.Arch, "robobatch")))
	made := wheel(&p)
	return made, p.err
}

func TestWheel(t *testing.T) {
	made, err := wheelOf(t, pyproject)
	if err != nil {
		t.Fatal(err)
	}
	checkRecord(t, &made)
	z, err := zip.NewReader(bytes.NewReader(made.body), int64(len(made.body)))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"robobatch/__init__.py":                           "answer = 42\n",
		"robobatch-1.2.3.dist-info/licenses/" + "LICENSE": "terms",
		"robobatch-1.2.3.dist-info/METADATA": `Metadata-Version: 2.4
Name: robobatch
Version: 1.2.3
Summary: Say so
Project-URL: Source, https://github.com/robobatch/robobatch
Classifier: Typing :: Typed
License-Expression: Apache-2.0
License-File: LICENSE
License-File: THIRD_PARTY_NOTICES
Requires-Python: >=3.9
Provides-Extra: arrow
Requires-Dist: pyarrow>=16 ; extra == 'arrow'
Requires-Dist: tomli>=2 ; (python_version < '3.11') and extra == 'arrow'
Description-Content-Type: text/markdown

# The package
`,
	} {
		f, err := z.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(f); err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	for _, f := range z.File {
		if strings.Contains(f.Name, "pycache") {
			t.Errorf("%s is in the wheel", f.Name)
		}
	}
	install(t, &made, "1.2.3")
}

// TestProjectIsKnown has keys that metadata would lack in silence.
func TestProjectIsKnown(t *testing.T) {
	for _, project := range []string{
		pyproject + "[project.scripts]\nrobobatch = 'robobatch:main'\n",
		strings.Replace(pyproject, "name =", "nom =", 1),
		strings.Replace(pyproject, "README.md", "LIESMICH.md", 1),
		"[project",
	} {
		if made, err := wheelOf(t, project); err == nil {
			t.Errorf("%s is made of\n%s", made.name, project)
		}
	}
}

// checkRecord checks the list of a wheel's files, and that each has the same time and a mode.
func checkRecord(t *testing.T, made *file) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(made.body), int64(len(made.body)))
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[string][]byte{}
	var listed []byte
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if bodies[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		want := os.FileMode(0o644)
		if strings.Contains(f.Name, ".data/scripts/") {
			want = 0o755
		}
		if f.Mode() != want || !f.Modified.Equal(z.File[0].Modified) {
			t.Errorf("%s has mode %v and time %v", f.Name, f.Mode(), f.Modified)
		}
		if strings.HasSuffix(f.Name, ".dist-info/RECORD") {
			listed = bodies[f.Name]
		}
	}
	rows, err := csv.NewReader(bytes.NewReader(listed)).ReadAll()
	if err != nil || len(rows) != len(bodies) {
		t.Fatalf("%d files are listed, there are %d: %v", len(rows), len(bodies), err)
	}
	for _, row := range rows {
		sum := sha256.Sum256(bodies[row[0]])
		want := []string{row[0], "sha256=" + base64.RawURLEncoding.EncodeToString(sum[:]), strconv.Itoa(len(bodies[row[0]]))}
		if strings.HasSuffix(row[0], "/RECORD") {
			want = []string{row[0], "", ""}
		}
		if strings.Join(row, ",") != strings.Join(want, ",") {
			t.Errorf("%v, want %v", row, want)
		}
	}
}

// install installs a wheel by pip into a fresh environment, without a network, and runs the quick start.
// It returns the environment.
func install(t *testing.T, made *file, version string) string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	environment := t.TempDir()
	if out, err := exec.Command(python, "-m", "venv", environment).CombinedOutput(); err != nil {
		t.Skipf("python3 -m venv: %v\n%s", err, out)
	}
	pip := filepath.Join(environment, "bin", "pip")
	must(t, pip, "--disable-pip-version-check", "install", "--no-index", made.save(t))
	if shown := must(t, pip, "--disable-pip-version-check", "show", "robobatch"); !strings.Contains(shown, "\nVersion: "+version+"\n") {
		t.Errorf("pip shows\n%s", shown)
	}
	dir := t.TempDir()
	readQuickStart(t).run(t, bare(dir, filepath.Join(environment, "bin", "robobatch")), dir)
	return environment
}

// TestInstallWheel has the wheel of the repository itself.
func TestInstallWheel(t *testing.T) {
	b := builtHere(t)
	made := b.find(t, "-py3-none-"+strings.Join(platformTags[hostTarget], ".")+".whl")
	checkRecord(t, made)
	version, err := b.python()
	if err != nil {
		t.Fatal(err)
	}
	environment := install(t, made, version)
	cmd := bare(t.TempDir(), filepath.Join(environment, "bin", "python"), "-m", "robobatch", "-version")
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "robobatch "+b.Version+"\n" {
		t.Errorf("python -m robobatch -version: %v\n%s", err, out)
	}
	must(t, filepath.Join(environment, "bin", "pip"), "--disable-pip-version-check", "uninstall", "-y", "robobatch")
	left, err := filepath.Glob(filepath.Join(environment, "lib/python*/site-packages/robobatch*"))
	if _, errProgram := os.Stat(filepath.Join(environment, "bin", "robobatch")); err != nil || len(left) > 0 || errProgram == nil {
		t.Errorf("pip leaves %v and the program (%v) behind: %v", left, errProgram, err)
	}
}
