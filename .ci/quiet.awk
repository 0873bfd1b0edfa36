# Shortens what `go test -v` prints: a line a package, the reason of each test that was skipped,
# and all that a failed test printed. In that output a line "=== RUN name" (or NAME, CONT) comes
# before what a test prints, and a line "--- PASS: name" (or FAIL, SKIP) is its result. Lines are
# kept one by one: a string that grows takes quadratic time, and tests print megabytes.
function show(name, head,  i) {
	text = head
	for (i = 1; i <= count[name]; i++) text = text line[name, i] "\n"
	return text
}
function forget(name,  i) {
	for (i = 1; i <= count[name]; i++) delete line[name, i]
	delete count[name]
}

/^=== / { test = $3; next }
/^ *--- (PASS|FAIL|SKIP): / {
	if ($2 == "FAIL:") { print; for (i = 1; i <= count[$3]; i++) print line[$3, i] }
	if ($2 == "SKIP:") skipped = skipped show($3, "\tskipped " $3 "\n")
	forget($3)
	test = ""
	next
}
/^(ok|FAIL|\?) *\t/ { # the end of a package
	for (name in count) {
		if ($1 == "FAIL") for (i = 1; i <= count[name]; i++) print line[name, i] # a panic or a timeout
		forget(name)
	}
	printf "%s\n%s", $0, skipped
	fflush()
	skipped = test = ""
	next
}
/^(PASS|FAIL)$/ { next }
test != "" { line[test, ++count[test]] = $0; next }
{ print; fflush() }
