# Shortens what `go test -v` prints: a line a package, all that a failed test printed, and at the end how many
# tests were skipped for each reason, and how many packages passed and failed in how many seconds. In that output a line "=== RUN name" (or NAME, CONT) comes
# before what a test prints, and a line "--- PASS: name" (or FAIL, SKIP) is its result. Lines are
# kept one by one: a string that grows takes quadratic time, and tests print megabytes.
function skip(name,  reason) {
	reason = line[name, count[name]]
	sub(/^ *[a-z0-9_]+\.go:[0-9]+: /, "", reason)
	if (skipped[reason]++ == 0) reasons[++nReasons] = reason
}
function seconds(  now) {
	"date +%s" | getline now
	close("date +%s")
	return now
}
BEGIN { started = seconds() }
function forget(name,  i) {
	for (i = 1; i <= count[name]; i++) delete line[name, i]
	delete count[name]
}

/^=== / { test = $3; next }
/^ *--- (PASS|FAIL|SKIP): / {
	if ($2 == "FAIL:") { print; for (i = 1; i <= count[$3]; i++) print line[$3, i] }
	if ($2 == "SKIP:") skip($3)
	forget($3)
	test = ""
	next
}
/^(ok|FAIL|\?) *\t/ { # the end of a package
	for (name in count) {
		if ($1 == "FAIL") for (i = 1; i <= count[name]; i++) print line[name, i] # a panic or a timeout
		forget(name)
	}
	if ($1 != "?") print # "?" has no tests
	fflush()
	packages[$1]++
	test = ""
	next
}
/^(PASS|FAIL)$/ { next }
test != "" { line[test, ++count[test]] = $0; next }
{ print; fflush() }
END {
	for (i = 1; i <= nReasons; i++) printf "skipped %d tests: %s\n", skipped[reasons[i]], reasons[i]
	printf "%d packages passed, %d failed, in %d s\n", packages["ok"], packages["FAIL"], seconds() - started
}
