package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestLinkedLibrary looks at the names of functions in the program: the linker leaves out what nothing
// calls, also of the client of object stores. See client in internal/s3.
func TestLinkedLibrary(t *testing.T) {
	b := builtHere(t)
	for _, target := range targetsHere() {
		program, err := os.ReadFile(filepath.Join(b.dir, target.OS+"-"+target.Arch, target.name()))
		if err != nil {
			t.Fatal(err)
		}
		const library = "github.com/minio/minio-go/v7.(*Client)."
		for method, want := range map[string]bool{"executeMethod": true, "ComposeObject": false, "MakeBucket": false} {
			if bytes.Contains(program, []byte(library+method)) != want {
				t.Errorf("%s: %s%s is in the program: %t, want %t", target, library, method, !want, want)
			}
		}
	}
}
