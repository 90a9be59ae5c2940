#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# README.md: every command in its fenced blocks does what the text states, with what `make install` installs; its declarations
# compile as they are printed; its tables name the commands that exist, and its text the environment variables.

. "$top_srcdir/tests/tap.sh"
readme=$top_srcdir/README.md
# shellcheck disable=SC2034 # for tutorial.sh
tutorial=$readme
. "$top_srcdir/tests/tutorial.sh"

tutorial_install
mkdir "$TMP/try"
cd "$TMP/try" || exit 1

# ---- the declarations of "Durations", and the statements in the comments beside them

awk '/^```c$/ { in_block = 1; nr++; next } /^```$/ { in_block = 0 } in_block && nr == 2' "$readme" >declared.c
statements=$(grep -oE '\<REC(_BEGIN|_END|_SCOPE)?\([^;]*\);' declared.c)
ok "README declares spans, and uses them" test "$(grep -c . <<<"$statements")" -ge 5
{
	echo '#include <librecorder/event.h>'
	echo '#include <stdio.h>'
	echo '#include <unistd.h>'
	echo 'REC_EVENT(io, submit, u64(id), u32(size), string(path));'
	cat declared.c
	echo 'static void work(const char *path, int64_t size)'
	printf '{\n%s\n\tREC(io, submit, 1, 8192, path);\n}\n' "$statements"
	cat <<'END'
int main(int argc, char **argv)
{
	FILE *ready;

	for (int i = 0;; i++) {
		work("a.db", i);
		usleep(2000);
		if (!i && argc > 1 && (ready = fopen(argv[1], "w")))
			fclose(ready);
	}
}
END
} >server.c
# shellcheck disable=SC2046,SC2086
ok "they compile" $CC -Wall -Wextra -Werror -D_DEFAULT_SOURCE server.c $(pkg-config --cflags --libs librecorder) -o server

# ---- the commands: a program that was killed, and a server that runs

cp server killed
RECORDER_ENABLE='io:*' ./killed killed.ready &
wait_until test -e killed.ready
{ kill -KILL $! && wait $!; } 2>/dev/null
./server server.ready &
wait_until test -e server.ready

tutorial_kinds
# sudo is not needed: commands that trace the kernel run only if this user may trace it.
sudo()
{
	"$@"
}
export -f sudo recorder
tutorial_script . "${kinds[@]}"
bash run.sh
tutorial_results . "${kinds[@]}"

ok "last.dat has the server's spans" grep -qE 'request_begin: .*path=a.db' <(recorder report last.dat)
ok "dead.dat has the killed program's" grep -qE '^ *killed-.* request_begin: .*path=a.db' <(recorder report dead.dat)

# ---- the tables

# The cells of the first column, from the row below the heading of the table to its end.
cells()
{
	sed -n "/^| $1 |/,/^\$/p" "$readme" | sed '1,2d; s/^| \([^|]*\) |.*/\1/' | grep -oE '`[^`]+`' | tr -d '`'
}

is "the commands are those of recorder --help" "$(cells command | sed 's/^recorder //' | sort)" \
	"$(recorder --help | sed -nE 's/^  ([a-z]+)  +[a-z].*/\1/p' | sort)"

# variables PAGE: those that the page's section ENVIRONMENT names
variables()
{
	sed -n '/^\.SH ENVIRONMENT/,/^\.SH [FU]/s/^\.BR\{0,1\} \(REC[A-Z_]*\).*/\1/p' "$top_srcdir/man/$1" | sort -u
}

is "the variables exist" "$(sed -n '/^## Environment/,/^## Control/p' "$readme" | grep -oE '\<REC[A-Z_]+[A-Z]\>' | sort -u |
	grep -vxF -f <(variables librecorder.3))" ""
is "recorder(1) names the variables of librecorder(3)" "$(variables recorder.1)" "$(variables librecorder.3)"
missing=$(grep -oE '\]\([^)#:]+[)#]' "$readme" | tr -d '](#)' | while read -r file; do
	[ -e "$top_srcdir/$file" ] || echo "$file"
done)
is "the files that it links to exist" "$missing" ""

done_testing
