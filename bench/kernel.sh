#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# kernel.sh BUILD [ROUNDS [LOOPS]]: `recorder record` compared with `trace-cmd record` of the same load, by turns; see
# README.md here. BUILD is a build directory. Needs root, trace-cmd, perf (Debian: linux-perf) and a machine that does nothing
# else.

set -u
build=$(realpath "$1")
rounds=${2:-5} loops=${3:-200}
top=$(cd "$(dirname "$0")/.." && pwd)
dir=$(mktemp -d "${TMPDIR:-/tmp}/recorder-bench.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$dir" || exit 1
export RECORDER_DIR=$dir/run
mkdir -m 700 run

trace_cmd=(trace-cmd)
if ! trace-cmd record -B "bench-$$" -o probe.dat true >probe 2>&1; then
	${CC:-cc} -O2 -shared -fPIC -D_GNU_SOURCE -o unwritable.so "$top/bench/unwritable.c" -ldl || exit 1
	trace_cmd=(env LD_PRELOAD="$dir/unwritable.so" trace-cmd)
fi

# The recorded load; it prints its own CPU time and the time of its end.
cat >load.sh <<END
TIMEFORMAT='%U %S %R'
{ time { [ "\$1" = alone ] || $build/examples/packer -j 2 /usr/include >/dev/null &
	perf bench sched messaging -g 10 -l $loops >/dev/null; wait; }; } 2>load.time
date +%s.%N >load.end
END

# measure NAME LOAD COMMAND...: a line "NAME LOAD ns/event events lost load's-CPU load's-seconds seconds-until-complete".
measure()
{
	local name=$1 load=$2 end counts
	local TIMEFORMAT='%U %S %R'
	shift 2

	rm -f out.dat
	{ time "$@" env -u LD_PRELOAD bash load.sh "$load" >out 2>&1; } 2>all.time
	end=$(date +%s.%N)
	if [ "$name" = recorder ]; then
		counts=$(awk '/^recorded/ { sub(/kernel /, ""); events += $2; lost += $(NF - 1) } END { print events, lost }' out)
	else
		counts=$(trace-cmd report --stat -i out.dat 2>/dev/null | awk '/^read events:/ { events += $3 }
			/^overrun:/ { lost += $2 } /^(commit overrun|dropped events):/ { lost += $3 } END { print events, lost }')
	fi
	awk -v name="$name" -v load="$load" -v counts="$counts" -v end="$end" 'FNR == 1 { cpu[++n] = $1 + $2; wall[n] = $3 }
		END { split(counts, c, " "); printf "%s %s %.1f %d %d %.2f %.2f %.2f\n", name, load,
			(cpu[1] - cpu[2]) * 1e9 / c[1], c[1], c[2], cpu[2], wall[2], end - wall[3] }' \
		all.time load.time <(sed 's/^/0 0 /' load.end)
}

events=(-e sched -e syscalls)
for _ in $(seq "$rounds"); do
	measure recorder alone "$build/recorder" record -o out.dat "${events[@]}" --
	measure trace-cmd alone "${trace_cmd[@]}" record -B "bench-$$" -o out.dat "${events[@]}"
	measure trace-cmd-r50 alone "${trace_cmd[@]}" record -r 50 -B "bench-$$" -o out.dat "${events[@]}"
	measure recorder woven "$build/recorder" record -o out.dat -u '*' "${events[@]}" --
	measure trace-cmd-r50 woven "${trace_cmd[@]}" record -r 50 -B "bench-$$" -o out.dat "${events[@]}"
done | tee -a all >&2

# Medians, and ratios of the medians to those of trace-cmd -r 50.
awk '
function median(list,    values, n, i, j, v) {
	n = split(list, values, " ")
	for (i = 2; i <= n; i++) {
		v = values[i] + 0
		for (j = i - 1; j >= 1 && values[j] + 0 > v; j--)
			values[j + 1] = values[j]
		values[j + 1] = v
	}
	return values[int((n + 1) / 2)]
}
{ key = $2 " " $1; keys[key]; for (i = 3; i <= 8; i++) list[key, i] = list[key, i] " " $i; total[key] += $4; lost[key] += $5 }
END {
	printf "%-22s %9s %7s %7s %9s %9s %9s\n", "", "ns/event", "ratio", "lost %", "load CPU", "load s", "complete s"
	for (key in keys) {
		split(key, k, " ")
		base = k[1] " trace-cmd-r50"
		printf "%-22s %9.1f %7.2f %7.2f %9.2f %9.2f %9.2f\n", key, median(list[key, 3]),
			median(list[key, 3]) / median(list[base, 3]), 100 * lost[key] / (total[key] + lost[key]),
			median(list[key, 6]), median(list[key, 7]), median(list[key, 8])
	}
}' all | sort
