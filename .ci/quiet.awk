# Shortens what `go test -v` prints: a line a package, the reason of each test that was skipped, and all that a failed
# test printed. In that output a line "=== RUN name" (or NAME, CONT) comes before what a test prints, and a line
# "--- PASS: name" (or FAIL, SKIP) is its result.
function forget(  t) { for (t in printed) delete printed[t]; skipped = test = "" }

/^=== / { test = $3; next }
/^ *--- (PASS|FAIL|SKIP): / {
	if ($2 == "FAIL:") printf "%s\n%s", $0, printed[$3]
	if ($2 == "SKIP:") skipped = skipped "\tskipped " $3 "\n" printed[$3]
	delete printed[$3]
	test = ""
	next
}
/^(ok|FAIL|\?) *\t/ { # the end of a package
	if ($1 == "FAIL") for (t in printed) printf "%s", printed[t] # a panic or a timeout ends it in the midst of a test
	printf "%s\n%s", $0, skipped
	fflush()
	forget()
	next
}
/^(PASS|FAIL)$/ { next }
test != "" { printed[test] = printed[test] $0 "\n"; next }
{ print; fflush() }
