package shard

import (
	"errors"
	"fmt"
	"strconv"
)

// A scheduler is a program that starts tasks, and the variables by which it numbers them.
type scheduler struct {
	name, index, count string
	noCount            string // the remedy if the count is not there
	check              func(getenv func(string) string) error
}

// schedulers are all that are known.
var schedulers = []scheduler{
	{name: "Slurm", index: "SLURM_ARRAY_TASK_ID", count: "SLURM_ARRAY_TASK_COUNT", check: checkSlurm},
	{
		name: "Kubernetes", index: "JOB_COMPLETION_INDEX", count: "JOB_COMPLETIONS",
		noCount: "set it in the manifest to the number of .spec.completions, as docs/CLUSTER.md does",
	},
	{name: "AWS Batch", index: "AWS_BATCH_JOB_ARRAY_INDEX", count: "AWS_BATCH_JOB_ARRAY_SIZE"},
	{name: "Cloud Run", index: "CLOUD_RUN_TASK_INDEX", count: "CLOUD_RUN_TASK_COUNT"},
}

// checkSlurm checks that the numbers of an array go from 0 to one less than their count.
func checkSlurm(getenv func(string) string) error {
	count, err := strconv.Atoi(getenv("SLURM_ARRAY_TASK_COUNT"))
	if err == nil && getenv("SLURM_ARRAY_TASK_MIN") == "0" && getenv("SLURM_ARRAY_TASK_STEP") == "1" && getenv("SLURM_ARRAY_TASK_MAX") == strconv.Itoa(count-1) {
		return nil
	}
	return fmt.Errorf("the tasks of this Slurm array are not 0 to COUNT-1 (MIN %s, MAX %s, STEP %s, COUNT %s), so nobody knows how many shards there are: "+
		"submit --array=0-7 for eight, or write -shard $SLURM_ARRAY_TASK_ID/N, N being how many there are",
		shown(getenv("SLURM_ARRAY_TASK_MIN")), shown(getenv("SLURM_ARRAY_TASK_MAX")), shown(getenv("SLURM_ARRAY_TASK_STEP")), shown(getenv("SLURM_ARRAY_TASK_COUNT")))
}

// shown returns the value of a variable as messages show it.
func shown(value string) string {
	if value == "" {
		return "not set"
	}
	return strconv.Quote(value)
}

// shard returns the shard that the variables name.
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
		return shard, errors.New(s.index + " is " + shown(getenv(s.index)) + ", and " + s.count + " is " + shown(getenv(s.count)) + ": write -shard i/n")
	}
	return shard, nil
}
