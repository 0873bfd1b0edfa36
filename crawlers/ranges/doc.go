// Package ranges decides whether a request that names a crawler came from an address that the
// crawler's operator publishes, as of the moment of the request.
//
// Operators publish lists of prefixes, and change them. A list has snapshots, one for each time at
// which somebody kept it; [Load] reads them from files. [Lists.Verify] asks the newest snapshot up to
// the moment of the request, and the oldest after it. A list proves the operator, not the crawler: some
// operators have one list for several crawlers.
//
// The package hides the forms of lists and the table that looks up addresses. It knows no rules and
// no logs, and opens no connection. Go programs use it beside [crawlers.Identify]; engine and commands may
// import it.
package ranges
