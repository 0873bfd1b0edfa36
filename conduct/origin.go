package conduct

import (
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/wire"
)

// An origin is the facts about an origin that judging its crawlers needs. fetched is by crawler.
type origin struct {
	name    string
	first   int64 // when anybody first asked it for anything; NoTime if nobody did
	reigns  []reign
	fetched map[string]answersOf
}

// A reign is a period of an origin, and its meaning for changes of the text.
type reign struct {
	from   int64 // NoTime if nobody knows
	isText bool  // a text is in force
	change int   // 1 + the period whose text this is, if that took the place of another ruling; 0 is none
}

// appendReigns appends the reigns of the periods of an origin. A change needs two rulings whose times are known. So
// none is seen before the first capture, at failed fetches, and beside a capture or a file without the time of a fetch.
func appendReigns(dst []reign, periods []engine.Stretch) []reign {
	last, change := engine.RulingID(0), 0
	for n, p := range periods {
		_, isText := p.ID.Text()
		switch {
		case !p.IsKnown:
		case !p.HasTime:
			last, change, p.From = 0, 0, NoTime
		default:
			if last != 0 && p.ID != last {
				change = 0
				if isText {
					change = n + 1
				}
			}
			last = p.ID
		}
		r := reign{from: p.From, isText: isText}
		if isText {
			r.change = change
		}
		dst = append(dst, r)
	}
	return dst
}

// readOrigin reads the payload of an item of an origin into o, which has a part of it or nothing.
func (o *origin) readOrigin(payload []byte) error {
	c := wire.NewCursor(payload)
	o.first = earlier(o.first, c.Varint())
	reigns := make([]reign, c.Count())
	for i := range reigns {
		reigns[i].from = c.Varint()
		reigns[i].isText = c.Byte() == 1
		reigns[i].change = int(c.Uvarint())
	}
	if len(reigns) > 0 {
		o.reigns = reigns
	}
	if !c.AtEnd() {
		return errItem
	}
	return nil
}
