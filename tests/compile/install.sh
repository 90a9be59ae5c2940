#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What make install leaves is enough for an application: headers, pkg-config file, both libraries, the command, pages.

. "$top_srcdir/tests/tap.sh"

unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
root=$TMP/root
ok "make install" make -s -C "$top_builddir" install "DESTDIR=$root"

pc=$(find "$root" -name librecorder.pc)
ok "there is a pkg-config file" test -e "$pc"
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$root
like "it says -lrecorder" "$(pkg-config --libs librecorder)" '-lrecorder'
unlike "and nothing else" "$(pkg-config --libs --static librecorder)" '-l([^r]|r[^e])'

cat >"$TMP/app.c" <<'EOF'
#include <librecorder/event.h>

REC_EVENT(install, works, u32(answer), string(text));

int main(void)
{
	REC(install, works, 42, "forty-two");
	return 0;
}
EOF
read -ra flags <<<"$CFLAGS_FOR_TEST $(pkg-config --cflags --libs librecorder)"
# The build directory's headers must not stand in for missing installed ones.
for i in "${!flags[@]}"; do
	[ "${flags[i]}" = "-I$top_srcdir/include" ] && unset 'flags[i]'
done
libdir=${pc%/pkgconfig/*}
ok "each name of a page finds it" test -e "$(find "$root" -name rec_disable.3)"
ok "an application builds with it" "$CC" "$TMP/app.c" -o "$TMP/app" "${flags[@]}"
ok "and runs" env LD_LIBRARY_PATH="$libdir" "$TMP/app"
if [[ $CFLAGS_FOR_TEST = *-fsanitize* ]]; then
	skip "it builds statically" "a sanitizer cannot be linked statically"
elif [ -e "$libdir/librecorder.a" ]; then
	ok "it builds statically" "$CC" "$TMP/app.c" -o "$TMP/app-static" -static "${flags[@]}"
	ok "and runs" "$TMP/app-static"
else
	skip "it builds statically" "configured without a static library"
fi

ok "the command runs where it was installed" "$(find "$root" -type f -path '*/bin/recorder')" --version
strangers=$(find "$root" -path '*/include/*' -type f ! -path '*/include/librecorder/*.h' ! -path '*/include/librecorder/event.hpp')
is "headers stand in <librecorder/> only" "$strangers" ""

done_testing
