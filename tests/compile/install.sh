#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What make install installs is enough for an application: headers, pkg-config file, both libraries, the command, pages.

. "$top_srcdir/tests/tap.sh"

unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
root=$TMP/root
ok "make install" make -s -C "$top_builddir" install "DESTDIR=$root"

pc=$(find "$root" -name librecorder.pc)
ok "there is a pkg-config file" test -e "$pc"
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$root
like "it names -lrecorder" "$(pkg-config --libs librecorder)" '-lrecorder'
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
# Headers in the build directory must not replace installed ones that are missing.
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

# The same with CMake, which finds what is installed wherever it was moved to.
mkdir "$TMP/cmake"
cat >"$TMP/cmake/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.16)
project(app C)
find_package(librecorder ${wanted} REQUIRED)
add_executable(app ../app.c)
target_link_libraries(app librecorder::librecorder)
if(TARGET librecorder::static)
	add_executable(app-static ../app.c)
	target_link_libraries(app-static librecorder::static pthread)
endif()
EOF
# with_cmake VERSION
with_cmake()
{
	rm -rf "$TMP/cmake/build"
	cmake -S "$TMP/cmake" -B "$TMP/cmake/build" -DCMAKE_PREFIX_PATH="${libdir%/lib*}" -DCMAKE_C_COMPILER="$CC" -Dwanted="$1" \
		-DCMAKE_C_FLAGS="${sanitize[*]}" && cmake --build "$TMP/cmake/build"
}
sanitize=()
for flag in $CFLAGS_FOR_TEST; do
	[[ $flag != -fsanitize* ]] || sanitize+=("$flag")
done
version=$(pkg-config --modversion librecorder)
if command -v cmake >/dev/null; then
	ok "CMake finds it, and an application builds" with_cmake "$version"
	ok "and runs" "$TMP/cmake/build/app"
	[ ! -e "$libdir/librecorder.a" ] || ok "and so does one with the static library" "$TMP/cmake/build/app-static"
	fails "a later version is not found" with_cmake "${version%%.*}.999"
	fails "nor is another major one" with_cmake "$((${version%%.*} + 1))"
else
	skip "CMake finds it" "cmake is not installed"
fi

# And with Meson, by the line in README.
mkdir "$TMP/meson"
cp "$TMP/app.c" "$TMP/meson/"
{ echo "project('app', 'c')"; sed -n "s/^ *\(executable('app', .*)\) *# Meson$/\1/p" "$top_srcdir/README.md"; } >"$TMP/meson/meson.build"
is "README has a line for Meson" "$(wc -l <"$TMP/meson/meson.build")" 2
if command -v meson >/dev/null && command -v ninja >/dev/null; then
	ok "Meson finds it" env CC="$CC" CFLAGS="${sanitize[*]}" LDFLAGS="${sanitize[*]}" meson setup "$TMP/meson/build" "$TMP/meson"
	ok "and an application builds" ninja -C "$TMP/meson/build"
	ok "and runs" env LD_LIBRARY_PATH="$libdir" "$TMP/meson/build/app"
else
	skip "Meson finds it" "meson or ninja is not installed"
fi

ok "the command runs where it was installed" "$(find "$root" -type f -path '*/bin/recorder')" --version
strangers=$(find "$root" -path '*/include/*' -type f ! -path '*/include/librecorder/*.h' ! -path '*/include/librecorder/event.hpp')
is "headers are in <librecorder/> only" "$strangers" ""
# unused DIRECTORY: the headers in its detail/ that no other header there includes
unused()
{
	local header

	for header in "$1"/detail/*.h; do
		grep -qr "^#include <librecorder/detail/${header##*/}>" "$1" || echo "${header##*/}"
	done
}
headers=$(find "$root" -type d -path '*/include/librecorder')
is "each header in detail/ is one that the public headers need" "$(unused "$headers")" ""
: >"$headers/detail/stranger.h"
is "another one is found" "$(unused "$headers")" stranger.h

done_testing
