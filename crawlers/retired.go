package crawlers

import (
	_ "embed" // the tokens
	"strings"
)

//go:embed retired.tsv
var retiredText string

// A Retired is a product token that its operator no longer uses.
type Retired struct {
	Token    string
	Operator string
	Now      []string // the tokens that the operator uses now
	Source   string   // URL of the operator's page that names those
	Checked  string   // when that was last looked at, as in 2026-01-31
}

// retired are the tokens of retired.tsv, by their lower case.
var retired = func() map[string]Retired {
	all := map[string]Retired{}
	for line := range strings.SplitSeq(retiredText, "\n") {
		f := strings.Split(line, "\t")
		if len(f) < 5 || strings.HasPrefix(line, "#") || f[0] == "token" {
			continue
		}
		all[strings.ToLower(f[0])] = Retired{f[0], f[1], strings.Split(f[2], ","), f[3], f[4]}
	}
	return all
}()

// LookupRetired returns the retired product token, in any case, and whether it is one. One that
// [Add] has added is none.
func LookupRetired(token string) (Retired, bool) {
	r, ok := retired[strings.ToLower(token)]
	if _, own := Lookup(token); own {
		return Retired{}, false
	}
	return r, ok
}
