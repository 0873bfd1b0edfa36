package load

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/robots"
)

// Warn prints the warnings about the files that were read; of a pack, those of the time when it was
// compiled.
func (r *Rules) Warn(c *console.Console) {
	for _, d := range r.noted {
		c.Warn(d)
	}
	for _, d := range r.warnings((*rulefiles.Damage).Error) {
		c.Warn(d)
	}
	c.Hint(r.BlankHint())
}

// BlankHint says that the one robots.txt has no rules; "" if it has some, or there are several.
func (r *Rules) BlankHint() string {
	if r.Odd() != robots.OddBlank {
		return ""
	}
	return "the robots.txt that " + r.flag() + " names is empty, or has comments only, so everything is allowed"
}

// flag returns the flag that names the rules.
func (r *Rules) flag() string { return cmp.Or(r.Flag, "-rules") }

// warnings returns the warnings about the files. show names the file of a damage, and the damage.
func (r *Rules) warnings(show func(*rulefiles.Damage) string) (warnings []warning.Warning) {
	if names := r.Left(); len(names) > 0 {
		text := "of the rules, " + say.Count(int64(len(names)), "name") + " of a robots.txt not read"
		warnings = append(warnings, warning.Warning{Code: warning.UnusedRules, Text: text, Count: int64(len(names)), Examples: names[:min(len(names), warning.Examples)]})
	}
	if names := r.Unclear(); len(names) > 0 {
		text := say.Count(int64(len(names)), "name") + " of rules files may begin with a scheme that is not known; taken for hosts as they are"
		warnings = append(warnings, warning.Warning{Code: warning.UnclearName, Text: text, Count: int64(len(names)), Examples: names[:min(len(names), warning.Examples)]})
	}
	if d, ok := brokenRecords(r.Problems()); ok {
		warnings = append(warnings, d)
	}
	if d, ok := damagedRules(r.Damages(), show); ok && r.AcceptDamage { // else it is an error
		warnings = append(warnings, d)
	}
	if odd := r.Odd(); odd.IsOdd() {
		text := "what " + r.flag() + " names is no robots.txt but " + warning.OddName(odd) + ": crawlers that get it find few rules in it, or none"
		warnings = append(warnings, warning.Warning{Code: warning.OddRobots, Text: text, Count: 1})
	}
	return warnings
}

// Notes returns the warnings about the files, for a pack of them. The bytes do not depend on
// where the files are, so examples with the names of directories are left out.
func (r *Rules) Notes() []byte {
	warnings := r.warnings(func(d *rulefiles.Damage) string { return filepath.Base(d.At.Name) + ": " + d.Lost() })
	if len(warnings) == 0 {
		return nil
	}
	for i := range warnings {
		if warnings[i].Code != warning.DamagedRules {
			warnings[i].Examples = nil
		}
	}
	text, err := json.Marshal(warnings)
	if err != nil {
		panic(err) // texts and numbers always have a form in JSON
	}
	return text
}

// ReadNotes keeps the notes of a pack for Warning.
func (r *Rules) ReadNotes(store *engine.Store) error {
	r.noted = nil
	notes := store.Notes()
	if len(notes) == 0 {
		return nil
	}
	if err := json.Unmarshal(notes, &r.noted); err != nil {
		return fmt.Errorf("read the notes of the rule pack %s: %w", say.File(r.Pack()), err)
	}
	for i := range r.noted {
		r.noted[i].Text = "when the pack was compiled: " + r.noted[i].Text
	}
	return nil
}

// brokenRecords returns the warning of broken records of captures, which are left out.
func brokenRecords(p rulefiles.Problems) (d warning.Warning, ok bool) {
	text := say.Count(p.Total, "broken record") + " of captures; each is left out, or counts as a failed fetch where only its content is broken"
	d = warning.Warning{Code: warning.BrokenRecords, Text: text, Count: p.Total}
	for _, record := range p.First[:min(len(p.First), warning.Examples)] {
		d.Examples = append(d.Examples, record.Error())
	}
	return d, p.Total > 0
}

// damagedRules returns the warning about damaged files of captures. show names the file of a damage,
// and the damage.
func damagedRules(damages []*rulefiles.Damage, show func(*rulefiles.Damage) string) (d warning.Warning, ok bool) {
	var unread, missing int64
	for i, damage := range damages {
		unread, missing = unread+damage.Unread, missing+damage.Missing
		if i < warning.Examples {
			d.Examples = append(d.Examples, show(damage))
		}
	}
	d.Code, d.Count = warning.DamagedRules, int64(len(damages))
	gone := "how many bytes are missing is unknown"
	if missing > 0 {
		gone = say.Count(missing, "byte") + " or more are missing"
	}
	if unread > 0 {
		gone = "not used: the last " + say.Count(unread, "byte") + "; " + gone
	}
	d.Text = fmt.Sprintf("rules are missing: %s of captures could not be read to the end; %s", say.Count(d.Count, "file"), gone)
	return d, len(damages) > 0
}
