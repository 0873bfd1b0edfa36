package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// nodeDir holds the scripts and, after npm install, the readers.
const nodeDir = "node"

// skip skips the test, but fails it in CI, which has installed every reader.
func skip(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// nodeCounts runs a script of the node folder over a file.
func nodeCounts(t *testing.T, script, name string) counts {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		skip(t, "Node.js is not installed")
	}
	if _, err := os.Stat(filepath.Join(nodeDir, "node_modules")); errors.Is(err, fs.ErrNotExist) {
		skip(t, "no packages: run npm install in e2e/node")
	}
	cmd := exec.Command("node", script, name)
	cmd.Dir = nodeDir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, stderr.Bytes())
	}
	var c counts
	if err := json.Unmarshal(stdout.Bytes(), &c); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, stdout.Bytes())
	}
	return c
}
