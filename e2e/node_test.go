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
	"time"
)

// nodeDir holds the scripts and, after npm install, the readers.
const nodeDir = "node"

// skip skips the test, but fails it in CI, where every reader is installed.
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
	var c counts
	node(t, &c, script, name)
	return c
}

// node runs a script of the node folder, and decodes its output into v. It returns the CPU time of the script and of
// the programs that it calls.
func node(t *testing.T, v any, script string, args ...string) time.Duration {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		skip(t, "Node.js is not installed")
	}
	if _, err := os.Stat(filepath.Join(nodeDir, "node_modules")); errors.Is(err, fs.ErrNotExist) {
		skip(t, "no packages: run npm install in e2e/node")
	}
	cmd := exec.Command("node", append([]string{script}, args...)...)
	cmd.Dir = nodeDir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, stderr.Bytes())
	}
	if err := json.Unmarshal(stdout.Bytes(), v); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, stdout.Bytes())
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}
