package robots

import (
	"strings"

	"github.com/dunglas/httpsfv"
)

// usage looks at the value of a Content-Usage line.
func (in *inspector) usage(l *line) {
	path, statement := cutPath(l.value)
	dictionary, err := httpsfv.UnmarshalDictionary([]string{strings.TrimLeft(statement, " \t")})
	switch {
	case err == nil:
		in.usageKeys(l, dictionary)
	case path == "" && strings.HasPrefix(l.value, "*"):
		in.note(l.num, codeBadUsage, "a path starts with /, so this is none, and says nothing: write /*")
	case lowerText(statement) != statement:
		in.note(l.num, codeBadUsage, "it cannot be read, so it says nothing: keys are in lower case")
	default:
		in.note(l.num, codeBadUsage, "it cannot be read, so it says nothing: write as in train-ai=n, search=y")
	}
}

// usageKeys looks at the keys of a Content-Usage line, and at their values.
func (in *inspector) usageKeys(l *line, dictionary *httpsfv.Dictionary) {
	for _, key := range dictionary.Names() {
		switch key {
		case "train-ai", "search":
			if usageOf(dictionary, key) == Unstated {
				in.note(l.num, codeUnknownUsage, "the value of %s is neither y nor n, so it says nothing", key)
			}
		case "bots", "ai-output", "train-genai", "ai", "tdm", "all":
			in.note(l.num, codeUnknownUsage, "%s is a label of earlier drafts, and says nothing now", key)
		case "ai-train", "ai-input":
			in.note(l.num, codeUnknownUsage, "%s is a key of Content-Signal, and says nothing here", key)
		default:
			in.note(l.num, codeUnknownUsage, "%s is a label of no draft, so it says nothing", key)
		}
	}
}

// signal looks at the value of a Content-Signal line.
func (in *inspector) signal(l *line) {
	path, statement := cutPath(l.value)
	if path != "" {
		in.note(l.num, codeBadSignal, "no specification has a path here; it is read as that of Content-Usage")
	}
	given := map[string]bool{}
	for _, p := range signalPairs(statement) {
		switch {
		case !p.valid:
			in.note(l.num, codeBadSignal, "%q is dropped: write search, ai-input or ai-train with =yes or =no, or use with a word", p.text)
		case given[p.key]:
			in.note(l.num, codeBadSignal, "%s comes twice; the last counts", p.key)
		}
		given[p.key] = given[p.key] || p.valid
	}
}
