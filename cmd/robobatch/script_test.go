package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write what the commands print into the scripts of testdata/script")

// testCommands are the programs as which the test binary can run, by name.
var testCommands = map[string]func(){"robobatch": main}

// TestMain lets the test binary also run as the command robobatch, for the scripts.
func TestMain(m *testing.M) {
	testscript.Main(m, testCommands)
}

// TestScript runs the scripts of testdata/script. scriptcmd_test.go has their own commands. $QUICKSTART, $WARC,
// $PACKED and $CONDUCT are the directories of the sample data, of captures, of compressed logs, and of a log with
// crawlers.
func TestScript(t *testing.T) {
	quickstart, err := filepath.Abs("../../testdata/quickstart")
	if err != nil {
		t.Fatal(err)
	}
	warc, err := filepath.Abs("../../ingest/testdata/warc")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		Cmds:                scriptCommands,
		Condition:           scriptCondition,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("QUICKSTART", quickstart)
			env.Setenv("OLDPACK", filepath.Join(quickstart, "..", "..", "cmd", "robobatch", "testdata", "old-policy.rbp"))
			env.Setenv("PACKED", filepath.Join(filepath.Dir(warc), "packed"))
			env.Setenv("WARC", warc)
			env.Setenv("CONDUCT", filepath.Join(filepath.Dir(quickstart), "conduct"))
			env.Values[storeOf{}] = &scriptStore{}
			env.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise each command takes a second with the race detector
			return os.MkdirAll(filepath.Join(env.WorkDir, "out"), 0o777)
		},
	})
}
