package weblog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// columns are the indices of the fields that make a row; -1 for fields that the header does not
// name.
type columns struct {
	url, host, scheme, port, agent, client, time, clock int
	keep                                                []int
}

// all returns all indices.
func (c *columns) all() []*int {
	all := make([]*int, 0, 8+len(c.keep))
	all = append(all, &c.url, &c.host, &c.scheme, &c.port, &c.agent, &c.client, &c.time, &c.clock)
	for i := range c.keep {
		all = append(all, &c.keep[i])
	}
	return all
}

// A header is the names of the fields of a log, in their order.
type header []string

// find returns the first column that has one of the names, -1 if none has. Case does not count.
func (h header) find(names ...string) int {
	for _, name := range names {
		for i, have := range h {
			if strings.EqualFold(have, name) {
				return i
			}
		}
	}
	return -1
}

// placesIn returns where each name is in a record of the same names in any order, and in any case. It is nil if the
// record has others.
func (h header) placesIn(record [][]byte) []int {
	if len(record) != len(h) {
		return nil
	}
	places := make([]int, 0, len(h))
	for _, name := range h {
		for i, have := range record {
			have = bytes.TrimSpace(bytes.TrimPrefix(have, []byte(byteOrderMark)))
			if strings.EqualFold(string(have), name) && !slices.Contains(places, i) {
				places = append(places, i)
				break
			}
		}
	}
	if len(places) < len(h) {
		return nil
	}
	return places
}

// locate finds the columns by their names, and the first values. The error is ErrNoField for those
// that were named, and are missing.
func (h header) locate(opt Options, first sample) (columns, error) {
	c := columns{
		url:    h.find(candidates(nameURL, opt.URL)...),
		host:   h.find(candidates(NameHost, opt.Host)...),
		scheme: h.find(known[nameScheme]...),
		port:   h.find(known[namePort]...),
		agent:  first.column(h, NameAgent, candidates(NameAgent, opt.Agent)),
		client: -1,
		time:   first.column(h, NameTime, candidates(NameTime, opt.Time)),
		clock:  -1,
	}
	for _, chosen := range []string{opt.URL, opt.Host, opt.Agent, opt.Time} {
		if chosen != "" && h.find(chosen) < 0 {
			return c, noField(chosen, h)
		}
	}
	if opt.Clients {
		if c.client = first.column(h, NameClient, candidates(NameClient, opt.Client)); c.client < 0 {
			return c, noClient(opt.Client, h)
		}
	}
	for _, name := range opt.Keep {
		i := first.column(h, name, toKeep(name))
		if i < 0 && !opt.MayLack(name) {
			return c, noField(name, h)
		}
		c.keep = append(c.keep, i)
	}
	return c, nil
}

// noClient returns the error of a header without a field for the client's address: the one that was named, or
// any that is known.
func noClient(named string, have []string) error {
	if named != "" {
		return noField(named, have)
	}
	return fmt.Errorf("%w: there are %s", ErrNoClients, listed(have))
}

// at returns field i, nil if there is none.
func at(fields [][]byte, i int) []byte {
	if i < 0 || i >= len(fields) {
		return nil
	}
	return fields[i]
}

// cutFields splits a line at sep and appends its fields to dst.
func cutFields(dst [][]byte, line []byte, sep byte) [][]byte {
	for {
		i := bytes.IndexByte(line, sep)
		if i < 0 {
			return append(dst, line)
		}
		dst = append(dst, line[:i:i])
		line = line[i+1:]
	}
}
