package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A completed is a flag as completion knows it.
type completed struct {
	flagDoc
	value  bool     // it takes one
	values []string // that it can take; none means any
	list   bool     // several of them, separated by commas
	file   bool     // it is the name of a file or directory
}

// fileArgs are what the help calls values that are names of files or directories.
var fileArgs = []string{"dir", "log", "file"}

// completedFlags returns the flags of a command for completion.
func (s *spec) completedFlags() (all []completed) {
	fs := s.new()
	for _, d := range s.flags() {
		c := completed{flagDoc: d, value: takesValue(fs, d.name), values: enumerated[d.name], file: slices.Contains(fileArgs, d.arg)}
		if words, ok := listed[d.name]; ok {
			c.values, c.list = words, true
		}
		all = append(all, c)
	}
	return all
}

// aside is a remark in parentheses.
var aside = regexp.MustCompile(` \([^)]*\)`)

// short returns the beginning of what the help says of the flag, for a list: without remarks, and without the values
// that come first where they are completed anyway.
func (c *completed) short() string {
	text := aside.ReplaceAllString(c.text, "")
	if first, about, ok := strings.Cut(text, ": "); ok && slices.ContainsFunc(c.values, func(v string) bool { return strings.HasPrefix(first, v) }) {
		text = about
	}
	for _, end := range []string{". ", "; ", ": ", ", such as", ", as in"} {
		text, _, _ = strings.Cut(text, end)
	}
	return text
}

// subcommands returns what can stand in place of the first flag.
func subcommands() (names []string) {
	for _, s := range specs[1:] {
		names = append(names, s.name)
	}
	return append(names, "help")
}

// bashCompletion returns a script for bash, of version 3.2 or newer, that needs nothing besides.
func bashCompletion() string {
	var sb strings.Builder
	sb.WriteString(`# Completion of robobatch for bash: source it, or save it as robobatch among the completions of bash.
_robobatch() {
    local line=${COMP_LINE:0:COMP_POINT} cur rest flag value words= flags= list= set first head prefix
    local -a given
    cur=${line##*[[:blank:]]}
    rest=${line%"$cur"}
    read -r -a given <<<"$rest"
    first=${given[1]}
    flag=${given[${#given[@]} - 1]}
    value=$cur
    case $cur in
    -*=*) flag=${cur%%=*} value=${cur#*=} ;;
    -) flag= ;;
    -*) flag= ;;
    esac
    case $flag in
    --*) flag=${flag#-} ;;
    esac
    set=
    case $flag in
`)
	writeBashValues(&sb)
	sb.WriteString("    esac\n    case $first in\n")
	for _, s := range specs[1:] {
		fmt.Fprintf(&sb, "    %s) flags=\"%s\" ;;\n", s.name, flagWords(&s))
	}
	fmt.Fprintf(&sb, "    help) words=\"%s\" ;;\n", strings.Join(helpWords(), " "))
	fmt.Fprintf(&sb, "    *) flags=\"%s\" ;;\n    esac\n", flagWords(&specs[0]))
	fmt.Fprintf(&sb, `    if [[ -n $set ]]; then
        words=$set flags=
    elif [[ ${#given[@]} -le 1 && $cur != -* ]]; then
        words="%s"
    elif [[ -n $flags ]]; then
        words=$flags
        [[ $value == --* ]] && prefix=- value=${value#-}
    fi
    if [[ -n $list ]]; then
        head=${value%%"${value##*,}"}
        value=${value##*,}
        compopt -o nospace 2>/dev/null
    fi
    case $cur in
    -*=*) head=${cur%%%%=*}=$head ;;
    esac
    COMPREPLY=($(compgen -P "$prefix$head" -W "$words" -- "$value"))
    head=${cur%%"$2"} # what bash takes for other words already
    COMPREPLY=("${COMPREPLY[@]#"$head"}")
}
complete -o default -F _robobatch robobatch
`, strings.Join(subcommands(), " "))
	return sb.String()
}

// writeBashValues writes the cases for flags that have values: known ones, or any.
func writeBashValues(sb *strings.Builder) {
	seen := map[string]bool{}
	var files, others []string
	for i := range specs {
		for _, c := range specs[i].completedFlags() {
			switch {
			case seen[c.name] || !c.value:
				continue
			case c.file:
				files = append(files, "-"+c.name)
			case c.values == nil:
				others = append(others, "-"+c.name)
			default:
				list := ""
				if c.list {
					list = " list=1"
				}
				fmt.Fprintf(sb, "    -%s) set=\"%s\"%s ;;\n", c.name, strings.Join(c.values, " "), list)
			}
			seen[c.name] = true
		}
	}
	fmt.Fprintf(sb, "    %s) return ;; # bash offers files\n", strings.Join(files, " | "))
	fmt.Fprintf(sb, "    %s) compopt +o default 2>/dev/null; return ;; # a number or a text\n", strings.Join(others, " | "))
}

// flagWords returns the flags of a command.
func flagWords(s *spec) string {
	flags := s.flags()
	words := make([]string, len(flags))
	for i, d := range flags {
		words[i] = "-" + d.name
	}
	return strings.Join(words, " ")
}

// zshCompletion returns a script for zsh.
func zshCompletion() string {
	var sb strings.Builder
	sb.WriteString("#compdef robobatch\n# Completion of robobatch for zsh: save it as _robobatch in a directory of $fpath.\n\n_robobatch() {\n  local -a flags\n  case ${words[2]} in\n")
	for _, s := range specs[1:] {
		fmt.Fprintf(&sb, "  %s)\n", s.name)
		writeZshFlags(&sb, &s)
		sb.WriteString("    ;;\n")
	}
	fmt.Fprintf(&sb, "  help)\n    flags=('*:topic:(%s)')\n    ;;\n  *)\n", strings.Join(helpWords(), " "))
	writeZshFlags(&sb, &specs[0])
	fmt.Fprintf(&sb, `    (( CURRENT == 2 )) && flags+=('1:command:(%[1]s)')
    _arguments "${flags[@]}"
    return
    ;;
  esac
  if (( CURRENT == 2 )); then
    compadd - %[1]s
    return
  fi
  shift words
  (( CURRENT-- ))
  _arguments "${flags[@]}"
}

if [[ ${funcstack[1]} == _robobatch ]]; then
  _robobatch "$@"
else
  compdef _robobatch robobatch
fi
`, strings.Join(subcommands(), " "))
	return sb.String()
}

// writeZshFlags writes the flags of a command as _arguments takes them.
func writeZshFlags(sb *strings.Builder, s *spec) {
	escape := strings.NewReplacer(`'`, `'\''`, `[`, `\[`, `]`, `\]`, `\`, `\\`)
	sb.WriteString("    flags=(\n")
	for _, c := range s.completedFlags() {
		action := ""
		switch {
		case !c.value:
		case c.list:
			action = fmt.Sprintf("=:%s:_sequence compadd - %s", c.arg, strings.Join(c.values, " "))
		case c.values != nil:
			action = fmt.Sprintf("=:%s:(%s)", c.arg, strings.Join(c.values, " "))
		case c.file:
			action = fmt.Sprintf("=:%s:_files", c.arg)
		default:
			action = fmt.Sprintf("=:%s: ", c.arg)
		}
		equals, action, _ := strings.Cut(action, ":")
		if action != "" {
			action = ":" + action
		}
		fmt.Fprintf(sb, "      '*-%s%s[%s]%s'\n", c.name, equals, escape.Replace(c.short()), action)
	}
	sb.WriteString("    )\n")
}

// fishCompletion returns a script for fish.
func fishCompletion() string {
	var sb strings.Builder
	fmt.Fprintf(&sb, `# Completion of robobatch for fish: save it as robobatch.fish in ~/.config/fish/completions.
function __robobatch_is
    set -l words (commandline -opc)
    if test "$argv[1]" = main
        not contains -- "$words[2]" %[1]s
    else
        test "$words[2]" = "$argv[1]"
    end
end
function __robobatch_first
    test (count (commandline -opc)) -eq 1
end
function __robobatch_list
    set -l head (string replace -r '[^,]*$' '' -- (commandline -ct))
    printf '%%s\n' "$head"$argv
end
complete -c robobatch -f
complete -c robobatch -n __robobatch_first -a '%[1]s'
complete -c robobatch -n '__robobatch_is help' -a '%[2]s'
`, strings.Join(subcommands(), " "), strings.Join(helpWords(), " "))
	escape := strings.NewReplacer(`\`, `\\`, `'`, `\'`)
	for i := range specs {
		name := specs[i].name
		if name == "" {
			name = "main"
		}
		for _, c := range specs[i].completedFlags() {
			fmt.Fprintf(&sb, "complete -c robobatch -n '__robobatch_is %s' -o %s%s -d '%s'\n",
				name, c.name, fishValue(&c), escape.Replace(c.short()))
		}
	}
	return sb.String()
}

// fishValue returns the options that say what the value of a flag is.
func fishValue(c *completed) string {
	switch {
	case !c.value:
		return ""
	case c.list:
		return fmt.Sprintf(" -x -a '(__robobatch_list %s)'", strings.Join(c.values, " "))
	case c.values != nil:
		return fmt.Sprintf(" -x -a '%s'", strings.Join(c.values, " "))
	case c.file:
		return " -r -F"
	}
	return " -x"
}
