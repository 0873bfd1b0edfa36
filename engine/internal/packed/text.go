package packed

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/internal/captures"
	"github.com/robobatch/robobatch/internal/pack"
	"github.com/robobatch/robobatch/internal/wire"
	"github.com/robobatch/robobatch/robots"
)

// A text of a pack is a chunk:
//
//	key         16 bytes
//	form        1 byte: formCompiled or formSource
//	groups      count; of each 1 byte: 1 if it is for "*"; its product tokens: count, and each
//	            as written
//	selections  count; of each the numbers of the groups that are merged: count, and each;
//	            then the place of a chunk of rules: offset and size
//	essence     length and bytes, with formReadings
//	notes       count of directives; of each its key, its groups: a form of 1 byte, and with
//	            ownGroups as above; and its lines: count, and of each the line, 1 + the number of its
//	            group, and the value
//
// [robots.File.Binding] finds the groups that bind an agent, and the selection of these groups has the agent's
// rules. There is a selection for each list of groups that can bind a crawler with some product token, or a crawler
// that no group names. If some crawler may read a text differently than the dialect does, the text has the form
// formReadings and an essence: see [rules.Readings]. A text with too many rules in its selections is stored
// verbatim after the form, and compiled for the agents when it is loaded.
const (
	formCompiled = iota
	formSource
	formReadings
)

// The forms of the groups of notes.
const (
	noGroups    = iota // the directive binds all crawlers
	rulesGroups        // the same groups as for the rules, which is nearly always the case
	ownGroups
)

// A selection is a set of groups that apply together.
type selection struct {
	groups []int
	ref    pack.Ref // of their rules
}

// mergedLimit is the maximum number of rules in all selections of a text, as a multiple of the rules of the text,
// and mergedMin is a number of rules that is always accepted. The largest multiple in a real robots.txt is 14 (each
// token has its rules from its own groups); a hostile file can reach ten thousand.
const (
	mergedLimit = 16
	mergedMin   = 20000
)

// selections returns the lists of groups that apply to some crawler, sorted: one for each product token and one for
// "*", equal lists once. ok is false if they have too many rules in total. The rules are not compiled yet.
func selections(f *robots.File) (all []selection, ok bool) {
	byToken := map[string][]int{}
	var star []int
	total := 0
	for i := range f.Groups {
		g := &f.Groups[i]
		total += len(g.Rules)
		for _, t := range g.Agents {
			token := strings.ToLower(string(t))
			if list := byToken[token]; len(list) == 0 || list[len(list)-1] != i {
				byToken[token] = append(list, i)
			}
		}
		if g.Star {
			star = append(star, i)
		}
	}
	lists := make([][]int, 0, len(byToken)+1)
	for _, list := range byToken {
		lists = append(lists, list)
	}
	if len(star) > 0 {
		lists = append(lists, star)
	}
	slices.SortFunc(lists, slices.Compare)
	lists = slices.CompactFunc(lists, slices.Equal)
	limit := max(mergedMin, mergedLimit*total)
	for _, list := range lists {
		for _, i := range list {
			limit -= len(f.Groups[i].Rules)
		}
		all = append(all, selection{groups: list})
	}
	return all, limit >= 0
}

// A packedText is a text that is being written to a pack.
type packedText struct {
	key        captures.Key
	source     []byte // with formSource
	essence    []byte // with formReadings
	groups     []robots.Group
	selections []selection
	rules      [][]byte // the chunk of each selection
	notes      []robots.Notes
	odd        robots.Oddity
}

// packText compiles a text for all possible agents. A text with too many rules in its selections is kept as written.
// The result may keep body.
func packText(key captures.Key, body []byte, d robots.Dialect) (*packedText, error) {
	f := robots.Parse(body, d)
	t := &packedText{key: key, groups: f.Groups, notes: robots.NotesOf(body, d, robots.Directives()), odd: robots.OddityOf(body, f)}
	var ok bool
	if t.selections, ok = selections(f); !ok {
		t.source = body
		return t, nil
	}
	t.essence = rules.Essence(body, f, d)
	for _, s := range t.selections {
		set, err := rules.CompileGroups(f, s.groups, d)
		if err != nil {
			return nil, err
		}
		t.rules = append(t.rules, set.AppendBinary(nil))
	}
	return t, nil
}

// appendBinary appends the encoded text, without its rules, which must have been written already: the selections have
// their places.
func (t *packedText) appendBinary(dst []byte) []byte {
	dst = append(dst, t.key[:]...)
	if t.source != nil {
		return append(append(dst, formSource), t.source...)
	}
	form := byte(formCompiled)
	if t.essence != nil {
		form = formReadings
	}
	dst = appendGroups(append(dst, form), t.groups)
	dst = binary.AppendUvarint(dst, uint64(len(t.selections)))
	for _, s := range t.selections {
		dst = binary.AppendUvarint(dst, uint64(len(s.groups)))
		for _, i := range s.groups {
			dst = binary.AppendUvarint(dst, uint64(i))
		}
		dst = binary.AppendUvarint(dst, s.ref.Offset)
		dst = binary.AppendUvarint(dst, uint64(s.ref.Size))
	}
	if t.essence != nil {
		dst = wire.AppendText(dst, t.essence)
	}
	dst = binary.AppendUvarint(dst, uint64(len(t.notes)))
	for i := range t.notes {
		n := &t.notes[i]
		switch dst = wire.AppendText(dst, n.Directive); {
		case len(n.Groups) == 0:
			dst = append(dst, noGroups)
		case slices.EqualFunc(n.Groups, t.groups, func(a, b robots.Group) bool { return a.Star == b.Star && slices.Equal(a.Agents, b.Agents) }):
			dst = append(dst, rulesGroups)
		default:
			dst = appendGroups(append(dst, ownGroups), n.Groups)
		}
		dst = binary.AppendUvarint(dst, uint64(len(n.Lines)))
		for _, note := range n.Lines {
			dst = binary.AppendUvarint(dst, uint64(note.Line))
			dst = binary.AppendUvarint(dst, uint64(note.Group+1))
			dst = wire.AppendText(dst, note.Value)
		}
	}
	return dst
}

// appendGroups appends groups without their rules: whether they are for "*", and their product tokens. readGroups reads
// them.
func appendGroups(dst []byte, groups []robots.Group) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(groups)))
	for i := range groups {
		g := &groups[i]
		star := byte(0)
		if g.Star {
			star = 1
		}
		dst = append(dst, star)
		dst = binary.AppendUvarint(dst, uint64(len(g.Agents)))
		for _, a := range g.Agents {
			dst = wire.AppendText(dst, a)
		}
	}
	return dst
}

// errText is the error of an invalid text whose checksum is correct.
var errText = fmt.Errorf("%w (a text is invalid)", pack.ErrDamaged)

// readKey returns the key of a text.
func readKey(c *wire.Cursor) (key captures.Key) {
	copy(key[:], c.Bytes(uint64(len(key))))
	return key
}

// readGroups returns the groups of a text, without their rules, in a File that has nothing else. It copies their
// tokens. c is bad if they are invalid.
func readGroups(c *wire.Cursor) (f robots.File) {
	f.Groups = make([]robots.Group, c.Count())
	for i := range f.Groups {
		g := &f.Groups[i]
		g.Star = c.Byte() == 1
		if n := c.Count(); n > 0 {
			g.Agents = make([]robots.ProductToken, n)
		}
		for k := range g.Agents {
			g.Agents[k] = robots.ProductToken(c.Text())
		}
	}
	return f
}

// readSelections returns the selections of a text. c is bad if they are invalid.
func readSelections(c *wire.Cursor) []selection {
	all := make([]selection, c.Count())
	for i := range all {
		s := &all[i]
		s.groups = make([]int, c.Count())
		for k := range s.groups {
			s.groups[k] = int(c.Uvarint())
		}
		s.ref.Offset = c.Uvarint()
		size := c.Uvarint()
		if s.ref.Size = uint32(size); uint64(s.ref.Size) != size {
			c.Fail()
		}
	}
	return all
}

// readNotes returns the notes of these directives in a text with these groups, and skips all others. After invalid
// notes, c is bad and the result nil.
func readNotes(c *wire.Cursor, groups []robots.Group, directives []robots.Directive) (all []robots.Notes) {
	for range c.Count() {
		n := robots.Notes{Directive: robots.Directive(c.Text())}
		switch c.Byte() {
		case noGroups:
		case rulesGroups:
			n.Groups = groups
		case ownGroups:
			n.Groups = readGroups(c).Groups
		default:
			c.Fail()
		}
		n.Lines = make([]robots.Note, c.Count())
		for i := range n.Lines {
			line, group := c.Uvarint(), c.Uvarint()
			if line > math.MaxInt32 || group > uint64(len(n.Groups)) {
				c.Fail()
			}
			n.Lines[i] = robots.Note{Line: int32(line), Group: int(group) - 1, Value: string(c.Text())}
		}
		if c.Bad() {
			return nil
		}
		if slices.Contains(directives, n.Directive) {
			all = append(all, n)
		}
	}
	return all
}
