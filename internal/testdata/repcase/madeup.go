package repcase

import (
	"math/rand/v2"
	"strings"
)

// preferenceLines are the lines that [RandomPreferences] makes files of.
var preferenceLines = []string{
	"User-agent: a", "User-agent: B", "user-agent: *", "User-agent: googlebot", "User-agent: zorbot", "Useragent: a", "User-agent:", "User-agent b",
	"Disallow: /b", "Disallow:", "Allow: /b/a", "Allow:", "Allow: /a/index.html", "disalow: /c", "Disallow /a",
	"Crawl-delay: 1", "crawl-delay: soon", "", "# nothing", "X-Note: x", "License: https://a.com/l", "License: l",
	"Content-Usage: train-ai=n", "Content-Usage: train-ai=y, search=n", "Content-Usage", "Content-Usage train-ai=n", "Content-Usages: train-ai=n",
	"CONTENT-SIGNAL: Search=Yes", "Content-Signal: ai-train=no, ai-input=yes", "Content-Signal: use=full", "Content-Signal:", "Content-Signal: x",
}

// policyAgents and policyRules make policy groups.
var (
	policyAgents = []string{
		"User-agent: __usage_ai-training", "user-agent: __USAGE_AI-Training # x", "User-agent: __usage_ai-training", "User-agent: __usage_ai-training2",
		"User-agent: __usage_ai", "User-agent: __usage_ai-training x",
	}
	policyRules = []string{
		"Disallow: /a", "Allow: /a/b", "Allow: /", "Disallow: /", "Disallow: /*b", "Allow: /*a", "Disallow: /b$", "Allow: b", "Disallow: /a*", "Disallow: /robots.txt",
		"Allow: /a/index.html", "Disallow:", "Allow:", "Disallow: /%61", "Crawl-delay: 1", "User-agent: a", "Content-Usage: train-ai=y", "",
	}
)

// preferencePaths, usageStatements and signalStatements make lines of preferences.
var (
	preferencePaths = []string{
		"", "", "", "/", "/a", "/b", "/a*", "/*b", "/a/*b", "/*/a", "/a$", "/a/b", "/ab*", "/*ab", "/**", "/%61", "/a/index.html", "/*a*b$", "/\xc3\xa9", "/b%2a",
	}
	usageStatements = []string{
		"train-ai=n", "train-ai=y", "search=n", "search=y", "train-ai=y, search=n", "train-ai=n,search=y", "train-ai", "", "train-ai=",
		"train-ai=n, train-ai=y", "search=y;x, train-ai=\"n\"", "Train-ai=n", "bots=n", "search=(y)", "*.pdf train-ai=n",
	}
	signalStatements = []string{
		"ai-train=no", "ai-train=yes", "search=yes", "search=no", "ai-input=no, search=yes", "ai-input=yes,ai-train=no", "use=full", "USE = Reference, search=no",
		"ai-train=no, ai-train=yes", "search=y", "", "use=a b", "ai-train = NO , x=yes",
	}
)

// RandomPreferences makes up a robots.txt with lines of preferences, with patterns and before the first
// group, keys that come twice, and Crawl-delay among names.
func RandomPreferences(r *rand.Rand) string {
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	count := r.IntN(14)
	lines := make([]string, count, count+3*7) // with policy groups
	for i := range lines {
		switch r.IntN(8) {
		case 0, 1:
			lines[i] = pick(preferenceLines[:6])
		case 2, 3:
			lines[i] = "Content-Usage: " + pick(preferencePaths) + pick([]string{" ", "\t", " \t "}) + pick(usageStatements)
		case 4:
			lines[i] = "content-signal:" + pick(preferencePaths) + " " + pick(signalStatements)
		default:
			lines[i] = pick(preferenceLines)
		}
	}
	for range r.IntN(3) { // policy groups
		lines = append(lines, pick(policyAgents))
		for range r.IntN(6) {
			lines = append(lines, pick(policyRules))
		}
	}
	return strings.Join(lines, pick([]string{"\n", "\n", "\r\n", "\r"}))
}

// RandomPath makes up a path for it, not in normal form.
func RandomPath(r *rand.Rand) string {
	pieces := []string{"a", "b", "/", "c", "%61", "index.html", "*", "$", "%2A", "\xc3\xa9", "?"}
	if r.IntN(20) == 0 {
		return "/robots.txt" + []string{"", "?a", "/a"}[r.IntN(3)]
	}
	var path strings.Builder
	path.WriteString("/")
	for range r.IntN(5) {
		path.WriteString(pieces[r.IntN(len(pieces))])
	}
	return path.String()
}
