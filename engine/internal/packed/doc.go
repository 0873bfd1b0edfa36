// Package packed keeps rules in packs: it writes a pack of compiled rules, and opens one as a
// [rules.Store], with or without a memory limit. It hides how a text is laid out in a pack, when
// rules are loaded and dropped, and which captures decide. Only package engine imports it.
package packed
