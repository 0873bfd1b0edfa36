package passage

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/agents"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/load"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/internal/cli"
)

// A Side is rules that decide rows: those of a run, or those before, which it is compared with.
type Side struct {
	load.Rules
	Path  string // as they were named
	AsOf  string // the moment that was asked for; "" is none
	Opt   engine.StoreOptions
	File  string        // the name of the one robots.txt, if FindEither had to be told whose it is; "" if it had not
	Store *engine.Store // nil until the rules are loaded
}

// NewSide returns the rules that the flags name.
func NewSide(r *flags.Rules, q *flags.Question, faults *cli.Faults) *Side {
	s := &Side{Path: r.Path, AsOf: q.AsOf, Opt: q.Choose(faults)}
	s.AcceptDamage = r.AcceptDamage
	return s
}

// Before returns the rules before, for the same question as s.
func (s *Side) Before(o *flags.Old, faults *cli.Faults) *Side {
	old := &Side{Path: cmp.Or(o.Path, s.Path), AsOf: cmp.Or(o.AsOf, s.AsOf), Opt: s.Opt}
	old.Opt.Tokens, old.AcceptDamage = false, s.AcceptDamage
	if o.Path != "" {
		old.Flag = "-old"
	}
	if o.AsOf != "" {
		var err error
		old.Opt.AsOf, err = flags.ParseMoment(o.AsOf)
		old.Opt.RowTimes = false
		faults.Add("old-as-of", err)
	}
	return old
}

// FindOne finds the rules. A single robots.txt gets the origin origin, or else base.
func (s *Side) FindOne(origin, base string) error {
	err := s.Find(s.Path, origin)
	if errors.Is(err, rulefiles.ErrNoOrigin) && base != "" {
		err = s.Find(s.Path, base)
	}
	return err
}

// FindEither finds the rules of one of two sides. A single robots.txt gets the origin origin. Other rules ignore it, as it
// may be meant for the other side.
func (s *Side) FindEither(origin string) error {
	err := s.Find(s.Path, "")
	if errors.Is(err, rulefiles.ErrNoOrigin) && origin != "" {
		s.File = s.Path
		err = s.Find(s.Path, origin)
	}
	return err
}

// Load makes the rules ready, with temporary files in dir.
func (s *Side) Load(ctx context.Context, dir string, c *console.Console) (err error) {
	s.Store, err = s.Rules.Store(ctx, s.Opt, dir, c)
	return err
}

// Unload closes the rules that Load has opened.
func (s *Side) Unload() (err error) {
	if s.Store != nil {
		err = s.Store.Close()
	}
	return errors.Join(err, s.Close())
}

// warnMoment returns the warning that no robots.txt is as old as the moment that was asked for. named says whether
// the warning names the rules, as those of one of two sides.
func (s *Side) warnMoment(named bool) []warning.Warning {
	if s.AsOf == "" || s.Opt.RowTimes || s.Store.InForce() > 0 {
		return nil
	}
	text := "no robots.txt is as old as -as-of " + s.AsOf
	if named {
		text = fmt.Sprintf("no robots.txt of %s is as old as %s", say.File(s.Path), s.AsOf)
	}
	return []warning.Warning{{Code: warning.NoRulesThen, Text: text + "; that of a file is the time of its last change", Count: 1}}
}

// WarnAgents returns a warning if names of crawlers that are asked for may be misspelt.
func WarnAgents(opt *engine.StoreOptions, store *engine.Store) []warning.Warning {
	if !opt.Tokens {
		return nil
	}
	var named agents.Named
	named.Tokens, named.Complete = store.Tokens()
	return agents.Unclear(flags.AskedAgents(opt), opt.Dialect, named)
}
