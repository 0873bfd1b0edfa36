package report

import (
	"math"
	"strconv"
	"strings"
)

// shareError returns the standard error of the share of the verdicts of some rows that deny, told of which are
// estimated, with such a variance. 0 is exact.
//
// Both numbers are estimates from one sample, so their errors are not independent: by the linear approximation of a
// ratio (Cochran, Sampling Techniques, 3rd edition, section 6.4), its variance is that of the sum over the sample of the
// weight times (what a row has - the share), divided by the square of the rows. A row has from 0 to 1 of its verdicts
// that deny, and so at most p(1-share)² + (1-p)share² in the mean, where p is the share of the estimated rows alone. If all
// rows are estimated, p is the share, and this is share(1-share). Otherwise the rows that were counted one by one leave
// a range to p, of whose ends the worse one counts.
//
// As in [rowsError], a row more may be missing.
func shareError(level uint8, rows, told int64, share, variance float64) float64 {
	low, high := 0.0, 1.0 // of p
	if ratio := float64(rows) / float64(max(1, told)); told > 0 {
		low, high = max(0, 1-(1-share)*ratio), min(1, share*ratio)
	}
	of := func(p float64) float64 { return p*(1-share)*(1-share) + (1-p)*share*share }
	worst := max(share, 1-share)
	return math.Sqrt(max(0, variance)*max(of(low), of(high))+worst*worst*missing(level)) / float64(max(1, rows))
}

// OfText returns Of as the page shows it. The number of all requests is exact, so the error is that of Requests.
func (p *Path) OfText() string {
	return portion(p.Of, p.Of*(1+float64(p.Missed)/float64(max(1, p.Requests))), p.Of*p.Error)
}

// ShareText returns Share as the page shows it: all of the rows that may be missing, or none, may be disallowed.
func (p *Path) ShareText() string {
	rows, missed := float64(max(1, p.Requests)), float64(p.Missed)
	return portion(p.Share*rows/(rows+missed), (p.Share*rows+missed)/(rows+missed), p.ShareError)
}

// OfText returns OfAll as the page shows it.
func (r *Rest) OfText() string { return portion(r.OfAll, r.OfAll, r.OfAll*r.Error) }

// ShareText returns Share as the page shows it.
func (r *Rest) ShareText() string { return portion(r.Share, r.Share, r.ShareError) }

// portion returns a share that lies in a range, with how wrong an estimate with such a standard error may be, in 19 of
// 20 cases; without that if it reads the same whatever it is.
func portion(from, to, err float64) string {
	text, upper := percent(from), percent(to)
	if percent(max(0, from-2*err)) == percent(min(1, to+2*err)) {
		return text
	}
	if upper != text {
		text = strings.TrimSuffix(text, "%") + "–" + upper
	}
	if err == 0 {
		return text
	}
	digits, points := 2, max(0.01, min(100, 200*err))
	if points >= 10 {
		digits = 0
	} else if points >= 1 {
		digits = 1
	}
	return "~" + text + " ±" + strconv.FormatFloat(points, 'f', digits, 64) + " points"
}
