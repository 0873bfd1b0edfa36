//go:build noidna

package robots

// appendIDN rejects names with characters beyond ASCII. The build tag noidna is for the module in a report, where the
// browser converts names: it saves the Unicode tables (0.3 MB).
func appendIDN(dst, _ []byte) ([]byte, error) { return dst, ErrHost }
