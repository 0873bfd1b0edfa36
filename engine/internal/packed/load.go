package packed

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/internal/captures"
	"github.com/robobatch/robobatch/internal/pack"
	"github.com/robobatch/robobatch/internal/wire"
	"github.com/robobatch/robobatch/robots"
)

// loadText loads the rules of a text, and counts the load. It does not keep them. After an error, which Err returns, it
// returns l.broken.
func (l *loader) loadText(number int) *rules.Ruling {
	b := l.buffers.Get().(*buffer)
	defer l.buffers.Put(b)
	r, err := l.readRules(number, b)
	if err != nil {
		l.fail(err)
		return l.broken
	}
	l.loads.Add(1)
	if bit := uint64(1) << (number % 64); l.counted[number/64].Or(bit)&bit == 0 { // not loaded before
		l.Misread.AddText(number, r.Misread)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.memory.Add(r)
		l.size += r.Size
	}
	return r
}

// Key returns the key of a text, which it reads from the pack. It is zero after an error.
func (l *loader) Key(text int) (key captures.Key) {
	b := l.buffers.Get().(*buffer)
	defer l.buffers.Put(b)
	var err error
	if b.text, err = l.file.Text(b.text[:0], text); err != nil {
		l.fail(err)
		return key
	}
	c := wire.NewCursor(b.text)
	return readKey(&c)
}

// readRules reads the compiled rules of a text from the pack, or compiles a text that is stored as written. b is
// working memory.
func (l *loader) readRules(number int, b *buffer) (r *rules.Ruling, err error) {
	if b.text, err = l.file.Text(b.text[:0], number); err != nil {
		return nil, err
	}
	c := wire.NewCursor(b.text)
	readKey(&c)
	switch form := c.Byte(); {
	case form == formSource && !c.Bad():
		return rules.CompileText(c.Rest(), &l.Options)
	case form == formCompiled, form == formReadings:
		return l.decodeText(&c, b, form == formReadings)
	}
	return nil, errText
}

// decodeText decodes a compiled text, with or without an essence, and loads for each agent the rules of the groups that
// bind it. c is at the groups. The Ruling keeps no memory of c.
func (l *loader) decodeText(c *wire.Cursor, b *buffer, hasEssence bool) (*rules.Ruling, error) {
	groups := readGroups(c)
	all := readSelections(c)
	var essence []byte
	if hasEssence {
		essence = bytes.Clone(c.Text())
	}
	var notes []robots.Notes
	if len(l.Directives) > 0 {
		notes = readNotes(c, groups.Groups, l.Directives)
	}
	if c.Bad() || len(l.Directives) > 0 && !c.AtEnd() {
		return nil, errText
	}
	load := func(bound []int) (*rules.Set, error) {
		if len(bound) == 0 {
			return rules.NoGroup, nil
		}
		i := slices.IndexFunc(all, func(s selection) bool { return slices.Equal(s.groups, bound) })
		if i < 0 {
			return nil, fmt.Errorf("%w: no rules for an agent", errText)
		}
		return l.loadSet(b, all[i].ref)
	}
	sets, err := rules.ForAgents(&groups, l.Agents, func(_ robots.Agent, bound []int) (*rules.Set, error) { return load(bound) })
	if err != nil {
		return nil, err
	}
	r := rules.NewRuling(sets)
	r.SetNotes(notes, l.Dialect)
	r.SetChoices(&groups, &l.Options)
	err = r.FindMisread(&groups, &l.Options, func(bound []int) ([]robots.Rule, error) {
		s, err := load(bound)
		if err != nil {
			return nil, err
		}
		return s.Rules(), nil
	})
	if err != nil {
		return nil, err
	}
	if err := r.SetOthers(&groups, essence, &l.Options, load); err != nil {
		return nil, err
	}
	r.SetNamed(&groups, &l.Options, func(lists [][]int) func(list int) (*rules.Set, error) { return l.newNamedLoader(all, lists) })
	return r, r.SetPreferences(&l.Options)
}

// newNamedLoader returns a function that loads the rules of one of the lists of groups, by its index. Each list must be
// among the selections, which are sorted by their groups; if it is not, the function returns an error.
func (l *loader) newNamedLoader(all []selection, lists [][]int) func(list int) (*rules.Set, error) {
	refs := make([]pack.Ref, len(lists))
	for i, list := range lists {
		n, ok := slices.BinarySearchFunc(all, list, func(s selection, list []int) int { return slices.Compare(s.groups, list) })
		if ok {
			refs[i] = all[n].ref
		}
	}
	return func(list int) (*rules.Set, error) {
		if refs[list].Size == 0 {
			return nil, fmt.Errorf("%w: no rules for an agent", errText)
		}
		b := l.buffers.Get().(*buffer)
		defer l.buffers.Put(b)
		return l.loadSet(b, refs[list])
	}
}

// loadSet loads the rules of a selection. b is working memory.
func (l *loader) loadSet(b *buffer, ref pack.Ref) (_ *rules.Set, err error) {
	if b.rules, err = l.file.Chunk(b.rules[:0], ref); err != nil {
		return nil, err
	}
	return rules.DecodeSet(b.rules)
}
