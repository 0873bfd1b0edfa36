//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An indexedJob holds the fields of docs/cluster/kubernetes.yaml that the tests need.
type indexedJob struct {
	completions int
	command     []string
	env         map[string]string
	noRetry     []int // exit codes after which an index has failed
}

// readJob reads the manifest. It expects the YAML style of that file.
func readJob(t *testing.T, name string) (j indexedJob) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs/cluster", name))
	if err != nil {
		t.Fatal(err)
	}
	find := func(pattern string) []string {
		t.Helper()
		m := regexp.MustCompile(pattern).FindStringSubmatch(string(text))
		if m == nil {
			t.Fatalf("%s has no %s", name, pattern)
		}
		return m[1:]
	}
	if err := json.Unmarshal([]byte(find(`(?s)command: (\[.*?\])`)[0]), &j.command); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(name, "merge") {
		return j
	}
	j.completions, _ = strconv.Atoi(find(`\n  completions: (\d+)\n`)[0])
	pair := find(`\n            - name: (\w+) .*\n              value: "(.*)"\n`)
	j.env = map[string]string{pair[0]: pair[1]}
	if err := json.Unmarshal([]byte(find(`(?s)action: FailIndex.*?operator: In\n *values: (\[.*?\])`)[0]), &j.noRetry); err != nil {
		t.Fatal(err)
	}
	find(`completionMode: Indexed`)
	find(`action: Ignore[^\n]*\n *onPodConditions:\n *- type: DisruptionTarget`)
	find(`backoffLimitPerIndex: \d`)
	find(`restartPolicy: Never`)
	return j
}

// pod returns a pod with an index, whose volume is the given directory.
func (m *monthOfLogs) pod(j indexedJob, index int) *exec.Cmd {
	args := make([]string, len(j.command))
	for i, arg := range j.command {
		args[i] = strings.ReplaceAll(arg, "/data/", m.dir+"/")
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "JOB_COMPLETION_INDEX="+strconv.Itoa(index))
	for name, value := range j.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd
}

// TestKubernetes runs the pods of the manifest as processes with its variables. It kills one pod and drains another,
// and then treats their exit codes according to the manifest's failure policy.
func TestKubernetes(t *testing.T) {
	job, merge := readJob(t, "kubernetes.yaml"), readJob(t, "kubernetes-merge.yaml")
	if job.env["JOB_COMPLETIONS"] != strconv.Itoa(job.completions) || !slices.Equal(job.noRetry, []int{1, 2}) {
		t.Fatalf("%+v", job)
	}
	m := newMonth(t, 30)
	if out, err := m.command("compile", "-quiet", "-rules", m.rules, "-out", "rules.rbp").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	failed := 0
	for index := range job.completions {
		signal := map[int]syscall.Signal{2: syscall.SIGKILL, 5: syscall.SIGTERM}[index]
		code := m.podEnds(t, job, index, signal)
		if signal != 0 && code != 0 && code != 1 { // a new pod of the index
			code = m.podEnds(t, job, index, 0)
		}
		switch code {
		case 0:
		case 1:
			failed++
		default:
			t.Errorf("index %d ends with %d", index, code)
		}
	}
	if failed == 0 || failed > 3 {
		t.Errorf("%d indexes failed", failed)
	}
	if code := m.podEnds(t, merge, 0, 0); code != 1 {
		t.Errorf("merge ends with %d", code)
	}
	for name, body := range m.mend {
		m.write(t, name, body)
	}
	for index := range job.completions { // the Job is applied again
		if code := m.podEnds(t, job, index, 0); code != 0 {
			t.Errorf("index %d ends with %d once the inputs are mended", index, code)
		}
	}
	if code := m.podEnds(t, merge, 0, 0); code != 0 {
		t.Errorf("merge ends with %d once the inputs are mended", code)
	}
	if code, text := m.run(t, "-quiet", "-rules", m.dir+"/rules.rbp", "-in", m.dir+"/logs", "-out", "whole/"); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, text)
	}
	got, want := contents(t, filepath.Join(m.dir, "out")), contents(t, filepath.Join(m.dir, "whole"))
	if _, ok := got["_SUCCESS"]; !ok {
		t.Error("no _SUCCESS")
	}
	delete(got, "_SUCCESS")
	equal(t, "the Job", got, want)
}

// podEnds runs a pod and returns its exit code. If a signal is given, it sends the signal once the pod has an output;
// if that ends the pod, the exit code is 128 plus the number of the signal.
func (m *monthOfLogs) podEnds(t *testing.T, j indexedJob, index int, signal syscall.Signal) int {
	t.Helper()
	cmd := m.pod(j, index)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cmd.Wait()
	}()
	before := m.records()
	for signal != 0 {
		select {
		case <-ended:
			signal = 0
		case <-time.After(time.Millisecond):
			if m.records() > before {
				cmd.Process.Signal(signal)
				signal = 0
			}
		}
	}
	<-ended
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return 128 + int(s.Signal())
	}
	return cmd.ProcessState.ExitCode()
}

// records returns how many outputs are done.
func (m *monthOfLogs) records() int {
	names, _ := filepath.Glob(filepath.Join(m.dir, "out/_done/*/*.json"))
	return len(names)
}

// TestAWSBatch checks that the job definition retries a failed task of an array, unless its exit code says that
// inputs, flags or rules must be corrected first.
func TestAWSBatch(t *testing.T) {
	text, err := os.ReadFile("../../docs/cluster/aws-batch.json")
	if err != nil {
		t.Fatal(err)
	}
	var definition struct {
		RetryStrategy struct {
			EvaluateOnExit []struct{ OnExitCode, OnReason, Action string }
		}
	}
	if err := json.Unmarshal(text, &definition); err != nil {
		t.Fatal(err)
	}
	action := func(code string) string { // of the first that matches, as AWS does
		for _, on := range definition.RetryStrategy.EvaluateOnExit {
			if on.OnExitCode == code || on.OnReason == "*" {
				return on.Action
			}
		}
		return ""
	}
	for code, want := range map[string]string{"1": "EXIT", "2": "EXIT", "75": "RETRY", "137": "RETRY", "143": "RETRY"} {
		if got := action(code); got != want {
			t.Errorf("exit code %s: %q, want %s", code, got, want)
		}
	}
}

// TestSlurmRequeues checks that a task of the array is requeued if object storage is unavailable, but only a limited
// number of times, and not after other failures.
func TestSlurmRequeues(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"robobatch": "exit $CODE", "scontrol": "echo $* >asked"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o777); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	script, err := filepath.Abs("../../docs/cluster/slurm-array.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ code, restarts, want string }{{"75", "0", "requeue 8_3\n"}, {"75", "5", ""}, {"2", "0", ""}, {"0", "0", ""}} {
		cmd := exec.Command("bash", script)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "CODE="+c.code, "SLURM_RESTART_COUNT="+c.restarts,
			"SLURM_ARRAY_JOB_ID=8", "SLURM_ARRAY_TASK_ID=3", "RULES=r", "IN=i", "OUT=o/")
		_ = cmd.Run()
		asked, _ := os.ReadFile(filepath.Join(dir, "asked"))
		os.Remove(filepath.Join(dir, "asked"))
		if code := strconv.Itoa(cmd.ProcessState.ExitCode()); code != c.code || string(asked) != c.want {
			t.Errorf("robobatch ends with %s after %s restarts: the script ends with %s and asks scontrol %q, want %q", c.code, c.restarts, code, asked, c.want)
		}
	}
}
