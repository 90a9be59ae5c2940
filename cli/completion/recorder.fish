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

# The trace file that the command line names: its first word that is a file, or trace.dat.
function __recorder_trace
	set -l words (commandline -op)
	for word in $words[3..-1]
		# The quotes are removed already.
		set word (string replace -r -- '^--[^=]*=' '' $word)
		if string match -q -- '~/*' $word
			set word $HOME/(string sub -s 3 -- $word)
		end
		if test -f "$word"
			printf '%s\n' $word
			return
		end
	end
	echo trace.dat
end

# The events that a trace file describes.
function __recorder_described
	recorder report -E -- $argv[1] 2>/dev/null
end

# The spans of programs that a trace file describes: pairs, whose begins have five-digit ids, and timed events.
function __recorder_spans
	recorder report --events -- $argv[1] 2>/dev/null | sed -nE '
		/^system: /{
			s///
			h
		}
		/^name: /{
			s///
			G
			s/^([^\n]*)\n([^\n]*).*/\2\n\2:\1/
			h
		}
		/^ID: [0-9]{5}$/{
			g
			s/^.*\n(.*)_begin$/\1/p
		}
		/^\tfield:rec_duration /{
			g
			s/^.*\n//p
		}
	'
end

# The first line of a command's help, which shows its operands.
function __recorder_usage
	set -l help (recorder $argv[1] --help 2>/dev/null)
	echo "$help[1]"
end

# The events of the trace file, if the command has the operand [FILE]; otherwise those of the kernel.
function __recorder_events_of
	switch (__recorder_usage $argv[1])
		case '*[FILE]*'
			__recorder_described (__recorder_trace)
		case '*'
			__recorder_events
	end
end

# The argument, begun as in $argv[2], of an option of command $argv[3]: "tsc|mono" are words, unless they are
# placeholders in capitals.
function __recorder_argument
	switch $argv[1]
		case '*|*'
			string split '|' -- $argv[1] | string match -rv '^[A-Z]'
		case FILE
			__fish_complete_path $argv[2]
		case DIR
			__fish_complete_directories $argv[2]
		case EVENT
			__recorder_events_of $argv[3]
		case PATTERN
			__recorder_patterns
		case PROGRAM
			__recorder_programs
		case SPAN
			__recorder_spans (__recorder_trace)
		case USER
			__fish_complete_users
	end
end

# What an operand of command $argv[1] that begins with $argv[2] may be: the command's usage shows it.
function __recorder_operands
	switch (__recorder_usage $argv[1])
		case '*SPAN|A B'
			__recorder_spans (__recorder_trace)
			__recorder_described (__recorder_trace)
			__fish_complete_path $argv[2]
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
			for word in (__recorder_argument $fields[2] "$current" $words[2])
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
