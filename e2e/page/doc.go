// Package page opens the page of a report from disk, in Chromium without a window, as people do: it
// types, clicks and reads. A page fails every test where it asks the network for anything, or the
// browser complains: of its script, or of its content security policy.
//
// chromedp drives the browser, since the answers of a page are compared with the answers of package engine,
// in the same process; axe-core comes from npm (../node). Where Chromium or axe-core is missing, the
// tests are skipped and say so; CI has both.
package page
