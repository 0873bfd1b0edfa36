//go:build unix

// Command attack tries to break the command robobatch, and judges the results:
//
//	go run -C bench ./attack                                   # all of it: make attack
//	go run -C bench ./attack -mutants 100 -kills 50 -faults 50 # a part
//	go run -C bench ./attack -only 'mutants/csv' -seed 7       # one kind, with other damage
//
// It kills runs at random moments, makes system calls fail, fills disks, and damages inputs of every
// format. It knows its damage, so it knows which rows are true: the rows of the slow reference, on
// inputs that slow and strict readers read again. A run on damaged input must end with exit code 2
// and true rows; or with exit code 0 and all rows true; or with a warning, or a count, that says that
// something is missing. Damage that a format cannot show, such as another letter in a text, counts as
// unseen: the rows must fit the bytes that are there.
//
// A process that starts costs more than a small input. So most damaged inputs are read by processes of the
// command that stay, one run after the other, and one in -own by a process of its own; those that are
// killed or measured, and all of kills, faults and disks, by a process of its own.
//
// Everything depends on -seed and on the counts alone, but for the moments of kills. The inputs on
// which the command was wrong are kept, with the command line that shows it again.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/robobatch/robobatch/bench/internal/tool"
	"github.com/robobatch/robobatch/internal/panics"
)

func main() { tool.Main("attack", run) }

// An attack is the request of the flags, and the findings so far.
type attack struct {
	ctx      context.Context
	binary   string // the command
	dir      string // where it runs, and the rules are
	keep     string // where its failures are kept
	seed     uint64
	mutants  int
	kills    int
	faults   int
	disks    int
	jobs     int
	own      int // one run in so many has a process of its own
	only     *regexp.Regexp
	oracle   oracle
	served   *pool // of the command; nil if each run has a process of its own
	slow     *pool // of the slow readers
	measured *pool // of the process that measures runs

	mu    sync.Mutex
	kept  int // wrong runs
	shown map[string]int
}

func run(ctx context.Context, arguments []string) error {
	if len(arguments) == 1 && arguments[0] == "-slowly" { // this is for the program itself
		return readSlowly()
	}
	if len(arguments) == 1 && arguments[0] == "-measure" { // as above
		return measureRuns()
	}
	a := &attack{ctx: ctx, oracle: newOracle(), shown: map[string]int{}}
	flags := flag.NewFlagSet("attack", flag.ContinueOnError)
	flags.IntVar(&a.mutants, "mutants", 10_000, "damaged inputs of each format")
	flags.IntVar(&a.kills, "kills", 600, "runs that are killed at a random moment")
	flags.IntVar(&a.faults, "faults", 600, "runs in which system calls fail; needs strace")
	flags.IntVar(&a.disks, "disks", 100, "runs on disks that fill up; needs the right to mount")
	flags.Uint64Var(&a.seed, "seed", 1, "of all that is random")
	flags.IntVar(&a.jobs, "jobs", runtime.GOMAXPROCS(0), "runs at once")
	flags.StringVar(&a.binary, "bin", "", "the command to attack; default: built from this module")
	flags.IntVar(&a.own, "own", 20, "one run in so many on a damaged input has a process of its own; with -bin each has")
	flags.StringVar(&a.keep, "keep", "", "where to keep what it did wrong; default: a directory for temporary files")
	only := flags.String("only", "", "attack what this regular expression matches the name of, such as mutants/csv, kills, faults or disks")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if a.own < 1 || a.jobs < 1 {
		return errors.New("-own, -jobs: at least 1")
	}
	var err error
	if a.only, err = regexp.Compile(*only); err != nil {
		return err
	}
	if a.dir, err = os.MkdirTemp("", "robobatch-attack-"); err != nil {
		return err
	}
	defer os.RemoveAll(a.dir) //nolint:errcheck // a directory for temporary files
	if err := a.prepare(); err != nil {
		return err
	}
	defer a.slow.close()
	defer a.measured.close()
	if a.served != nil {
		defer a.served.close()
	}
	if err := a.all(); err != nil {
		return err
	}
	if a.kept > 0 {
		return fmt.Errorf("%d runs were wrong and did not say so; %s has them", a.kept, a.keep)
	}
	return nil
}

// prepare builds the command and writes the rules.
func (a *attack) prepare() (err error) {
	if a.keep == "" {
		if a.keep, err = os.MkdirTemp("", "robobatch-wrong-"); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(a.keep, 0o777); err != nil {
		return err
	}
	if a.binary == "" {
		a.binary = filepath.Join(a.dir, "robobatch")
		if err := tool.Build(a.ctx, a.binary); err != nil {
			return err
		}
		served, err := buildServed(a.ctx, a.dir)
		if err != nil {
			return err
		}
		a.served = newPool(a.jobs, a.dir, served)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	a.slow, a.measured = newPool(a.jobs, a.dir, self, "-slowly"), newPool(a.jobs, a.dir, self, "-measure")
	if a.binary, err = filepath.Abs(a.binary); err != nil {
		return err
	}
	return writeRules(filepath.Join(a.dir, "rules"), a.oracle.bodies)
}

// writeRules writes a directory of robots.txt files.
func writeRules(dir string, bodies map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for origin, body := range bodies {
		name := strings.NewReplacer("://", "_", ":", "_").Replace(origin) + ".txt"
		if err := os.WriteFile(filepath.Join(dir, name), body, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// all runs all attacks that are asked for, one kind after the other.
func (a *attack) all() error {
	fmt.Printf("seed %d; %d mutants of each format, %d kills, %d faults, %d disks\n", a.seed, a.mutants, a.kills, a.faults, a.disks)
	fmt.Printf("%-34s %8s %8s %8s %8s %8s %8s %8s\n", "", "runs", "whole", "unseen", "warned", "refused", "harmless", "WRONG")
	var errs []error
	for _, t := range a.targets() {
		if a.only.MatchString("mutants/" + t.name) {
			errs = append(errs, a.damage(t))
		}
	}
	for _, kind := range []struct {
		name string
		run  func() error
	}{{"kills", a.killAll}, {"faults", a.faultAll}, {"disks", a.fillAll}} {
		if a.only.MatchString(kind.name) && a.ctx.Err() == nil {
			errs = append(errs, kind.run())
		}
	}
	return errors.Join(append(errs, a.ctx.Err())...)
}

// A target is a format of inputs.
type target struct {
	name string
	text bool // of a text, whose encoding and line ends can be others
	// partly is a run that need not look at all of its input, if it says so.
	partly bool
	bases  func(r *rand.Rand) ([]*base, error)
	// try runs the command on an input, and judges its behaviour. base is the input before
	// it was damaged.
	try func(r *rand.Rand, b *base, m *mutation, data []byte) (*result, judgement, string)
}

// damage attacks a format by as many mutants as are asked for.
func (a *attack) damage(t target) error {
	started := time.Now()
	bases, err := t.bases(a.random(t.name, 0))
	if err != nil {
		fmt.Printf("%-34s skipped: %v\n", "mutants/"+t.name, err)
		return nil
	}
	for _, b := range bases {
		b.others = bases
		if res, j, reason := t.try(a.random(t.name, 0), b, &mutation{name: "no damage"}, b.data); j != whole && (!t.partly || j != warned) || res.crash() != "" {
			if res.code == 2 && strings.Contains(res.stderr, "not a format that is read") {
				text, _, _ := strings.Cut(res.stderr, "\n")
				_, text, _ = strings.Cut(text, "of the text): ")
				fmt.Printf("%-34s skipped: %s\n", "mutants/"+t.name, text)
				return nil
			}
			return fmt.Errorf("%s: the undamaged input is %s: %s %s%s", t.name, judgements[j], reason, res.crash(), res.stderr)
		}
	}
	counts := newTally("mutants/" + t.name)
	work := make(chan int)
	var wait panics.Group
	for range a.jobs {
		wait.Go(func() (err error) {
			for i := range work { // to the end also after a panic, as the sender waits
				err = cmp.Or(err, panics.Catch(func() error {
					counts.countJudgement(a.damageOnce(t, bases, i))
					return nil
				}))
			}
			return err
		})
	}
	for i := 1; i <= a.mutants && a.ctx.Err() == nil; i++ {
		work <- i
	}
	close(work)
	err = wait.Wait()
	counts.print(time.Since(started))
	return err
}

// rarely is in how many draws of a rare base one counts.
const rarely = 8

// damageOnce tries mutant number i.
func (a *attack) damageOnce(t target, bases []*base, i int) judgement {
	r := a.random(t.name, i)
	b := bases[0]
	if other := bases[r.IntN(len(bases))]; r.IntN(4) == 0 && (!other.rare || r.IntN(rarely) == 0) {
		b = other
	}
	m := &mutations[r.IntN(len(mutations))]
	for (m.recode || m.joined != notJoined) && !t.text {
		m = &mutations[r.IntN(len(mutations))]
	}
	data := m.damage(r, b.data, bases[r.IntN(len(bases))].data)
	if string(data) == string(b.data) {
		return harmless
	}
	res, j, reason := t.try(r, b, m, data)
	if crash := res.crash(); crash != "" {
		j, reason = wrong, crash
	}
	if a.ctx.Err() != nil {
		return harmless // it was killed
	}
	if j == wrong {
		what := fmt.Sprintf("mutant %d, %s", i, m.name)
		if res.shared {
			what += ", in a process with other runs"
		}
		a.note(t.name, what, reason, data, res)
	}
	return j
}

// random returns the source of randomness in attack i of a kind.
func (a *attack) random(kind string, i int) *rand.Rand {
	h := a.seed
	for _, c := range []byte(kind) {
		h = h*1099511628211 + uint64(c)
	}
	return rand.New(rand.NewPCG(h, uint64(i))) //nolint:gosec // it must be the same again
}

// shownMost is how many wrong runs of a kind are printed; all are kept.
const shownMost = 3

// note keeps the failure of a run, and prints it.
func (a *attack) note(kind, what, reason string, data []byte, res *result) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept++
	a.shown[kind]++
	name := filepath.Join(a.keep, fmt.Sprintf("%04d-%s", a.kept, strings.NewReplacer(" ", "-", "/", "-").Replace(kind)))
	os.WriteFile(name, data, 0o666)                                                                                                                 //nolint:errcheck // the counts are what matters
	os.WriteFile(name+".why", fmt.Appendf(nil, "seed %d, %s, %s\n%s\nexit code %d\n%s\n", a.seed, kind, what, reason, res.code, res.stderr), 0o666) //nolint:errcheck // as above
	if a.shown[kind] <= shownMost {
		fmt.Printf("WRONG %s, %s: %.160s\n  %s\n", kind, what, reason, name)
	}
}

// A tally counts judgements. It is safe for concurrent use.
type tally struct {
	name string
	mu   sync.Mutex
	of   [harmless + 1]int
}

func newTally(name string) *tally { return &tally{name: name} }

func (t *tally) countJudgement(j judgement) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of[j]++
}

func (t *tally) print(took time.Duration) {
	n := 0
	for _, count := range t.of {
		n += count
	}
	fmt.Printf("%-34s %8d %8d %8d %8d %8d %8d %8d  %.0f s\n", t.name, n, t.of[whole], t.of[unseen], t.of[warned], t.of[refused],
		t.of[harmless], t.of[wrong], took.Seconds())
}
