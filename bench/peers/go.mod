module github.com/robobatch/robobatch/bench/peers

go 1.26.0

require (
	github.com/benjaminestes/robots v2.0.4+incompatible
	github.com/jimsmart/grobotstxt v1.0.3
	github.com/robobatch/robobatch v0.0.0
	github.com/temoto/robotstxt v1.1.2
)

require (
	github.com/andybalholm/brotli v1.1.0 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/klauspost/cpuid/v2 v2.2.10 // indirect
	github.com/zeebo/xxh3 v1.1.0 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/robobatch/robobatch => ../..
