//go:build unix

package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A victim is a command line that writes files to the directory out, with the files that it leaves without a
// disturbance.
type victim struct {
	arguments []string
	outs      []string // outputs that may have an older version; none if the output is a directory
	single    bool     // the output is a directory that appears as a whole
	want      map[string][sha256.Size]byte
	took      time.Duration
	calls     map[string][]int // see callsOf
}

// newCommand returns the command line of a victim, to run in a directory.
func (a *attack) newCommand(v *victim, dir string) *exec.Cmd {
	cmd := exec.CommandContext(a.ctx, a.binary, v.arguments...)
	cmd.Dir = dir
	return cmd
}

// oldText is the content of an older output.
const oldText = "an older output"

// makeScene returns a new directory with a directory out, which has older outputs of the victim if older is set. The
// caller removes it.
func (a *attack) makeScene(v *victim, older bool) (string, error) {
	dir, err := os.MkdirTemp(a.dir, "scene-")
	if err != nil {
		return "", err
	}
	if err := os.Mkdir(filepath.Join(dir, "out"), 0o777); err != nil || !older {
		return dir, err
	}
	for _, name := range v.outs {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(oldText), 0o666); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// hashFiles returns the hashes of all files below a directory by name. It skips records of runs, whose names begin
// with an underscore, because they contain times.
func hashFiles(dir string) (map[string][sha256.Size]byte, error) {
	all := map[string][sha256.Size]byte{}
	return all, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == "_done":
			return fs.SkipDir
		case e.IsDir() || e.Name()[0] == '_':
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		all[name] = sha256.Sum256(data)
		return err
	})
}

// A judgement is the result of a disturbed run.
type judgement uint8

const (
	whole   judgement = iota // exit code 0, and all outputs are complete
	refused                  // another exit code, and each output is complete, is the older version, or does not exist
	wrong                    // anything else
)

// judge returns the judgement of the files in a directory after a run with that exit code, and the reason if it is
// wrong. older is whether there were older outputs, tidy whether the run could remove its hidden files. Rows before a
// damaged part of the log may be kept as .partial.
func (v *victim) judge(dir string, older, tidy bool, code int) (judgement, string) {
	left, err := hashFiles(dir)
	if err != nil {
		return wrong, err.Error()
	}
	complete, olders := 0, 0
	for name, got := range left {
		want, expected := v.want[name]
		switch {
		case expected && got == want:
			complete++
		case expected && older && got == sha256.Sum256([]byte(oldText)):
			olders++
		case strings.Contains(name, ".partial"):
		case !expected && !tidy && slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return strings.HasPrefix(part, ".") }):
		default:
			return wrong, fmt.Sprintf("exit code %d leaves %s", code, name)
		}
	}
	switch {
	case code == 0 && complete != len(v.want):
		return wrong, fmt.Sprintf("exit code 0, and %d of %d files are complete", complete, len(v.want))
	case code == 0:
		return whole, ""
	case v.single && tidy && complete != 0 && complete != len(v.want):
		return wrong, fmt.Sprintf("%d of %d files of a directory", complete, len(v.want))
	case older && complete+olders < len(v.outs):
		return wrong, "an older output is gone"
	}
	return refused, ""
}

// A disturbance is a way to run a victim with a disturbance.
type disturbance struct {
	cmd     *exec.Cmd
	started func()        // called after the start; may be nil
	tidy    bool          // the run can remove its hidden files
	ended   func() string // returns another reason why a complete run is wrong, or ""; may be nil
	again   bool          // run again, the same command must write the outputs
}

// disturb runs a victim in a new scene, with or without older outputs, and judges the files that it leaves. begin
// prepares the run in the scene. A run that went wrong is kept in a.keep.
func (a *attack) disturb(r *rand.Rand, v *victim, begin func(dir string) disturbance) judgement {
	older := r.IntN(2) == 0
	dir, err := a.makeScene(v, older)
	if err != nil {
		panic(err) // it needs a temporary directory
	}
	defer os.RemoveAll(dir)
	d := begin(dir)
	d.cmd.Dir = dir
	var stderr bytes.Buffer
	d.cmd.Stderr = &stderr
	if err := d.cmd.Start(); err != nil {
		panic(err)
	}
	if d.started != nil {
		d.started()
	}
	hung := time.AfterFunc(patience, func() { d.cmd.Process.Kill() }) //nolint:errcheck // it may have ended
	d.cmd.Wait()                                                      //nolint:errcheck // the code says it
	j, reason := v.judge(dir, older, d.tidy, d.cmd.ProcessState.ExitCode())
	switch {
	case !hung.Stop():
		j, reason = wrong, "it did not end"
	case strings.Contains(stderr.String(), "panic:"):
		j, reason = wrong, "panic"
	case j == whole && d.ended != nil && d.ended() != "":
		j, reason = wrong, d.ended()
	case j != wrong && d.again:
		cmd := a.newCommand(v, dir)
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil {
			j, reason = wrong, "the same command again: "+err.Error()
		} else if again, why := v.judge(dir, false, false, 0); again == wrong {
			j, reason = wrong, "the same command again: "+why
		}
	}
	if a.ctx.Err() != nil {
		return refused // the attack was cancelled
	}
	if j == wrong { // keep all of them, and print some
		a.mu.Lock()
		defer a.mu.Unlock()
		a.kept++
		name := filepath.Join(a.keep, fmt.Sprintf("%04d", a.kept))
		os.WriteFile(name, fmt.Appendf(nil, "seed %d\n%s\n%s\n%s\n", a.seed, strings.Join(d.cmd.Args, " "), reason, &stderr), 0o666) //nolint:errcheck // the counts are what matters
		if a.kept <= 5 {
			fmt.Printf("WRONG %s: %.160s\n", name, reason)
		}
	}
	return j
}

// patience is the time after which a run counts as hanging. Most take less than a second if the processor is idle.
const patience = 20 * time.Minute
