package conduct

import (
	"testing"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/internal/cli"
)

// TestMergeMemory holds that -max-memory limits the counts of a merge: they have three eighths of it, as FLAGS.md says.
func TestMergeMemory(t *testing.T) {
	g := &given{merge: t.TempDir(), by: "origin", print: "text"}
	g.Work.MaxMemory = "512MiB"
	task, err := g.planMerge(console.Streams{}, cli.Faults{})
	if err != nil {
		t.Fatal(err)
	}
	if got := task.(*merging).opt.Memory; got != 192<<20 {
		t.Errorf("the counts have %d bytes", got)
	}
}
