package engine

import (
	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/robots"
)

// canonicalize fills b.Canonicals. It appends the URLs that lose parameters to b.Data.
func (e *Evaluator) canonicalize(b *Batch) {
	b.Canonicals = append(b.Canonicals, b.URLs...)
	last, params := rules.NoRobots, robots.CleanParams(nil)
	for i, id := range b.Rulings {
		if id == rules.NoRuling {
			b.Canonicals[i] = NoURL
			continue
		}
		if id != last {
			if last, params = id, nil; id != rules.NoRobots {
				params = e.reader.Ruling(id).Clean
			}
		}
		if len(params) > 0 {
			b.Canonicals[i] = b.clean(b.URLs[i], params, e.store.opt.Dialect)
		}
	}
}

// clean returns the span of a URL without the parameters of Clean-param.
func (b *Batch) clean(url Span, params robots.CleanParams, d robots.Dialect) Span {
	at := len(b.Data)
	b.Data = params.AppendCanonical(b.Data, b.Data[url.Off:url.Off+url.Len], d)
	if len(b.Data)-at == int(url.Len) { // nothing was cut
		b.Data = b.Data[:at]
		return url
	}
	return Span{uint32(at), uint32(len(b.Data) - at)}
}
