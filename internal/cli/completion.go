package cli

import (
	"cmp"
	"fmt"
	"strings"
)

// Bash returns a self-contained completion script for bash 3.2 or newer.
func (p *Program) Bash() string {
	var sb strings.Builder
	sb.WriteString(`# Completion of PROGRAM for bash: source it, or save it as PROGRAM among the completions of bash.
_PROGRAM() {
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
	// Write a case for each flag that takes a value, by its kind of completion.
	seen := map[string]bool{}
	var files, others []string
	for _, c := range p.Commands {
		for _, f := range c.Flags {
			switch {
			case seen[f.Name] || f.Arg == "":
				continue
			case f.Files:
				files = append(files, "-"+f.Name)
			case f.Values == nil:
				others = append(others, "-"+f.Name)
			default:
				list := ""
				if f.List {
					list = " list=1"
				}
				fmt.Fprintf(&sb, "    -%s) set=\"%s\"%s ;;\n", f.Name, strings.Join(f.Values, " "), list)
			}
			seen[f.Name] = true
		}
	}
	fmt.Fprintf(&sb, "    %s) return ;; # bash offers files\n", strings.Join(files, " | "))
	fmt.Fprintf(&sb, "    %s) compopt +o default 2>/dev/null; return ;; # a number or a text\n", strings.Join(others, " | "))
	sb.WriteString("    esac\n    case $first in\n")
	for _, c := range p.Commands[1:] {
		fmt.Fprintf(&sb, "    %s) flags=\"%s\" ;;\n", c.Name, flagWords(&c))
	}
	fmt.Fprintf(&sb, "    help) words=\"%s\" ;;\n", strings.Join(p.helpWords(), " "))
	fmt.Fprintf(&sb, "    *) flags=\"%s\" ;;\n    esac\n", flagWords(&p.Commands[0]))
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
complete -o default -F _PROGRAM PROGRAM
`, strings.Join(p.Names(), " "))
	return p.withName(&sb)
}

// withName returns the script with the name of the program instead of PROGRAM.
func (p *Program) withName(script *strings.Builder) string {
	return strings.ReplaceAll(script.String(), "PROGRAM", p.Name)
}

// flagWords returns the flags of a command with their dash, separated by spaces.
func flagWords(c *Command) string {
	words := make([]string, len(c.Flags))
	for i, f := range c.Flags {
		words[i] = "-" + f.Name
	}
	return strings.Join(words, " ")
}

// Zsh returns a self-contained completion script for zsh, to be saved or sourced.
func (p *Program) Zsh() string {
	var sb strings.Builder
	sb.WriteString("#compdef PROGRAM\n# Completion of PROGRAM for zsh: save it as _PROGRAM in a directory of $fpath.\n\n_PROGRAM() {\n  local -a flags\n  case ${words[2]} in\n")
	for _, c := range p.Commands[1:] {
		fmt.Fprintf(&sb, "  %s)\n", c.Name)
		writeZshFlags(&sb, &c)
		sb.WriteString("    ;;\n")
	}
	fmt.Fprintf(&sb, "  help)\n    flags=('*:topic:(%s)')\n    ;;\n  *)\n", strings.Join(p.helpWords(), " "))
	writeZshFlags(&sb, &p.Commands[0])
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

if [[ ${funcstack[1]} == _PROGRAM ]]; then
  _PROGRAM "$@"
else
  compdef _PROGRAM PROGRAM
fi
`, strings.Join(p.Names(), " "))
	return p.withName(&sb)
}

// writeZshFlags writes the flags of a command as an array in the syntax of _arguments.
func writeZshFlags(sb *strings.Builder, c *Command) {
	escape := strings.NewReplacer(`'`, `'\''`, `[`, `\[`, `]`, `\]`, `\`, `\\`)
	sb.WriteString("    flags=(\n")
	for _, f := range c.Flags {
		value := " " // how it is completed
		switch words := strings.Join(f.Values, " "); {
		case f.List:
			value = "_sequence compadd - " + words
		case f.Values != nil:
			value = "(" + words + ")"
		case f.Files:
			value = "_files"
		}
		equals, action := "", ""
		if f.Arg != "" {
			equals, action = "=", ":"+f.Arg+":"+value
		}
		fmt.Fprintf(sb, "      '*-%s%s[%s]%s'\n", f.Name, equals, escape.Replace(f.firstSentence()), action)
	}
	sb.WriteString("    )\n")
}

// Fish returns a self-contained completion script for fish.
func (p *Program) Fish() string {
	var sb strings.Builder
	fmt.Fprintf(&sb, `# Completion of PROGRAM for fish: save it as PROGRAM.fish in ~/.config/fish/completions.
function __PROGRAM_is
    set -l words (commandline -opc)
    if test "$argv[1]" = main
        not contains -- "$words[2]" %[1]s
    else
        test "$words[2]" = "$argv[1]"
    end
end
function __PROGRAM_first
    test (count (commandline -opc)) -eq 1
end
function __PROGRAM_list
    set -l head (string replace -r '[^,]*$' '' -- (commandline -ct))
    printf '%%s\n' "$head"$argv
end
complete -c PROGRAM -f
complete -c PROGRAM -n __PROGRAM_first -a '%[1]s'
complete -c PROGRAM -n '__PROGRAM_is help' -a '%[2]s'
`, strings.Join(p.Names(), " "), strings.Join(p.helpWords(), " "))
	escape := strings.NewReplacer(`\`, `\\`, `'`, `\'`)
	for _, c := range p.Commands {
		for _, f := range c.Flags {
			value := " -x"
			switch words := strings.Join(f.Values, " "); {
			case f.Arg == "":
				value = ""
			case f.List:
				value = fmt.Sprintf(" -x -a '(__PROGRAM_list %s)'", words)
			case f.Values != nil:
				value = fmt.Sprintf(" -x -a '%s'", words)
			case f.Files:
				value = " -r -F"
			}
			fmt.Fprintf(&sb, "complete -c PROGRAM -n '__PROGRAM_is %s' -o %s%s -d '%s'\n",
				cmp.Or(c.Name, "main"), f.Name, value, escape.Replace(f.firstSentence()))
		}
	}
	return p.withName(&sb)
}
