package main

import (
	"errors"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestHelpLines checks that the first help fits a screen.
func TestHelpLines(t *testing.T) {
	p := commandLine()
	if help := p.Help(&p.Commands[0], false); strings.Count(help, "\n") > 40 {
		t.Errorf("more than 40 lines:\n%s", help)
	}
}

// TestManPage checks that the man page has every flag of every command, and that roff treats no line of text as a
// request.
func TestManPage(t *testing.T) {
	program := commandLine()
	page := program.Man()
	parts := regexp.MustCompile(`(?m)^\.SH "ROBOBATCH `).Split(page, -1)
	if len(parts) != len(program.Commands) {
		t.Fatalf("%d commands in the page, want %d", len(parts), len(program.Commands))
	}
	for i, c := range program.Commands {
		for _, f := range c.Flags {
			want := "\n.B \\-" + strings.ReplaceAll(f.Name, "-", `\-`)
			if !strings.Contains(parts[i], want+" ") && !strings.Contains(parts[i], want+"\n") {
				t.Errorf("%s: no %q", program.Title(&c), want)
			}
		}
	}
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "'") || line[0] == '.' && !regexp.MustCompile(`^\.(TH|SH|SS|TP|PP|B|br|nf|fi)( |\n)`).MatchString(line) {
			t.Errorf("a request by mistake: %s", line)
		}
	}
}

// TestManPageLint checks the man page with mandoc -T lint. Only a missing date is accepted, because test binaries
// have none.
func TestManPageLint(t *testing.T) {
	mandoc, err := exec.LookPath("mandoc")
	if err != nil {
		t.Skip("there is no mandoc to ask")
	}
	cmd := exec.Command(mandoc, "-Tlint")
	cmd.Stdin = strings.NewReader(commandLine().Man())
	out, err := cmd.Output() // the exit code adds nothing to the lines
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if !strings.Contains(line, "missing date") {
			t.Error(line)
		}
	}
}
