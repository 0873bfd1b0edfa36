package waste

import (
	"cmp"
	"slices"

	"github.com/zeebo/xxh3"
)

// groups count how many different members groups have, both by hash. Beyond mostMembers they keep the groups alone whose
// hash begins with some zeros: those have all their members. The zero value is empty.
type groups struct {
	all   []member
	zeros int // that the hash of a group begins with
}

// A member is one of a group.
type member struct{ group, hash uint64 }

// mostMembers is how many members groups have, in 512 KiB.
const mostMembers = 1 << 15

// addMember adds a member. Each may come again.
func (g *groups) addMember(group, hash uint64) {
	if group>>(64-g.zeros) != 0 {
		return
	}
	if g.all = append(g.all, member{group, hash}); len(g.all) < mostMembers {
		return
	}
	for g.settle(); len(g.all) > mostMembers/2; {
		g.zeros++
		g.all = slices.DeleteFunc(g.all, func(m member) bool { return m.group>>(64-g.zeros) != 0 })
	}
}

// settle sorts the members, and leaves each once.
func (g *groups) settle() {
	slices.SortFunc(g.all, func(a, b member) int { return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.hash, b.hash)) })
	g.all = slices.Compact(g.all)
}

// large returns the groups that have so many members, how many these are in all, and how many all groups have: as many as
// there are for each that is kept.
func (g *groups) large(least int) (found []uint64, members, all int64) {
	g.settle()
	for from := 0; from < len(g.all); {
		to := from + 1
		for to < len(g.all) && g.all[to].group == g.all[from].group {
			to++
		}
		if to-from >= least {
			found, members = append(found, g.all[from].group), members+int64(to-from)
		}
		from = to
	}
	return found, members << g.zeros, int64(len(g.all)) << g.zeros
}

// clear empties them.
func (g *groups) clear() { g.all, g.zeros = g.all[:0], 0 }

// hashOf returns a hash of a text.
func hashOf(text []byte) uint64 { return xxh3.Hash(text) }
