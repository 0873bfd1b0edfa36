package robots

// Dialects returns the names that [ParseDialect] takes, in the order that messages and help
// show them. The caller owns the list.
func Dialects() []string {
	names := make([]string, len(dialectNames))
	for i, n := range dialectNames {
		names[i] = n.name
	}
	return names
}
