package main

import (
	"fmt"
	"runtime/debug"
	"strings"
)

type versionCommand struct{}

// Run prints the version and the toolchain.
func (versionCommand) Run(con console) error {
	_, err := fmt.Fprintln(con.out, "anteroom", version())
	return err
}

// version is what the build recorded: the module's version, or the commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	parts := []string{info.Main.Version}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			parts = append(parts, s.Value[:min(12, len(s.Value))])
		}
	}
	return strings.Join(append(parts, info.GoVersion), " ")
}
