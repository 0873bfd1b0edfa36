package waste

import "bytes"

// Cleaned are the names of parameters that Clean-param lines take away. The zero value has none.
type Cleaned struct{ names map[string]bool }

// AddURL adds those of a URL that it has not without them.
func (c *Cleaned) AddURL(url, canonical []byte) {
	_, query, _ := bytes.Cut(url, []byte("?"))
	_, left, _ := bytes.Cut(canonical, []byte("?"))
	for param := range bytes.SplitSeq(query, []byte("&")) {
		if bytes.HasPrefix(left, param) && (len(left) == len(param) || left[len(param)] == '&') {
			left = left[min(len(left), len(param)+1):]
			continue
		}
		if name, _, _ := bytes.Cut(param, []byte("=")); len(c.names) < mostNames {
			if c.names == nil {
				c.names = map[string]bool{}
			}
			c.names[string(name)] = true
		}
	}
}

// duplicates count the URLs of a site that are others for its Clean-param lines.
type duplicates struct {
	tally
	names map[string]int64 // requests by parameter
}

// addDuplicate counts a URL.
func (d *duplicates) addDuplicate(v *Visit, cleaned *Cleaned, pairs []pair) {
	d.addVisit(v)
	for i := range pairs {
		if cleaned.names[string(pairs[i].name)] {
			countName(&d.names, string(pairs[i].name), v.requests())
		}
	}
}

// end returns the space, if there is one, and empties the finder.
func (d *duplicates) end() (found []*Space) {
	if d.urls >= leastURLs {
		names, rules := frequent(d.names, 3), []string(nil)
		for _, name := range names {
			rules = append(rules, (&Parameter{Name: name}).Rules()...)
		}
		one := d.space(Duplicates, names, rules)
		one.InQuery = true
		found = append(found, one)
	}
	d.clear()
	clear(d.names)
	return found
}
