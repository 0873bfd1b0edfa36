package series

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Shard{"": {}, "0/1": {0, 1}, "3/4": {3, 4}} {
		if got, err := Parse(text, nil); got != want || err != nil {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"4/4", "-1/4", "1", "1/0", "/", "a/b", "1/4/2", " 1/4", "0/99999999", "1/4 "} {
		if got, err := Parse(text, nil); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
	if (Shard{}).Infix() != "" || (Shard{0, 1}).Infix() != "" || (Shard{2, 8}).Infix() != ".2-of-8" {
		t.Error("infix")
	}
}

// TestAuto holds which variables count, and the error if they are not enough.
func TestAuto(t *testing.T) {
	const slurm = "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_STEP=1 SLURM_ARRAY_TASK_MAX=7 SLURM_ARRAY_TASK_COUNT=8"
	for _, c := range []struct {
		env  string
		want Shard
		err  string
	}{
		{slurm, Shard{3, 8}, ""},
		{strings.Replace(slurm, "MIN=0", "MIN=1", 1), Shard{}, "write -shard $SLURM_ARRAY_TASK_ID/N"},
		{strings.Replace(slurm, "STEP=1", "STEP=2", 1), Shard{}, "write -shard $SLURM_ARRAY_TASK_ID/N"},
		{strings.Replace(slurm, "MAX=7", "MAX=8", 1), Shard{}, "write -shard $SLURM_ARRAY_TASK_ID/N"},
		{"SLURM_ARRAY_TASK_ID=3", Shard{}, `(MIN not set, MAX not set, STEP not set, COUNT not set)`},
		{"JOB_COMPLETION_INDEX=0 JOB_COMPLETIONS=12", Shard{0, 12}, ""},
		{"JOB_COMPLETION_INDEX=0", Shard{}, "JOB_COMPLETION_INDEX is set, and JOB_COMPLETIONS is not: set it in the manifest"},
		{"JOB_COMPLETION_INDEX=12 JOB_COMPLETIONS=12", Shard{}, `JOB_COMPLETION_INDEX is "12", and JOB_COMPLETIONS is "12": write -shard i/n`},
		{"AWS_BATCH_JOB_ARRAY_INDEX=9 AWS_BATCH_JOB_ARRAY_SIZE=10", Shard{9, 10}, ""},
		{"AWS_BATCH_JOB_ARRAY_INDEX=9", Shard{}, "AWS_BATCH_JOB_ARRAY_SIZE is not set"},
		{"CLOUD_RUN_TASK_INDEX=1 CLOUD_RUN_TASK_COUNT=2", Shard{1, 2}, ""},
		{"CLOUD_RUN_TASK_INDEX=x CLOUD_RUN_TASK_COUNT=2", Shard{}, `CLOUD_RUN_TASK_INDEX is "x"`},
		{"CLOUD_RUN_TASK_INDEX=1 CLOUD_RUN_TASK_COUNT=2 " + slurm, Shard{}, "both Slurm and Cloud Run number this task"},
		{"SLURM_JOB_ID=1", Shard{}, "no known scheduler runs this task, because none of these variables is set: SLURM_ARRAY_TASK_ID (Slurm), "},
	} {
		getenv := func(name string) string {
			for pair := range strings.FieldsSeq(c.env) {
				if value, ok := strings.CutPrefix(pair, name+"="); ok {
					return value
				}
			}
			return ""
		}
		got, err := Parse("auto", getenv)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, %v", c.env, got, err)
		}
	}
}

// TestOf holds that each input has one shard, that the sizes decide, and that shards are balanced.
func TestOf(t *testing.T) {
	if got := Of([]int64{5 << 20, 3 << 20, 3 << 20, 2 << 20, -1}, 2); !slices.Equal(got, []int{0, 1, 1, 0, 1}) {
		t.Error(got)
	}
	if got := Of(nil, 4); len(got) != 0 {
		t.Error(got)
	}
	if got := Of([]int64{0, 0, 0}, 4); !slices.Equal(got, []int{0, 1, 2}) {
		t.Error(got)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		sizes := make([]int64, 1+rnd.IntN(300))
		var sum, largest int64
		for i := range sizes {
			sizes[i] = rnd.Int64N(1 << (10 + rnd.IntN(25)))
			sum, largest = sum+sizes[i]+perInput, max(largest, sizes[i]+perInput)
		}
		count := 1 + rnd.IntN(20)
		shards := Of(sizes, count)
		loads := make([]int64, count)
		for i, s := range shards {
			loads[s] += sizes[i] + perInput
		}
		if most := slices.Max(loads); most > sum/int64(count)+largest {
			t.Errorf("%d inputs, %d shards: the largest has %d of %d", len(sizes), count, most, sum)
		}
	}
}
