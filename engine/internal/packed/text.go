package packed

import (
	"encoding/binary"
	"fmt"
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
//	cleans      count of clean-param lines; of each the line, the parameters: count, and each;
//	            and the path
//
// [robots.File.Binding] finds the groups that bind an agent, and the selection of those groups has
// its rules. There is a selection for each list of groups that a product token, or none, can bind.
// A text with too many rules in its selections is stored verbatim instead, behind the form, and
// compiled for the agents when it is loaded.
const (
	formCompiled = iota
	formSource
)

// A selection is a set of groups that are merged.
type selection struct {
	groups []int
	ref    pack.Ref // of their rules
}

// mergedLimit is how many rules all selections of a text may have in all, as a multiple of those of
// the text, and mergedMin how many they may have at least. Of real robots.txt the most is 14 times
// (all tokens have their rules from groups of their own); a file made for it would have ten
// thousand times as many.
const (
	mergedLimit = 16
	mergedMin   = 20000
)

// selections returns the sets of groups that agents select. ok is false if they have too many rules
// in all.
func selections(f *robots.File) (all []selection, ok bool) {
	byToken := map[string][]int{}
	var star []int
	total := 0
	for i := range f.Groups {
		g := &f.Groups[i]
		total += len(g.Rules)
		for _, t := range g.Agents {
			token := foldToken(t)
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

// foldToken returns the token in lower case.
func foldToken(t robots.ProductToken) string {
	return strings.ToLower(string(t)) // a token is ASCII
}

// A packedText is a text on its way into a pack.
type packedText struct {
	key        captures.Key
	source     []byte // of formSource
	groups     []robots.Group
	selections []selection
	rules      [][]byte // the chunk of each selection
	cleans     robots.CleanParams
	odd        robots.Oddity
}

// packText compiles a text for all agents.
func packText(key captures.Key, body []byte, d robots.Dialect) (*packedText, error) {
	f := robots.Parse(body, d)
	t := &packedText{key: key, groups: f.Groups, cleans: rules.CleanParams(body, d), odd: robots.OddityOf(body, f)}
	var ok bool
	if t.selections, ok = selections(f); !ok {
		t.source = body
		return t, nil
	}
	for _, s := range t.selections {
		set, err := rules.CompileGroups(f, s.groups, d)
		if err != nil {
			return nil, err
		}
		t.rules = append(t.rules, set.AppendBinary(nil))
	}
	return t, nil
}

// appendBinary appends the text, whose rules are written.
func (t *packedText) appendBinary(dst []byte) []byte {
	dst = append(dst, t.key[:]...)
	if t.source != nil {
		return append(append(dst, formSource), t.source...)
	}
	dst = append(dst, formCompiled)
	dst = binary.AppendUvarint(dst, uint64(len(t.groups)))
	for i := range t.groups {
		g := &t.groups[i]
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
	dst = binary.AppendUvarint(dst, uint64(len(t.selections)))
	for _, s := range t.selections {
		dst = binary.AppendUvarint(dst, uint64(len(s.groups)))
		for _, i := range s.groups {
			dst = binary.AppendUvarint(dst, uint64(i))
		}
		dst = binary.AppendUvarint(dst, s.ref.Offset)
		dst = binary.AppendUvarint(dst, uint64(s.ref.Size))
	}
	dst = binary.AppendUvarint(dst, uint64(len(t.cleans)))
	for _, c := range t.cleans {
		dst = binary.AppendUvarint(dst, uint64(c.Line))
		dst = binary.AppendUvarint(dst, uint64(len(c.Params)))
		for _, p := range c.Params {
			dst = wire.AppendText(dst, p)
		}
		dst = wire.AppendText(dst, c.Path)
	}
	return dst
}

// errText is the error of a chunk whose checksum is right and which is no text all the same.
var errText = fmt.Errorf("%w (a text is not in its form)", pack.ErrDamaged)

// readKey returns the key of a text.
func readKey(c *wire.Cursor) (key captures.Key) {
	copy(key[:], c.Bytes(uint64(len(key))))
	return key
}

// readGroups returns the groups of a text, without their rules. Their tokens share the memory of
// one string.
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

// readSelections returns the selections of a text.
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

// readCleans returns the clean-param lines of a text, in the dialect.
func readCleans(c *wire.Cursor, d robots.Dialect) robots.CleanParams {
	n := c.Count()
	if n == 0 {
		return nil
	}
	all := make(robots.CleanParams, n)
	for i := range all {
		line := int32(c.Uvarint())
		params := make([]string, c.Count())
		for k := range params {
			params[k] = string(c.Text())
		}
		path := string(c.Text())
		if c.Bad() {
			return nil
		}
		all[i] = d.CleanParam(line, params, path)
	}
	return all
}
