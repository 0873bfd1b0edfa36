package conduct

import (
	"encoding/binary"

	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/wire"
	"github.com/robobatch/robobatch/robots"
)

// appendDetail appends the detail that Request.readDetail reads. Requests of one moment are in order of their details, so
// the URL stands first.
func (j *Journal) appendDetail(dst []byte, b *engine.Batch, row int) []byte {
	clients := b.Clients
	if j.opt.Client > 0 {
		clients = b.Kept[j.opt.Client-1].Texts
	}
	dst = wire.AppendText(dst, b.URL(row))
	for _, texts := range [...][]engine.Span{clients, b.UserAgents} {
		if len(texts) == 0 || texts[row] == engine.NoURL {
			dst = append(dst, 0)
		} else {
			dst = wire.AppendText(append(dst, 1), b.Piece(texts[row]))
		}
	}
	status, _ := keptInt(b, row, j.opt.Status)
	dst = binary.AppendVarint(dst, status)
	verified := ranges.Null
	if len(b.Verified) > 0 {
		verified = b.Verified[row]
	}
	var rule robots.Rule
	var text string
	if n := b.Verdicts[row].Rule; n != engine.NoRule {
		rule = j.lookup.Rule(b.Rulings[row], int(b.Agents[row]), n)
		text = rule.String()
	}
	return wire.AppendText(binary.AppendVarint(append(dst, byte(verified)), int64(rule.Line)), text)
}
