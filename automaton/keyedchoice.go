package automaton

// What keys cost a path, in nanoseconds: coarse, but enough to choose by.
const (
	searchCost = 5  // to search it for a byte of a set
	placeCost  = 7  // to look the keys up where that is
	shortCost  = 3  // a pattern that only has a short key, which is often found
	tryCost    = 12 // a pattern that has no key
)

// longCost is what a pattern with a long key costs, by shape.
var longCost = [len(keyShapes)]float64{0.2, 0.2, 0.3, 0.3, 0.6, 0.6}

// setCost is what looking for the bytes of a set costs: of 366,373 paths of a crawl, each has four '/', and four '-'; '=' and '?'
// are counted as they are where rules have them.
var setCost = func() (cost [len(delimiterSets)]float64) {
	for set := range cost {
		for _, b := range []byte(delimiterSets[set]) {
			often := 3.0
			switch b {
			case '/', '-':
				often = 4
			case '=', '?', '.', '_':
				often = 0.6
			}
			cost[set] += searchCost + placeCost*often
		}
	}
	return cost
}()

// A choices is a set of ways to look keys up: bit 8*set+shape.
type choices uint64

// setsOf are the sets that have a byte, a one in each one's byte of choices.
var setsOf = func() (sets [256]choices) {
	for set, all := range delimiterSets {
		for _, b := range []byte(all) {
			sets[b] |= 1 << (8 * set)
		}
	}
	return sets
}()

// shapesOf are the shapes of which a window has the long keys, and the short ones, by how many of its bytes are known before
// and behind its place: bit shape.
var shapesOf = func() (shapes [windowBefore + 1][windowSize - windowBefore]struct{ long, short choices }) {
	for before := range shapes {
		for behind := range shapes[before] {
			_, known := windowOf("12345678"[:before+1+behind], before, false)
			for i, s := range keyShapes {
				if s.next&^known == 0 || s.last&^known == 0 {
					shapes[before][behind].long |= 1 << i
				}
				if s.short&^known == 0 {
					shapes[before][behind].short |= 1 << i
				}
			}
		}
	}
	return shapes
}()

// chooseKeys returns the set and the shape of keys that are expected to cost paths least.
func chooseKeys(pats []ranked) (set, shape byte) {
	var cost [len(delimiterSets)][len(keyShapes)]float64
	for i := range pats {
		p := &pats[i]
		if p.End {
			continue // the end of the path has its key
		}
		long, short := p.choices()
		for set := range cost {
			for shape := range cost[set] {
				switch bit := choices(1) << (8*set + shape); {
				case long&bit != 0:
					cost[set][shape] += longCost[shape]
				case short&bit != 0:
					cost[set][shape] += shortCost
				default:
					cost[set][shape] += tryCost
				}
			}
		}
	}
	least := cost[0][0] + setCost[0]
	for i := range cost {
		for j, c := range cost[i] {
			if c += setCost[i]; c < least {
				set, shape, least = byte(i), byte(j), c
			}
		}
	}
	return set, shape
}

// choices returns in which ways a pattern without an end anchor has a long key, and a short one.
func (p *ranked) choices() (long, short choices) {
	p.segments(func(seg string, _ bool) {
		for i := range len(seg) {
			if sets := setsOf[seg[i]]; sets != 0 {
				s := &shapesOf[min(i, windowBefore)][min(len(seg)-1-i, windowSize-windowBefore-1)]
				long |= sets * s.long // the byte of each set gets the shapes
				short |= sets * s.short
			}
		}
	})
	return long, short
}
