package report

import (
	"github.com/robobatch/robobatch/report/internal/paths"
	"github.com/robobatch/robobatch/report/internal/show"
)

// A pathView is a path as the page shows it.
type pathView struct {
	*paths.Path
	Share float64 // of its verdicts that are disallowed
	Of    float64 // share of the requests of all paths
	By    string  // the rule that denied most of these; "" means none
	Below []pathView
	Rest  *restView // the rest that is not shown; nil if that is nothing
}

// A restView is the part of a path that is not shown below it.
type restView struct {
	*paths.Rest
	Share, Of float64
}

// pathView returns a path and those below it, of so many requests in all.
func (c *Counter) pathView(p *paths.Path, all int64) pathView {
	verdicts := int64(c.verdicts)
	v := pathView{Path: p, Share: show.Share(p.Denied, p.Requests*verdicts), Of: show.Share(p.Requests, all)}
	if p.Rule >= 0 {
		v.By = c.nameOf(p.Rule)
	}
	for _, below := range p.Below {
		v.Below = append(v.Below, c.pathView(below, all))
	}
	if rest := p.Rest(); rest != nil {
		v.Rest = &restView{rest, show.Share(rest.Denied, rest.Requests*verdicts), show.Share(rest.Requests, all)}
	}
	return v
}
