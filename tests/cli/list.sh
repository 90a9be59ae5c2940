#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder list FILE: the file's events in the order of the source, however the compiler orders them, and the events of
# the libraries that the file needs.

. "$top_srcdir/tests/tap.sh"
cd "$TMP" || exit 1
# A sanitizer's library is not found from everywhere; what is listed does not depend on it.
flags="-I$top_srcdir/include -I$top_builddir/include -fPIC"
library=$(cd "$top_builddir/.libs" && pwd)
[ -e "$library/librecorder.so" ] || skip_all "configured without a shared library"

# events NAME: a source with three events of the system NAME
events()
{
	local name=$1 event

	echo '#include <librecorder/event.h>'
	for event in first second third; do
		echo "REC_EVENT($name, $event, u32(n));"
	done
	echo "void $name(void);"
	echo "void $name(void) { REC($name, third, 1); REC($name, first, 2); REC($name, second, 3); }"
}
listed()
{
	printf '%s\n' "$1:first u32(n)" "$1:second u32(n)" "$1:third u32(n)"
}
# list ARGUMENT...: what list prints, without columns
list()
{
	"$RECORDER" list "$@" 2>err | tr -s ' ' | sed 's/^ //; s/^.*\/\(lib\)/\1/'
}

events one >one.c
for options in -O0 -O1 -O2 -O3 -Os '-O2 -flto'; do
	echo 'int main(void) { return 0; }' >main.c
	# shellcheck disable=SC2086
	$CC $flags $options one.c main.c -o program -L"$library" -lrecorder -Wl,-rpath,"$library" 2>cc.err ||
		{ fail "$options: $(<cc.err)" && continue; }
	is "the order of the source, $options" "$(list --binary program)" "program
$(listed one)"
done

link()
{
	# shellcheck disable=SC2086
	$CC $flags -O2 -Wl,--no-as-needed "$@" -L"$library" -lrecorder -Wl,-rpath,"$library"
}

# The fields of all events begin in the same column, except after a name that is far too long.
cat >columns.c <<'END'
#include <librecorder/event.h>
REC_EVENT(c, a, u32(n));
REC_EVENT(c, none);
REC_EVENT(c, twelve_chars, u32(n));
REC_SPAN(c, span, u32(n));
REC_EVENT(c, a_name_that_is_longer_than_a_column_may_be_wide, u32(n));
END
ok "events with names of all lengths" link columns.c main.c -o columns
is "columns" "$("$RECORDER" list ./columns)" "./columns
  c:a             u32(n)
  c:none
  c:twelve_chars  u32(n)
  c:span          span u32(n)
  c:a_name_that_is_longer_than_a_column_may_be_wide  u32(n)"

# A program that needs liba and libc; liba needs libb, and libb needs libc, which is in another directory.
mkdir -p lib lib/deep
events cc >cc.c
events bb >bb.c
events aa >aa.c
ok "a library" link -shared cc.c -o lib/deep/libc-events.so
ok "one that needs it" link -shared bb.c -o lib/libb-events.so -Llib/deep -l:libc-events.so -Wl,-rpath,'$ORIGIN/deep'
ok "and one that needs that" link -shared aa.c -o lib/liba-events.so -Llib -l:libb-events.so -Wl,-rpath,'${ORIGIN}' \
	-Wl,-rpath-link,lib/deep
ok "a program" link one.c main.c -o program -Llib -l:liba-events.so -Wl,-rpath,'$ORIGIN/lib' -Wl,-rpath-link,lib -Wl,-rpath-link,lib/deep
is "its events and those of its libraries" "$(list ./program)" "./program
$(listed one)
liba-events.so
$(listed aa)
libb-events.so
$(listed bb)
libc-events.so
$(listed cc)"
is "without a message" "$(<err)" ""
is "and those of a library" "$(list lib/libb-events.so)" "libb-events.so
$(listed bb)
libc-events.so
$(listed cc)"

ok "a program without a path to its libraries" link one.c main.c -o plain -Llib -l:liba-events.so -Wl,-rpath-link,lib -Wl,-rpath-link,lib/deep
is "its own events" "$(list ./plain)" "./plain
$(listed one)"
like "and what cannot be found" "$(<err)" "^recorder list: './plain' needs 1 library that cannot be found, such as 'liba-events.so': its"
is "LD_LIBRARY_PATH counts" "$(LD_LIBRARY_PATH=/nowhere:lib list ./plain | grep -c :)" 12
ok "a program whose events are all in a library" link main.c -o empty -Llib -l:liba-events.so -Wl,-rpath,'$ORIGIN/lib' -Wl,-rpath-link,lib -Wl,-rpath-link,lib/deep
is "those of the library" "$(list ./empty | head -n 2)" "liba-events.so
aa:first u32(n)"

# The loader does not search for a library that it has already loaded under this name: liby does not know where libz is.
mkdir flat
events xx >xx.c
events yy >yy.c
events zz >zz.c
ok "a library in another directory" link -shared zz.c -o flat/libz-events.so
ok "one that needs it, without a path to it" link -shared yy.c -o flat/liby-events.so -Lflat -l:libz-events.so
ok "another one" link -shared xx.c -o flat/libx-events.so -Lflat -l:libz-events.so
ok "a program that needs all" link one.c main.c -o all -Lflat -l:libx-events.so -l:liby-events.so -l:libz-events.so -Wl,-rpath,'$ORIGIN/flat'
is "each library is listed once" "$(list ./all)" "./all
$(listed one)
libx-events.so
$(listed xx)
liby-events.so
$(listed yy)
libz-events.so
$(listed zz)"
is "and found" "$(<err)" ""
ok "a program that does not name the third" link one.c main.c -o two -Lflat -l:libx-events.so -l:liby-events.so -Wl,-rpath,'$ORIGIN/flat' \
	-Wl,-rpath-link,flat
is "the others" "$(list ./two | grep -c :)" 9
like "a library that two need and that cannot be found counts once" "$(<err)" \
	"^recorder list: './two' needs 1 library that cannot be found, such as 'libz-events.so': its"

# $ORIGIN of a program is the directory of the real file.
mkdir -p opt/bin opt/lib links
ok "a program beside its libraries" link one.c main.c -o opt/bin/app -Lflat -l:libz-events.so -Wl,-rpath,'$ORIGIN/../lib'
cp flat/libz-events.so opt/lib
ln -s ../opt/bin/app links/app
is "by a symbolic link" "$(list links/app)" "links/app
$(listed one)
libz-events.so
$(listed zz)"
is "all is found" "$(<err)" ""

# Only the names of libraries are read, however many others a library has.
long=$(printf '%01000000d' 0)
for i in $(seq 18); do
	printf '.globl s%s\n.set s%s, %s\n' "$i$long" "$i$long" "$i"
done >names.s
echo '.section .note.GNU-stack,"",%progbits' >>names.s
ok "a library with 18 MB of names" link -shared yy.c names.s -o flat/liblarge-events.so -Lflat -l:libz-events.so -Wl,-rpath,'$ORIGIN'
ok "are in it" has_size flat/liblarge-events.so 18000000
is "its events and those of the library that it needs" "$(list flat/liblarge-events.so)" "liblarge-events.so
$(listed yy)
libz-events.so
$(listed zz)"

head -c 700 lib/deep/libc-events.so >cut && mv cut lib/deep/libc-events.so
is "a library that is damaged is passed over" "$(list ./empty | grep -c :)" 6
python3 - <<'END'
import struct, sys
nr = (1 << 20) + 1
ident = b"\x7fELF" + bytes((2, 1 if sys.byteorder == "little" else 2, 1)) + bytes(9)
with open("many", "wb") as out:
    # A number of sections that the head has no room for is in section 0.
    out.write(ident + struct.pack("=HHIQQQIHHHHHH", 3, 0, 1, 0, 0, 64, 0, 64, 56, 0, 64, 0, 0))
    out.write(struct.pack("=IIQQQQIIQQ", 0, 0, 0, 0, 0, nr, 0, 0, 0, 0))
    out.truncate(64 + nr * 64)
END
fails "a sparse file with too many sections" "$RECORDER" list ./many
like "is not searched" "$err" "^recorder list: cannot list './many': it is damaged$"
fails "a program without any" "$RECORDER" list /bin/true
like "is reported" "$err" "^recorder list: cannot list '/bin/true': no events are compiled into it$"

done_testing
