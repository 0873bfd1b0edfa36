//go:build !amd64 || purego

package robots

// kept is keptGeneric for a form for URLs.
func (f *form) kept(s []byte) int { return f.keptGeneric(s) }
