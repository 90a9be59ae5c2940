# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What the scripts of this directory share, besides tests/tap.sh: programs of other projects, built from Debian's source
# packages unchanged and with events added, recorded under load, and measured.
#
# Sources and builds are kept in $REAL_DIR (tests/real of the build directory), so that a second run only measures.
# Packages are looked up with apt's state in that directory; nothing of the system's is changed.

. "$top_srcdir/tests/tap.sh"

: "${REAL_DIR:=$top_builddir/tests/real}"
: "${REAL_ROUNDS:=9}"
mkdir -p "$REAL_DIR" || exit 1
REAL_DIR=$(cd "$REAL_DIR" && pwd)
library=$LDADD_FOR_TEST
here=$top_srcdir/tests/real
jobs=$(nproc)

# ---- sources

private_apt()
{
	export APT_CONFIG=$REAL_DIR/apt/apt.conf
	[ ! -e "$APT_CONFIG" ] || return 0
	mkdir -p "$REAL_DIR/apt/lists/partial" "$REAL_DIR/apt/cache/archives/partial" || return 1
	printf '%s [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main\n' \
		deb deb-src >"$REAL_DIR/apt/sources.list"
	cat >"$APT_CONFIG.new" <<-END
		Dir::State "$REAL_DIR/apt";
		Dir::State::status "/var/lib/dpkg/status";
		Dir::Cache "$REAL_DIR/apt/cache";
		Dir::Etc::sourcelist "$REAL_DIR/apt/sources.list";
		Dir::Etc::sourceparts "-";
		APT::Sandbox::User "root";
	END
	APT_CONFIG=$APT_CONFIG.new apt-get -qq update && mv "$APT_CONFIG.new" "$APT_CONFIG"
}

# get_source PACKAGE: Debian's source, with Debian's patches, in $REAL_DIR/PACKAGE.plain
get_source()
{
	local tree=$REAL_DIR/$1.plain

	[ ! -d "$tree" ] || return 0
	command -v dpkg-source >/dev/null || skip_all "dpkg-source is not installed (dpkg-dev)"
	mkdir -p "$REAL_DIR/sources" && private_apt &&
		(cd "$REAL_DIR/sources" && apt-get -q source --download-only "$1" && rm -rf "$tree.new" &&
			dpkg-source -q -x "$1"_*.dsc "$tree.new") >"$REAL_DIR/$1.source.log" 2>&1 &&
		mv "$tree.new" "$tree"
}

# get_program PACKAGE...: binary packages, unpacked in $REAL_DIR/tools and installed nowhere
get_program()
{
	(mkdir -p "$REAL_DIR/packages" "$REAL_DIR/tools" && private_apt && cd "$REAL_DIR/packages" &&
		apt-get -q download "$@" && for package; do dpkg -x "$package"_*.deb "$REAL_DIR/tools"; done) \
		>"$REAL_DIR/packages.log" 2>&1
}

# ---- events

# insert FILE FUNCTION HEADER STATEMENT...: each statement after the opening brace of the function, and the header with
# the events' declarations before it. Fails unless there is exactly one such function.
insert()
{
	local file=$1 function=$2 header=$3

	shift 3
	# Definitions begin in the first column, with the type on the same line or on the one before.
	awk -v name="$function" -v header="$header" -v statements="$*" '
		function flush() { if (held) { print before; held = 0 } }
		{
			if (!inside && /^[A-Za-z_]/ && !/;[ \t]*$/ && match($0, "(^|[ *])" name "\\(")) {
				if (substr($0, 1, length(name)) != name)
					flush()
				print "#include \"" header "\""
				inside = 1
			}
			flush()
			# The line is only a declaration of the function.
			if (inside == 1 && /\);[ \t]*$/)
				inside = 0
			if (inside == 1 && /{[ \t]*$/) {
				print $0 "\n\t" statements
				inside = 2
				found++
			} else {
				before = $0; held = 1
			}
			if (inside == 2 && /^}/)
				inside = 0
		}
		END { flush(); exit found != 1 }' "$file" >"$file.new" && mv "$file.new" "$file"
}

# instrumented PACKAGE EVENTS-FUNCTION: a copy of the plain source with events, remade when the function, the events or the
# library have changed; fails if an event found no place.
instrumented()
{
	local tree=$REAL_DIR/$1.events

	if [ "$tree/.inserted" -nt "$library" ] &&
		[ "$(declare -f "$2" insert; cat "$here/$1_events.h")" = "$(cat "$tree/.inserted")" ]; then
		return 0
	fi
	rm -rf "$tree" && cp -a "$REAL_DIR/$1.plain" "$tree" && (cd "$tree" && "$2") &&
		(declare -f "$2" insert; cat "$here/$1_events.h") >"$tree/.inserted"
}

# build LOG COMMAND...: prints its output only if it fails
build()
{
	local log=$REAL_DIR/$1.log

	shift
	(renice -n 10 -p $BASHPID && "$@") >"$log" 2>&1 || { tail -n 30 "$log" | sed 's/^/# /'; return 1; }
}

# need NAME COMMAND...: as ok, but if it fails the script ends
need()
{
	ok "$@" || { done_testing; exit; }
}

# ---- recordings

# take NAME COMMAND...: as ok, of a command that records; its messages are in $said
take()
{
	ok "$@"
	said=$err
	diag "$said"
}

# good_file NAME FILE EVENT...: the file holds each of these events, and trace-cmd prints it as report does
good_file()
{
	local name=$1 file=$2 event

	shift 2
	"$RECORDER" report "$file" >"$TMP/report.txt"
	for event; do
		ok "$name: has $event" grep -q " $event: " "$TMP/report.txt"
	done
	command -v trace-cmd >/dev/null || return 0
	trace-cmd report "$file" >"$TMP/trace-cmd.txt" 2>/dev/null
	ok "$name: trace-cmd prints the same" cmp "$TMP/report.txt" "$TMP/trace-cmd.txt"
}

# attached NAME PIDS EVENT...: running programs are recorded for some megabytes, without a loss
attached()
{
	local name=$1 pids=$2 recorder

	shift 2
	"$RECORDER" record -P "$pids" -o "$name.dat" 2>err &
	recorder=$!
	ok "$name attach" wait_until has_size "$name.dat.spool" 3000000
	kill -INT $recorder
	status=0
	wait $recorder || status=$?
	said=$(cat err)
	diag "$said"
	is "$name attach: it ends normally" "$status" 0
	is "$name attach: none lost" "$(lost_in "$said")" 0
	good_file "$name attach" "$name.dat" "$@"
}

# killed PIDS EVENT...: SIGKILL to running programs while they are recorded
killed()
{
	local pids=$1 recorder

	shift
	"$RECORDER" record -P "$pids" -o killed.dat 2>err &
	recorder=$!
	ok "another attach" wait_until has_size killed.dat.spool 1000000
	# shellcheck disable=SC2086
	kill -KILL ${pids//,/ }
	status=0
	wait $recorder || status=$?
	said=$(cat err)
	diag "$said"
	is "the recorder ends with the killed program" "$status" 0
	is "nothing is lost with it" "$(lost_in "$said")" 0
	good_file "killed" killed.dat "$@"
}

# recovered EVENT...: what killed programs left in their own buffers, a megabyte a thread
recovered()
{
	take "events without a recorder" "$RECORDER" recover -o alone.dat "$RECORDER_DIR"
	ok "is its last megabyte" test "$(events_in "$said")" -gt 10000
	good_file "alone" alone.dat "$@"
}

# Settings for start, with which no event is lost while the recorder is kept off its CPU.
large_lanes=(RECORDER_BUFFER_KB=65536 RECORDER_MAX_KB=1048576)

# ---- figures

# Nanoseconds of CPU that the processes have used so far, all their threads.
cpu_ns()
{
	local pid sum=0 file ns rest

	for pid; do
		for file in /proc/"$pid"/task/*/schedstat; do
			read -r ns rest 2>/dev/null <"$file" && sum=$((sum + ns))
		done
	done
	echo "$sum"
}

# figures NAME FILE: FILE has lines of "round what value". For each `what` prints the median of its ratios to `plain` of
# the same round, the quartiles, and their number.
figures()
{
	diag "$1: what, median of the ratio to the plain program, lower and upper quarter"
	diag "$(awk '
		{ v[$1, $2] = $3; rounds[$1]; whats[$2] }
		END {
			for (w in whats)
				for (r in rounds)
					if (v[r, w] && v[r, "plain"])
						print w, v[r, w] / v[r, "plain"]
		}' "$2" | sort -k1,1 -k2,2n | awk '
		function flush() {
			if (n)
				printf "%-9s %.3f  %.3f .. %.3f  of %d\n", what, list[int((n + 1) / 2)], list[int((n + 3) / 4)],
					list[int((3 * n + 3) / 4)], n
			n = 0
		}
		$1 != what { flush(); what = $1 }
		{ list[++n] = $2 }
		END { flush() }')"
}

# costs PROGRAM CPU RATE: the cost of events. `one WHAT` adds to the files cpu and rate a line for figures(), and, of
# `recorded`, the events a second to events_a_second; CPU and RATE describe what is measured.
costs()
{
	: >cpu
	: >rate
	: >events_a_second
	for round in $(seq "$REAL_ROUNDS"); do
		for what in plain off on recorded; do
			one $what
		done
	done
	is "every run was measured" "$(wc -l <cpu) $(wc -l <rate)" "$((4 * REAL_ROUNDS)) $((4 * REAL_ROUNDS))"
	figures "$1, $2" cpu
	figures "$1, $3" rate
	diag "events a second while recorded: $(sort -n events_a_second |
		awk '{ v[NR] = $1 } END { print int(v[int((NR + 1) / 2)]) }')"
}
