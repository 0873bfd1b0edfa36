// Command dist builds the packages of a release into a new directory: archives, packages for Debian, wheels for Python,
// lists of modules, and files for managers of packages, with their checksums. `make dist` runs it. The Dockerfile beside
// it makes an image of the archives for Linux.
//
// The same commit gives the same bytes, wherever and whenever it is built by the same version of Go: nothing here depends
// on directories, the umask, the clock or the environment. The dates in the packages are the commit's.
//
// It is a module of its own, so that its dependencies are none of the command.
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
	out := flag.String("out", "", "the directory to make; it must be named")
	only := flag.String("targets", "", "systems and processors to build for, as in linux/amd64,windows/arm64; default: all")
	flag.Parse()
	if err := run(*out, *only); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

// run builds the packages for the targets into the directory out.
func run(out, only string) error {
	targets, err := parseTargets(only)
	if err != nil {
		return err
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

// A file is a file of a package, or of the release.
type file struct {
	name string // below the top of the package, with slashes
	mode os.FileMode
	body []byte
}

// A program is the input of the packages of one target.
type program struct {
	*release
	target
	temp    string // for files on their way
	Binary  []byte
	Modules []linked
	docs    map[string][]byte // what every package has beside the program
	err     error             // the first of a step; the others may be in vain then
}

// keep returns what a step made, and keeps its error.
func (p *program) keep(body []byte, err error) []byte {
	if p.err == nil {
		p.err = err
	}
	return body
}

// build returns all packages for the targets. Programs are linked in the directory temp.
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

// managersOf returns these files, with the checksums of packages that are of all targets.
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

// sumsName is the file of the checksums.
const sumsName = "SHA256SUMS"

// checksums returns the file that sha256sum -c reads.
func checksums(packages []file) file {
	lines := make([]string, len(packages))
	for i, p := range packages {
		lines[i] = hash(p.body) + "  " + p.name + "\n"
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	return file{sumsName, 0o644, []byte(strings.Join(lines, ""))}
}

func hash(body []byte) string { return fmt.Sprintf("%x", sha256.Sum256(body)) }
