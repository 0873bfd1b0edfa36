package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// A target is a system and a processor that a program is built for, by the names that Go has for them.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

// program returns the name of the program there.
func (t target) program() string {
	if t.os == "windows" {
		return "robobatch.exe"
	}
	return "robobatch"
}

// hostTarget is this machine.
var hostTarget = target{runtime.GOOS, runtime.GOARCH}

// allTargets are the targets of a release.
var allTargets = []target{
	{"linux", "amd64"},
	{"linux", "arm64"},
	{"darwin", "amd64"},
	{"darwin", "arm64"},
	{"windows", "amd64"},
	{"windows", "arm64"},
}

// parseTargets returns the targets of a list; all for "".
func parseTargets(list string) ([]target, error) {
	if list == "" {
		return allTargets, nil
	}
	var targets []target
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(allTargets, func(t target) bool { return t.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("target %q: use %v", name, allTargets)
		}
		targets = append(targets, allTargets[i])
	}
	return targets, nil
}

// environ returns the environment of a Go build for the target: this process's environment, without
// variables that would change the bytes.
func (t target) environ() []string {
	return append(os.Environ(), "GOTOOLCHAIN="+toolchain,
		"GOOS="+t.os, "GOARCH="+t.arch, "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=-mod=readonly", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off")
}

// toolchain is the version of Go that builds a release: another one writes other bytes. Where it is not
// the one installed, Go fetches it.
const toolchain = "go1.26.8"

// compile builds the command for the target, in a directory below temp, and returns its path.
func compile(r *release, temp string, t target) (string, error) {
	path := filepath.Join(temp, t.os+"-"+t.arch, t.program())
	const in = "-X github.com/robobatch/robobatch/cmd/robobatch/internal/build."
	set := in + "release=" + r.version + " " + in + "releaseDay=" + r.time.Format("2006-01-02")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w "+set, "-o", path, "./cmd/robobatch")
	cmd.Dir, cmd.Env = r.root, t.environ()
	if _, err := output(cmd); err != nil {
		return "", fmt.Errorf("build for %s: %w", t, err)
	}
	return path, nil
}

// output runs a command and returns its output. Its messages become the error.
func output(cmd *exec.Cmd) ([]byte, error) {
	var out, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &messages
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, messages.Bytes())
	}
	return out.Bytes(), nil
}
