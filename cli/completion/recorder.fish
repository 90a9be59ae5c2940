# SPDX-License-Identifier: MIT
# Completion of recorder's commands and options for fish. Nothing is listed here: the words come from recorder's help.

# A line for each command: its name, a tab, what it does.
function __recorder_commands
	recorder --help 2>/dev/null | sed -nE '
		s/^  ([a-z]+)  +(.*)/\1\t\2/p
	'
end

# A line for each spelling of each option of a command: the option, its argument, what it does, separated by tabs.
function __recorder_options
	recorder $argv[1] --help 2>/dev/null | sed -nE '
		/^ +-/!d
		s/^ +(-[A-Za-z0-9])?(, )?(--[a-z0-9-]+)?(\[=[^ ]*\])?( ([^ ]+))?  +(.*)/\1\t\6\t\7\n\3\t\6\t\7/
		s/^\t[^\n]*\n//
		s/\n\t.*//
		p
	'
end

# The kernel's events, to the extent that this user may see them.
function __recorder_events
	sed -e 's/^\([^:]*\):.*/&\n\1/' -e '$aall' /sys/kernel/tracing/available_events 2>/dev/null | sort -u
end

# The names and pids of running programs.
function __recorder_programs
	recorder ps --color=never 2>/dev/null | sed -nE '
		s/^ *([0-9]+) +[a-z]+ +[0-9]+\/[0-9]+ +[0-9]+ +([^ ]+) .*/\2\n\1/p
	'
end

# The events of running programs.
function __recorder_patterns
	recorder list --color=never 2>/dev/null | sed -nE '
		s/^  (on|off)  +([^: ]+:[^ ]+).*/\2/p
	'
end

# The argument of an option, begun as in $argv[2]: "tsc|mono" are words, unless they are placeholders in capitals.
function __recorder_argument
	switch $argv[1]
		case '*|*'
			string split '|' -- $argv[1] | string match -rv '^[A-Z]'
		case FILE
			__fish_complete_path $argv[2]
		case DIR
			__fish_complete_directories $argv[2]
		case EVENT
			__recorder_events
		case PATTERN
			__recorder_patterns
		case PROGRAM
			__recorder_programs
		case USER
			__fish_complete_users
	end
end

# What an operand of command $argv[1] that begins with $argv[2] may be: the command's usage shows it.
function __recorder_operands
	set -l usage (recorder $argv[1] --help 2>/dev/null)
	switch "$usage[1]"
		case '*[PROGRAM]'
			__recorder_programs
		case '*[PROGRAM|*'
			__recorder_programs
			__fish_complete_path $argv[2]
		case '*'
			__fish_complete_path $argv[2]
	end
end

function __recorder_complete
	set -l words (commandline -opc)
	set -l current (commandline -ct)
	set -l before $words[-1]
	set -l prefix ''

	if test (count $words) -eq 1
		__recorder_commands
		printf '%s\t%s\n' help 'show the help of a command' --help 'show the commands' --version 'show the version'
		return
	end
	if test "$words[2]" = help
		__recorder_commands
		return
	end
	if string match -q -- '--*=*' "$current"
		set before (string replace -r '=.*' '' -- $current)
		set prefix $before=
		set current (string replace -r '^[^=]*=' '' -- $current)
	end
	set -l lines (__recorder_options $words[2])
	for line in $lines
		set -l fields (string split \t -- $line)
		# The words begin with dashes, which test alone would take for its own.
		if test x"$fields[1]" = x"$before"; and test x"$fields[2]" != x
			for word in (__recorder_argument $fields[2] "$current")
				echo $prefix$word
			end
			return
		end
	end
	if string match -q -- '-*' "$current"
		for line in $lines
			set -l fields (string split \t -- $line)
			printf '%s\t%s\n' $fields[1] $fields[3]
		end
	else
		__recorder_operands $words[2] "$current"
	end
end

complete -c recorder -f -a '(__recorder_complete)'
