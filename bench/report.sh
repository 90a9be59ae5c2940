#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# report.sh BUILD [ROUNDS [FILE]]: `recorder report` compared with `trace-cmd report` of the same file, by turns; see README.md
# here. BUILD is a build directory. Without FILE, sched and syscalls are recorded under `perf bench sched messaging`, as root.
# Figures are CPU time, user and system, so that other programs disturb little; of the two rows on all CPUs the seconds count,
# too, and these need a machine that does nothing else.

set -u
build=$(realpath "$1")
rounds=${2:-5} file=${3:-}
[ -z "$file" ] || file=$(realpath "$file")
dir=$(mktemp -d "${TMPDIR:-/tmp}/recorder-bench.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$dir" || exit 1
export RECORDER_DIR=$dir/run
mkdir -m 700 run
recorder=$build/recorder
cpu=$(taskset -cp $$ | sed 's/.*[^0-9]//')

if [ -z "$file" ]; then
	file=$dir/trace.dat
	"$recorder" record -o "$file" -e sched -e syscalls -b 60000 perf bench sched messaging -g 4 -l 800 >record 2>&1 || {
		cat record
		exit 1
	}
fi
"$recorder" report "$file" >ours && trace-cmd report "$file" >theirs 2>/dev/null
cmp ours theirs || exit 1
events=$(($(wc -l <ours) - 1))
echo "$events events; both reports are the same"
rm ours theirs

# measure NAME COMMAND...: a line "NAME CPU-seconds seconds"
measure()
{
	local name=$1 user system real
	local TIMEFORMAT='%U %S %R'
	shift
	read -r user system real < <({ time "$@" >/dev/null 2>&1; } 2>&1)
	echo "$name $user $system $real" | awk '{ print $1, $2 + $3, $4 }'
}

for ((round = 0; round < rounds; round++)); do
	measure trace-cmd taskset -c "$cpu" trace-cmd report "$file"
	measure one-cpu taskset -c "$cpu" "$recorder" report "$file"
	measure all-cpus "$recorder" report "$file"
	measure filter taskset -c "$cpu" "$recorder" report -F 'sched_switch:prev_pid == -7' "$file"
	measure start taskset -c "$cpu" sh -c "'$recorder' report '$file' | head -1"
	measure theirs-start taskset -c "$cpu" sh -c "trace-cmd report '$file' | head -1"
done >figures

# The time that a command needs to start (formats, symbols) is not a cost of events, so it is subtracted in each round.
python3 - "$events" <<'END'
import statistics, sys
events = int(sys.argv[1])
rounds, names = [], ['trace-cmd', 'one-cpu', 'all-cpus', 'filter', 'start', 'theirs-start']
for line in open('figures'):
    name, cpu, wall = line.split()
    if name == names[0]:
        rounds.append({})
    rounds[-1][name] = float(cpu), float(wall)
def median(figure):
    return statistics.median(figure(r) for r in rounds)
def ns(name, start):
    return median(lambda r: r[name][0] - r[start][0]) * 1e9 / events
print(f"{'':14} {'ns/event':>9} {'ratio':>7} {'CPU s':>7} {'s':>7}")
for name in names:
    start = 'theirs-start' if name == 'trace-cmd' else 'start'
    each = '' if name.endswith('start') else f'{ns(name, start):.0f}'
    ratio = median(lambda r: r[name][0] / r['trace-cmd'][0])
    print(f'{name:14} {each:>9} {ratio:7.3f} {median(lambda r: r[name][0]):7.2f} {median(lambda r: r[name][1]):7.2f}')
print(f"all CPUs are {median(lambda r: r['one-cpu'][1] / r['all-cpus'][1]):.2f} times as fast as one")
END
