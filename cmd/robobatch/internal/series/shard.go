package series

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Shard identifies one part of the inputs. The zero value means all inputs.
type Shard struct {
	Index int `json:"index"` // from 0
	Count int `json:"count"` // 0 or 1: all inputs
}

// Most is the maximum number of shards; no scheduler starts as many tasks.
const Most = 1_000_000

// Parse parses "2/8", "auto" for the shard given by the environment, or "" for all inputs. getenv is needed only for
// "auto".
func Parse(text string, getenv func(name string) string) (Shard, error) {
	switch text {
	case "":
		return Shard{}, nil
	case "auto":
		var found []scheduler
		names := make([]string, 0, len(schedulers))
		for _, s := range schedulers {
			if names = append(names, s.index+" ("+s.name+")"); getenv(s.index) != "" {
				found = append(found, s)
			}
		}
		switch len(found) {
		case 0:
			return Shard{}, fmt.Errorf("cannot determine the task number: none of these variables is set: %s: write -shard i/n", strings.Join(names, ", "))
		case 1:
			return found[0].shard(getenv)
		}
		return Shard{}, fmt.Errorf("both %s and %s give a number for this task: write -shard i/n", found[0].name, found[1].name)
	}
	i, n, ok := strings.Cut(text, "/")
	index, errIndex := strconv.Atoi(i)
	count, errCount := strconv.Atoi(n)
	if !ok || errIndex != nil || errCount != nil || index < 0 || count < 1 || count > Most || index >= count {
		return Shard{}, fmt.Errorf("%q is not a shard: write its number from 0 and the number of shards, as in 0/4, or auto", text)
	}
	return Shard{index, count}, nil
}

// Whole reports whether the shard is all inputs.
func (s Shard) Whole() bool { return s.Count <= 1 }

// Infix returns the part of file names that identifies the shard: ".2-of-8", or "" for all inputs.
func (s Shard) Infix() string {
	if s.Whole() {
		return ""
	}
	return fmt.Sprintf(".%d-of-%d", s.Index, s.Count)
}

// String returns "shard 2/8", or "all".
func (s Shard) String() string {
	if s.Whole() {
		return "all"
	}
	return fmt.Sprintf("shard %d/%d", s.Index, s.Count)
}

// perInput is the cost of an input in addition to its size, for opening it and syncing its output, expressed in
// bytes.
const perInput = 64 << 10

// assignShards assigns each unassigned item to a shard, depending only on the sizes of the items and the bytes already
// assigned to shards. The largest items are assigned first, each to the shard with the fewest bytes. No shard therefore
// exceeds the average by more than its last item. Items of unknown size count as empty.
func assignShards(items []Item, given []int64) {
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(items[b].Size, items[a].Size) })
	loads := make(loads, len(given))
	for i := range loads {
		loads[i].shard, loads[i].bytes = i, given[i]
	}
	heap.Init(&loads)
	for _, i := range order {
		if items[i].shard > 0 {
			continue
		}
		items[i].shard = loads[0].shard + 1
		loads[0].bytes += max(0, items[i].Size) + perInput
		heap.Fix(&loads, 0)
	}
}

// loads is a heap with the number of bytes of each shard, the smallest on top.
type loads []struct {
	shard int
	bytes int64
}

func (l loads) Len() int { return len(l) }
func (l loads) Less(i, j int) bool {
	return l[i].bytes < l[j].bytes || l[i].bytes == l[j].bytes && l[i].shard < l[j].shard
}
func (l loads) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l loads) Push(any)      {} // the number is constant
func (l loads) Pop() any      { return nil }

// A scheduler is a program that starts tasks, with the environment variables in which it passes the number of a task
// and of all tasks.
type scheduler struct {
	name, index, count string
	noCount            string // remedy if the count is missing
	check              func(getenv func(string) string) error
}

// schedulers lists the known schedulers.
var schedulers = []scheduler{
	{
		name: "Slurm", index: "SLURM_ARRAY_TASK_ID", count: "SLURM_ARRAY_TASK_COUNT",
		check: func(getenv func(string) string) error { // the numbers of the array are 0 to count-1
			least, most, step, count := getenv("SLURM_ARRAY_TASK_MIN"), getenv("SLURM_ARRAY_TASK_MAX"), getenv("SLURM_ARRAY_TASK_STEP"), getenv("SLURM_ARRAY_TASK_COUNT")
			if n, err := strconv.Atoi(count); err == nil && least == "0" && step == "1" && most == strconv.Itoa(n-1) {
				return nil
			}
			return fmt.Errorf("the tasks of this Slurm array are not 0 to COUNT-1 (MIN %s, MAX %s, STEP %s, COUNT %s), so the number of shards is unknown: "+
				"submit --array=0-7 for eight, or write -shard $SLURM_ARRAY_TASK_ID/N, where N is the number of tasks",
				shownValue(least), shownValue(most), shownValue(step), shownValue(count))
		},
	},
	{
		name: "Kubernetes", index: "JOB_COMPLETION_INDEX", count: "JOB_COMPLETIONS",
		noCount: "set it in the manifest to the number of .spec.completions, as docs/CLUSTER.md does",
	},
	{name: "AWS Batch", index: "AWS_BATCH_JOB_ARRAY_INDEX", count: "AWS_BATCH_JOB_ARRAY_SIZE"},
	{name: "Cloud Run", index: "CLOUD_RUN_TASK_INDEX", count: "CLOUD_RUN_TASK_COUNT"},
}

// shownValue formats the value of a variable for messages.
func shownValue(value string) string {
	if value == "" {
		return "not set"
	}
	return strconv.Quote(value)
}

// shard returns the shard given by the variables. It returns an error if the variables do not give both numbers.
func (s *scheduler) shard(getenv func(string) string) (Shard, error) {
	if getenv(s.count) == "" && s.noCount != "" {
		return Shard{}, fmt.Errorf("%s is set, and %s is not: %s", s.index, s.count, s.noCount)
	}
	if s.check != nil {
		if err := s.check(getenv); err != nil {
			return Shard{}, err
		}
	}
	shard, err := Parse(getenv(s.index)+"/"+getenv(s.count), nil)
	if err != nil {
		return shard, errors.New(s.index + " is " + shownValue(getenv(s.index)) + ", and " + s.count + " is " + shownValue(getenv(s.count)) + ": write -shard i/n")
	}
	return shard, nil
}
