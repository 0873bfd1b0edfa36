// Command dist builds the packages of a release into a directory: archives, packages for Debian,
// images for containers and wheels for Python, with their checksums. `make dist` runs it.
//
// The same commit gives the same bytes, wherever and whenever it is built by the same version of Go:
// nothing here depends on directories, the umask, the clock or the environment. The dates in the
// packages are the commit's.
//
// It is a module of its own, so that its dependencies are none of the command. All formats are written
// here, by one list of files each: ar, tar and zip are short, and a tool that packs all of this would be
// a larger dependency than the code it replaces.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
)

func main() {
	out := flag.String("out", "", "the directory to write, made anew; it must be named")
	root := flag.String("root", "../..", "the repository")
	only := flag.String("targets", "", "systems and processors to build for, as in linux/amd64,windows/arm64; none is all")
	flag.Parse()
	if err := run(*root, *out, *only); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

// run builds the packages for the targets into the directory out.
func run(root, out, only string) error {
	if out == "" || flag.NArg() > 0 {
		return errors.New("usage: dist -out directory [-targets linux/amd64,...]")
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	targets, err := parseTargets(only)
	if err != nil {
		return err
	}
	made, err := newRelease(root)
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "robobatch-dist-")
	if err != nil {
		return err
	}
	packages, err := build(made, temp, targets)
	if err := errors.Join(err, os.RemoveAll(temp)); err != nil {
		return err
	}
	fmt.Printf("robobatch %s, built by %s\n", made.version, toolchain)
	return write(os.Stdout, out, packages)
}

// A pack is a finished package: a file of the release.
type pack struct {
	name string
	body []byte
}

// build returns all packages for the targets. Programs are linked in the directory temp.
func build(r *release, temp string, targets []target) ([]pack, error) {
	host, err := compile(r, temp, hostTarget)
	if err != nil {
		return nil, err
	}
	docs, err := newDocuments(r, host)
	if err != nil {
		return nil, err
	}
	var packages []pack
	for _, t := range targets {
		p := program{release: r, target: t, documents: docs}
		path := host
		if t != hostTarget {
			if path, err = compile(r, temp, t); err != nil {
				return nil, err
			}
		}
		if p.binary, err = os.ReadFile(path); err != nil {
			return nil, err
		}
		if p.modules, err = linkedModules(r.root, t); err == nil {
			p.notices, err = collectNotices(p.modules)
		}
		if err != nil {
			return nil, fmt.Errorf("notices for %s: %w", t, err)
		}
		made, err := packagesOf(&p)
		if err != nil {
			return nil, fmt.Errorf("packages for %s: %w", t, err)
		}
		packages = append(packages, made...)
	}
	files, err := managersOf(r, packages)
	return append(packages, files...), err
}

// A program is the input of the packages of one target.
type program struct {
	*release
	target
	*documents
	binary  []byte
	modules []linked
	notices []byte // of the modules in it
}

// packagesOf returns the packages of one target.
func packagesOf(p *program) ([]pack, error) {
	makers := []func(*program) (pack, error){archive, wheel, sbom}
	if p.os == "linux" {
		makers = append(makers, debian, image)
	}
	var packages []pack
	for _, maker := range makers {
		made, err := maker(p)
		if err != nil {
			return nil, err
		}
		packages = append(packages, made)
	}
	return packages, nil
}

// write makes the directory anew, with the packages and their checksums, and reports their sizes.
func write(report io.Writer, dir string, packages []pack) error {
	if err := empty(dir); err != nil {
		return err
	}
	packages = append(packages, checksums(packages))
	for _, p := range packages {
		if err := os.WriteFile(filepath.Join(dir, p.name), p.body, 0o666); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(report, "%12d  %s\n", len(p.body), filepath.Join(dir, p.name)); err != nil {
			return err
		}
	}
	return nil
}

// isOurs reports whether a file looks like one of a release.
func isOurs(name string) bool {
	return name == sumsName || regexp.MustCompile(`^robobatch[-_.](.*\.)?(deb|gz|tar|whl|zip|json|rb|yaml)$`).MatchString(name)
}

// empty leaves an empty directory of that name. It removes only an earlier release, whole or not.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return os.MkdirAll(dir, 0o777)
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !isOurs(e.Name()) {
			return fmt.Errorf("%s is no package: name an empty directory", filepath.Join(dir, e.Name()))
		}
	}
	for _, e := range entries {
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
