//go:build noidna

package robots

// appendIDN refuses names with characters beyond ASCII. The tag noidna is for the module in the page
// of a report: it saves the tables of Unicode, 0.3 MB, as the browser converts names.
func appendIDN(dst, _ []byte) ([]byte, error) { return dst, ErrHost }
