package weblog

// DetectLines is how many lines vote for a format.
const DetectLines = 32

// Detect returns the format that lines, the first DetectLines of a log, look like. It is URLs if
// nothing is recognised. opt says which column of a table would hold the URL.
func Detect(lines [][]byte, opt Options) Format {
	if len(lines) == 0 {
		return URLs
	}
	for _, f := range formats {
		if f.header != nil && f.header(lines, opt) {
			return f.name
		}
	}
	best, most := URLs, 0
	for _, f := range formats {
		votes := 0
		for _, line := range lines {
			if f.line != nil && f.line(line) {
				votes++
			}
		}
		if votes > most {
			best, most = f.name, votes
		}
	}
	return best
}
