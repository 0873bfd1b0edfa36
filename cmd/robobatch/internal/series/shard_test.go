package series

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/ingest/logfiles"
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

// TestAuto checks from which environment variables the shard is read, and the errors if some are missing.
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
		{"CLOUD_RUN_TASK_INDEX=1 CLOUD_RUN_TASK_COUNT=2 " + slurm, Shard{}, "both Slurm and Cloud Run give a number for this task"},
		{"SLURM_JOB_ID=1", Shard{}, "cannot determine the task number: none of these variables is set: SLURM_ARRAY_TASK_ID (Slurm), "},
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

// itemsOf returns items of these sizes.
func itemsOf(sizes []int64) []Item {
	items := make([]Item, len(sizes))
	for i, size := range sizes {
		name := fmt.Sprintf("logs/%d.txt", i)
		items[i] = Item{File: logfiles.File{Name: name, Size: size}, Output: fmt.Sprintf("%d.verdicts.parquet", i)}
	}
	return items
}

// divide returns items that are divided among shards, and the number of bytes in each shard.
func divide(t *testing.T, sizes []int64, count int, textSize Sizer) (items []Item, loads []int64, hint string) {
	t.Helper()
	items, hint, err := Divide(itemsOf(sizes), count, textSize)
	if err != nil {
		t.Fatal(err)
	}
	loads = make([]int64, count)
	n := 0
	for shard := range loads {
		for _, item := range ItemsOf(items, Shard{shard, count}) {
			loads[shard] += max(0, item.Size) + perInput
			n++
		}
	}
	if n != len(items) {
		t.Errorf("%d items in shards of %d", n, len(items))
	}
	return items, loads, hint
}

// TestDivide checks that each input is in exactly one shard, that only sizes matter, and that shards are balanced.
func TestDivide(t *testing.T) {
	for _, c := range []struct {
		sizes []int64
		count int
		want  []int64
	}{
		{[]int64{5 << 20, 3 << 20, 3 << 20, 2 << 20, -1}, 2, []int64{7 << 20, 6 << 20}},
		{nil, 4, make([]int64, 4)},
		{[]int64{0, 0, 0}, 4, make([]int64, 4)},
	} {
		_, loads, _ := divide(t, c.sizes, c.count, nil)
		for i := range loads {
			if loads[i]>>20 != c.want[i]>>20 {
				t.Errorf("%v: %v", c.sizes, loads)
			}
		}
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
		_, loads, _ := divide(t, sizes, count, nil)
		if most := slices.Max(loads); most > sum/int64(count)+largest {
			t.Errorf("%d inputs, %d shards: the largest has %d of %d", len(sizes), count, most, sum)
		}
	}
}

// TestSplit checks that the pieces of a large input cover it exactly once and in order, and that no shard exceeds the
// average by more than the largest input that is not split.
func TestSplit(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		sizes := make([]int64, 1+rnd.IntN(12))
		text := map[string]int64{}
		var sum, unsplit int64
		count := 2 + rnd.IntN(9)
		for i := range sizes {
			sizes[i] = rnd.Int64N(1 << (20 + rnd.IntN(14)))
			sum += sizes[i] + perInput
		}
		part := sum/int64(count) + 1
		for i, size := range sizes {
			if name := fmt.Sprintf("logs/%d.txt", i); rnd.IntN(4) > 0 {
				text[name] = size * (1 + rnd.Int64N(9))
			}
			if n := text[fmt.Sprintf("logs/%d.txt", i)]; n == 0 || size <= part || part < 2*ingest.LeastPart {
				unsplit = max(unsplit, size)
			}
		}
		items, loads, _ := divide(t, sizes, count, func(name string) (int64, error) { return text[name], nil })
		if most, slack := slices.Max(loads), max(part/16, ingest.LeastPart)+4*perInput; most > part+slack+unsplit {
			t.Errorf("%v in %d shards: %v, of which %d is not split", sizes, count, loads, unsplit)
		}
		checkSplit(t, items, sizes)
	}
	// One large input in four shards.
	items, loads, hint := divide(t, []int64{200 << 20}, 4, func(string) (int64, error) { return 200 << 20, nil })
	if len(items) != 4 || hint != "" || float64(slices.Max(loads)) > 1.01*float64(slices.Min(loads)) || items[3].Output != "0.3-of-4.verdicts.parquet" || items[3].Part.To != 0 {
		t.Errorf("%+v, %v, %q", items, loads, hint)
	}
	// None that can be split: a hint.
	if items, _, hint := divide(t, []int64{200 << 20, 1 << 20}, 4, func(string) (int64, error) { return 0, nil }); len(items) != 2 || !strings.Contains(hint, "cannot be split") {
		t.Errorf("%+v, %q", items, hint)
	}
	down := errors.New("down")
	if _, _, err := Divide(itemsOf([]int64{200 << 20}), 4, func(string) (int64, error) { return 0, down }); !errors.Is(err, down) {
		t.Errorf("error %v", err)
	}
	same := itemsOf([]int64{200 << 20, 1})
	same[1].Output = "0.2-of-4.verdicts.parquet"
	if _, _, err := Divide(same, 4, func(string) (int64, error) { return 200 << 20, nil }); err == nil || !strings.Contains(err.Error(), "rename one") {
		t.Errorf("error %v", err)
	}
}

// checkSplit checks that the items cover inputs of these sizes completely and in order.
func checkSplit(t *testing.T, items []Item, sizes []int64) {
	t.Helper()
	next := 0
	var last string
	for i, size := range sizes {
		name := fmt.Sprintf("logs/%d.txt", i)
		var bytes, text int64
		for ; next < len(items) && items[next].Name == name; next++ {
			item := &items[next]
			if item.from != bytes || item.Part.From != text || item.IsPiece() && item.Part.From > 0 && item.Part.From < ingest.LeastPart || bytes > 0 && item.Output <= last {
				t.Fatalf("%+v begins at %d and %d", item, bytes, text)
			}
			bytes, text, last = bytes+item.Size, item.Part.To, item.Output
		}
		if bytes != size || text != 0 {
			t.Fatalf("%s: %d of %d bytes, and the text ends at %d", name, bytes, size, text)
		}
	}
	if next != len(items) {
		t.Errorf("%d items too many", len(items)-next)
	}
}
