package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestCompletion checks that the completion script of each shell has all commands, and all flags with their values.
func TestCompletion(t *testing.T) {
	p := commandLine()
	for _, shell := range []struct {
		name, script, flag string
	}{
		{"bash", p.Bash(), `[" ]-%s[" ]`},
		{"zsh", p.Zsh(), `'\*-%s=?\[`},
		{"fish", p.Fish(), ` -o %s `},
	} {
		for _, c := range p.Commands {
			part := shellPart(shell.name, shell.script, c.Name)
			for _, f := range c.Flags {
				if !regexp.MustCompile(strings.ReplaceAll(shell.flag, "%s", regexp.QuoteMeta(f.Name))).MatchString(part) {
					t.Errorf("%s: no -%s of %s", shell.name, f.Name, p.Title(&c))
				}
				if c.Name == "" && !strings.Contains(shell.script, strings.Join(f.Values, " ")) {
					t.Errorf("%s: no %q", shell.name, f.Values)
				}
			}
			if c.Name != "" && !strings.Contains(shell.script, c.Name+" ") {
				t.Errorf("%s: no command %s", shell.name, c.Name)
			}
		}
	}
}

// shellPart returns the part of a script with the flags of a command.
func shellPart(shell, script, command string) string {
	label := cmp.Or(command, `\*`)
	pattern := map[string]string{
		"bash": `(?m)^    ` + label + `\) flags=.*$`,
		"zsh":  `(?s)\n  ` + label + `\)\n.*?\n    \)\n`,
		"fish": `(?m)(^complete -c robobatch -n '__robobatch_is ` + cmp.Or(command, "main") + `'.*\n)+`,
	}[shell]
	return regexp.MustCompile(pattern).FindString(script)
}

// completions lists command lines, with the words that every shell must offer for each. Words are without the part of
// the last word up to its last "=" or ",". The working directory contains the file urls.zst and the directory robots.
var completions = []struct{ line, want string }{
	{"robobatch ru", "rules"},
	{"robobatch ", "bench census check check-output compile conduct coverage diff explain help lint merge pipe report rules"},
	{"robobatch help dia", "dialects"},
	{"robobatch -dia", "-dialect"},
	{"robobatch -quiet -dia", "-dialect"},
	{"robobatch rules -dialect y", "yandex"},
	{"robobatch rules -base", ""},
	{"robobatch -dialect y", "yandex"},
	{"robobatch -dialect=", "google google-2010 rfc9309 yandex"},
	{"robobatch -format c", "cdxj cloudfront combined csv"},
	{"robobatch rules -progress p", "plain"},
	{"robobatch -columns line,inp", "input"},
	{"robobatch -columns=line,inp", "input"},
	{"robobatch -agent @sea", "@search"},
	{"robobatch -agent=Yeti,@sea", "@search"},
	{"robobatch -keep status,re", "referer"},
	{"robobatch -in u", "urls.zst"},
	{"robobatch -rules ro", "robots"},
	{"robobatch -workers ", ""},
	{"robobatch -origin u", ""},
}

// askCompletions runs a shell with a script and compares its output. For each command line in its arguments, the
// script prints "== " and the line, and then the words that complete it, one per line. The first argument, $0 in bash
// and zsh, is the file with the completion script.
func askCompletions(t *testing.T, shell, completion, script string, before ...string) {
	t.Helper()
	path, err := exec.LookPath(shell)
	if err != nil {
		t.Skipf("there is no %s to ask", shell)
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "_robobatch") // where zsh looks for it
	work := filepath.Join(dir, "work")
	if err := errors.Join(os.WriteFile(name, []byte(completion), 0o666), os.MkdirAll(filepath.Join(work, "robots"), 0o777),
		os.WriteFile(filepath.Join(work, "urls.zst"), nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // a shell that waits for ever
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append(before, script, name)...)
	for _, c := range completions {
		cmd.Args = append(cmd.Args, c.line)
	}
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "HOME="+dir, "TERM=dumb")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", shell, err, out)
	}
	answers := strings.Split("\n"+string(out), "\n== ")[1:]
	if len(answers) != len(completions) {
		t.Fatalf("%d answers to %d lines:\n%s", len(answers), len(completions), out)
	}
	for i, c := range completions {
		words := strings.Fields(answers[i])
		for i, word := range words {
			words[i] = strings.TrimSuffix(word[strings.LastIndexAny(word, "=,")+1:], "/")
		}
		slices.Sort(words)
		if got := strings.Join(words, " "); got != c.want {
			t.Errorf("%q is completed by %q, want %q", c.line, got, c.want)
		}
	}
}

// TestBashCompletion runs the completion script for bash in bash. The script does not complete file names: bash
// itself does, unless the function returns words or turns that off.
func TestBashCompletion(t *testing.T) {
	askCompletions(t, "bash", commandLine().Bash(), `
source "$0" || exit
files=
compopt() { [[ $1 != +o ]] || files=no; }
for COMP_LINE; do
	echo "== "
	COMP_POINT=${#COMP_LINE} word=${COMP_LINE##*[ =]} files=yes COMPREPLY=()
	_robobatch robobatch "$word" ""
	[[ $files = no || $word = -* || ${#COMPREPLY[@]} != 0 ]] || COMPREPLY=($(compgen -f -- "$word"))
	printf '%s\n' "${COMPREPLY[@]}"
done`, "--norc", "-c")
}

// TestBashDashes checks that bash completes flags with two dashes; the other shells do not.
func TestBashDashes(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash to ask")
	}
	const ask = `COMP_LINE='robobatch rules --progress=p' COMP_POINT=28; _robobatch robobatch p; echo "${COMPREPLY[@]}"
COMP_LINE='robobatch --dia' COMP_POINT=15; _robobatch robobatch --dia; echo "${COMPREPLY[@]}"`
	got, err := exec.Command(bash, "-c", commandLine().Bash()+ask).CombinedOutput()
	if want := "plain\n--dialect\n"; err != nil || string(got) != want {
		t.Errorf("%q, want %q; %v", got, want, err)
	}
}

// TestFishCompletion asks the script for fish, in fish.
func TestFishCompletion(t *testing.T) {
	askCompletions(t, "fish", commandLine().Fish(), `
source $argv[1]
for line in $argv[2..]
	echo "== "
	complete -C "$line" | string replace -r '\t.*' ''
end
true`, "--no-config", "-c")
}

// TestZshCompletion runs the completion script for zsh in an interactive zsh on its own terminal, because completion
// works only there. The test replaces compadd, which offers words, by a function that also prints them. Control-G
// ends a line.
func TestZshCompletion(t *testing.T) {
	askCompletions(t, "zsh", commandLine().Zsh(), `
zmodload zsh/zpty
zpty shell zsh -f -i
send() { zpty -w shell "$1" }
send "PROMPT= PS2=; stty -echo; unset zle_bracketed_paste; fpath=(${0:h} \$fpath); autoload -Uz compinit; compinit -u -D; bindkey '^I' complete-word"
send 'compadd() {
	if [[ " $* " == *" "-(O|A|D)" "* ]]; then builtin compadd "$@"; return; fi
	local -a words; builtin compadd -A words "$@"; builtin compadd "$@"; local code=$?
	print -rl -- "<<"$^words">>"; return code
}'
send 'finish() { print -r -- "LINE""END"; BUFFER= }; zle -N finish; bindkey "^G" finish; print REA""DY'
zpty -r shell out '*READY*'
for line; do
	print "== "
	zpty -w -n shell "$line"$'\t\C-g'
	zpty -r shell out '*LINEEND*'
	while [[ $out = *'<<'* ]]; do out=${out#*<<}; print -r -- ${out%%>>*}; done
done
zpty -d shell`, "-f", "-c")
}
