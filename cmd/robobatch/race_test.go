//go:build race

package main

// raced reports whether the race detector is on, which takes ten times as long.
const raced = true
