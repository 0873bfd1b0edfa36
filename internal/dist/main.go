// Command dist builds the files of a release into a new directory: archives, Debian packages, Python wheels, lists of
// modules (SBOM), files for package managers, and checksums. `make dist` runs it. The Dockerfile in this directory makes an
// image from the archives for Linux.
//
// Builds are reproducible: the same commit and the same version of Go give the same bytes. Nothing depends on directories,
// the umask, the clock or the environment. The dates in the packages are that of the commit.
//
// It is a separate module, so that its dependencies are not those of robobatch.
package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	out := flag.String("out", "", "the directory to create; required")
	only := flag.String("targets", "", "systems and processors to build for, such as linux/amd64,windows/arm64; default: all")
	flag.Parse()
	if err := run(*out, *only); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

// run builds the packages for the targets into the directory out.
func run(out, only string) error {
	var targets []target
	for _, t := range allTargets {
		if only == "" || slices.Contains(strings.Split(only, ","), t.String()) {
			targets = append(targets, t)
		}
	}
	if only != "" && len(targets) <= strings.Count(only, ",") {
		return fmt.Errorf("-targets %s: use %v", only, allTargets)
	}
	if err := os.Mkdir(out, 0o777); err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	root, errRoot := filepath.Abs("../..")
	r, err := newRelease(root)
	temp, errTemp := os.MkdirTemp("", "robobatch-dist-")
	if err := errors.Join(err, errRoot, errTemp); err != nil {
		return err
	}
	packages, err := build(r, temp, targets)
	if err := errors.Join(err, os.RemoveAll(temp)); err != nil {
		return err
	}
	fmt.Printf("robobatch %s, built by %s\n", r.Version, toolchain)
	for _, p := range append(packages, checksums(packages)) {
		fmt.Printf("%12d  %s\n", len(p.body), p.name)
		if err := os.WriteFile(filepath.Join(out, p.name), p.body, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// A file is a file in a package, or of the release.
type file struct {
	name string // path in the package, with slashes
	mode os.FileMode
	body []byte
}

// A program has the input for the packages of one target.
type program struct {
	*release
	target
	temp    string // directory for temporary files
	Binary  []byte
	Modules []linked
	docs    map[string][]byte // the files that every package contains in addition to the program
	err     error             // the first error of a step; then the results of later steps are meaningless
}

// keep returns the result of a step, and keeps its error.
func (p *program) keep(body []byte, err error) []byte {
	if p.err == nil {
		p.err = err
	}
	return body
}

// build returns all packages for the targets. It writes temporary files to temp.
func build(r *release, temp string, targets []target) (packages []file, err error) {
	host, err := compile(r, temp, hostTarget)
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		p := &program{release: r, target: t, temp: temp, docs: map[string][]byte{}}
		path := host
		if t != hostTarget {
			path, p.err = compile(r, temp, t)
		}
		p.Binary = p.keep(os.ReadFile(path))
		p.readModules()
		p.docs[noticesName] = p.keep(render(noticesName, p))
		for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
			p.docs[name] = p.keep(os.ReadFile(filepath.Join(r.root, name)))
		}
		for name, topic := range map[string]string{"robobatch.1": "man", "robobatch.bash": "bash", "robobatch.fish": "fish", "_robobatch": "zsh"} {
			p.docs[name] = p.keep(output(exec.Command(host, "help", topic)))
		}
		packages = append(packages, archive(p), wheel(p), file{"robobatch-" + t.OS + "-" + t.Arch + ".cdx.json", 0, p.keep(render("cdx.json", p))})
		if t.OS == "linux" {
			packages = append(packages, file{"robobatch_" + t.Arch + ".deb", 0, debian(p)})
		}
		if p.err != nil {
			return nil, fmt.Errorf("%s: %w", t, p.err)
		}
	}
	if len(targets) < len(allTargets) {
		return packages, nil
	}
	files, err := managersOf(r, packages)
	return append(packages, files...), err
}

// managers are the files for Homebrew, Scoop and winget.
var managers = []string{"robobatch.rb", "robobatch.scoop.json", "robobatch.robobatch.yaml", "robobatch.robobatch.installer.yaml", "robobatch.robobatch.locale.en-US.yaml"}

// managersOf returns these files. They contain the checksums of the packages, which must be those of all targets.
func managersOf(r *release, packages []file) (files []file, err error) {
	values := struct {
		*release
		Sums map[string]string
	}{r, map[string]string{}}
	for _, p := range packages {
		values.Sums[p.name] = hash(p.body)
	}
	for _, name := range managers {
		body, err := render(name, values)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: name, body: body})
	}
	return files, nil
}

// sumsName is the name of the file with checksums.
const sumsName = "SHA256SUMS"

// checksums returns a file for sha256sum -c.
func checksums(packages []file) file {
	lines := make([]string, len(packages))
	for i, p := range packages {
		lines[i] = hash(p.body) + "  " + p.name + "\n"
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	return file{sumsName, 0o644, []byte(strings.Join(lines, ""))}
}

func hash(body []byte) string { return fmt.Sprintf("%x", sha256.Sum256(body)) }
