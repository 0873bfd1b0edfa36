package process

import (
	"runtime/debug"
	"strings"
)

// Variables that the linker sets in internal/dist builds: the module version and the day of the commit.
var release, releaseDay string

// Version returns the version of the release, or of the module that the command was built from, or
// "devel".
func Version() string {
	info, ok := debug.ReadBuildInfo()
	switch {
	case release != "":
		return release
	case !ok || info.Main.Version == "" || info.Main.Version == "(devel)":
		return "devel"
	}
	return info.Main.Version
}

// Day returns the day of the commit that the program was built from, as in 2026-01-31; "" if unknown.
func Day() string {
	info, _ := debug.ReadBuildInfo()
	if info == nil || releaseDay != "" {
		return releaseDay
	}
	for _, s := range info.Settings {
		if day, _, ok := strings.Cut(s.Value, "T"); ok && s.Key == "vcs.time" {
			return day
		}
	}
	return ""
}
