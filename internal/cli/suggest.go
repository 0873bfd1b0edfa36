package cli

import (
	"fmt"
	"slices"
	"strings"
)

// Hint adds to the error of a value the known one that may be meant, if there is one; nil stays
// nil.
func Hint(err error, value string, known []string) error {
	if near := Closest(value, known); err != nil && near != "" {
		return fmt.Errorf("%w; did you mean %s?", err, near)
	}
	return err
}

// HintOrMeant is Hint for words that people write for known ones, which meant has by these
// words: it knows no letters that two such words share.
func HintOrMeant(err error, value string, known []string, meant map[string]string) error {
	if word := meant[strings.ToLower(value)]; err != nil && word != "" {
		return fmt.Errorf("%w; did you mean %s?", err, word)
	}
	return Hint(err, value, known)
}

// Closest returns the known word that is most like the word: one that differs in a letter or two,
// or the only one that begins with it, or that it begins with. It returns "" if there is none.
func Closest(word string, known []string) string {
	word = strings.ToLower(word)
	best, least := "", min(2, max(1, len(word)/3))+1
	if len(word) < 3 {
		// For words of up to two letters: the only known one of two letters that
		// differs in one of them or in their order, or else the only one that begins with the word.
		var near, begun []string
		for _, k := range known {
			lower := strings.ToLower(k)
			if len(word) == 2 && len(k) == 2 && Distance(word, lower) < 2 {
				near = append(near, k)
			}
			if word != "" && (lower == word || strings.HasPrefix(lower, word)) {
				begun = append(begun, k)
			}
		}
		switch {
		case len(near) == 1:
			return near[0]
		case len(near) == 0 && len(begun) == 1:
			return begun[0]
		}
		return "" // two letters are like too many
	}
	var begun []string
	for _, k := range known {
		lower := strings.ToLower(k)
		if d := Distance(word, lower); d < least {
			best, least = k, d
		}
		if word != "" && (strings.HasPrefix(lower, word) || len(k) > 1 && strings.HasPrefix(word, lower)) {
			begun = append(begun, k)
		}
	}
	if best == "" && len(begun) == 1 {
		return begun[0]
	}
	return best
}

// Distance returns how many letters must be added, dropped, changed or swapped with their neighbour
// to make b of a.
func Distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			rows[i][j] = min(change, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// Choose returns the place of a value among the known ones. The error of any other says which kind
// of value it is.
func Choose(kind, value string, known []string) (int, error) {
	if i := slices.Index(known, value); i >= 0 {
		return i, nil
	}
	return 0, Hint(fmt.Errorf("unknown %s %q: use one of %s", kind, value, strings.Join(known, ", ")), value, known)
}
