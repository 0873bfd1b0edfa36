package main

import (
	"os"
	"os/exec"
	"path/filepath"
)

// The documents are the files that every package has beside the program.
type documents struct {
	license   []byte
	readme    []byte
	changelog []byte
	manual    []byte            // for man
	complete  map[string][]byte // by the name of the shell
}

// shells are those that completion is there for.
var shells = []string{"bash", "fish", "zsh"}

// newDocuments reads files of the repository, and has the program print the others.
func newDocuments(r *release, program string) (*documents, error) {
	d := &documents{complete: map[string][]byte{}}
	for name, text := range map[string]*[]byte{"LICENSE": &d.license, "README.md": &d.readme, "CHANGELOG.md": &d.changelog} {
		var err error
		if *text, err = os.ReadFile(filepath.Join(r.root, name)); err != nil {
			return nil, err
		}
	}
	var err error
	if d.manual, err = output(exec.Command(program, "help", "man")); err != nil {
		return nil, err
	}
	for _, shell := range shells {
		if d.complete[shell], err = output(exec.Command(program, "help", shell)); err != nil {
			return nil, err
		}
	}
	return d, nil
}
