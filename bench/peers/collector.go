package main

import "strings"

// A collector takes the rules of the groups for "*" from grobotstxt's parser, as that library's
// matcher does.
type collector struct {
	rules []pattern
	open  bool // the last lines were user agents
	ours  bool // one of them was "*"
}

type pattern struct {
	pattern string
	allow   bool
}

// HandleRobotsStart does nothing.
func (*collector) HandleRobotsStart() {}

// HandleRobotsEnd does nothing.
func (*collector) HandleRobotsEnd() {}

// HandleUserAgent begins a group, or goes on with its names.
func (c *collector) HandleUserAgent(_ int, name string) {
	star := name == "*" || strings.HasPrefix(name, "* ")
	c.open, c.ours = true, star || c.open && c.ours
}

// HandleAllow notes a rule, and for an index page the rule of its directory.
func (c *collector) HandleAllow(_ int, value string) {
	c.addRule(value, true)
	slash := strings.LastIndexByte(value, '/')
	if slash >= 0 && strings.HasPrefix(value[slash:], "/index.htm") {
		c.addRule(value[:slash+1]+"$", true)
	}
}

// HandleDisallow notes a rule.
func (c *collector) HandleDisallow(_ int, value string) { c.addRule(value, false) }

// HandleSitemap does nothing: it does not end the names of a group.
func (*collector) HandleSitemap(int, string) {}

// HandleUnknownAction does nothing: it does not end the names of a group.
func (*collector) HandleUnknownAction(int, string, string) {}

func (c *collector) addRule(value string, allow bool) {
	c.open = false
	if c.ours && value != "" {
		c.rules = append(c.rules, pattern{value, allow})
	}
}
