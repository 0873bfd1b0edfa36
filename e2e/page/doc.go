// Package page tests the page of a report in headless Chromium, from disk: it
// types, clicks and reads. Each test fails if the page makes a network request, or if the
// browser reports an error in its script or of its content security policy.
//
// chromedp drives the browser, so that verdicts of a page can be compared with package engine
// in the same process; axe-core comes from npm (../node). If Chromium or axe-core is missing, the
// tests are skipped with a reason; CI has both.
package page
