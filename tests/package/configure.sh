#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# configure with unusual compilers, flags and libraries. Only single files are made; for the others, make prints what it would do.

. "$top_srcdir/tests/tap.sh"

[ ! -e "$top_srcdir/config.status" ] || skip_all "configure was run in the source directory; it runs in no other one then"
cxx=${CXX:-g++}
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES CXX CFLAGS CPPFLAGS CXXFLAGS LDFLAGS
cd "$TMP" || exit 1

# configured DIR OPTION...: configures in a new directory
configured()
{
	mkdir "$1" && (cd "$1" && CONFIG_SHELL=/bin/sh /bin/sh "$top_srcdir/configure" --disable-dependency-tracking "${@:2}")
}

# variable DIR NAME: the value in the makefile
variable()
{
	sed -n "s/^$2 = //p" "$1/Makefile"
}

# ---- the library alone

# A compiler with the prefix of this host.
host=$(uname -m)-recorder-linux-gnu
mkdir tools
printf '#!/bin/sh\nexec %s "$@"\n' "$cxx" >"tools/$host-g++"
chmod +x "tools/$host-g++"
# clang warns of options for the linker when it compiles.
compiler=clang
command -v clang >/dev/null || compiler=$CC
PATH=$TMP/tools:$PATH ok "the library alone, with an option for the linker in CFLAGS" \
	configured alone --disable-command --build="$host" --host="$host" CC="$compiler" CFLAGS="-O2 -Wl,-z,now"
is "flags that the code needs are used" "$(variable alone REC_CFLAGS)" "-std=gnu11 -fvisibility=hidden -fno-strict-aliasing"
like "so are warnings" "$(variable alone REC_WARNINGS)" '^-Wall .*-Wshadow '
is "the C++ compiler is the host's" "$(variable alone CXX)" "$host-g++"

ok "its headers and manual pages are installed" \
	make -s -C alone install-librecorderHEADERS install-man install-data-hook "DESTDIR=$TMP/root"
is "two of them" "$(find root -name reader.h -o -name rec_view_open.3 | wc -l)" 2
is "those of librecorder-dat are not" "$(find root -name dat.h -o -iname '*rec_dat*')" ""

# ---- the command

# A header and a library that stand in for KernelShark's.
mkdir ks
: >ks/KsPlugins.hpp
# shellcheck disable=SC2086 # a compiler and its arguments
ok "a library" $CC -shared -fPIC -o ks/libks-fake.so -x c /dev/null
kshark=(KSHARK_CFLAGS="-isystem $TMP/ks" KSHARK_LIBS="-L$TMP/ks -lks-fake")

ok "the command" configured command TRACEEVENT_LIBS="-L$TMP/te -ltraceevent" CXX="$cxx -m32" "${kshark[@]}"
like "without a plugin for KernelShark, if the C++ compiler is for another CPU" "$out" 'KernelShark: +no '
ok "a source that is made before any object of its folder" make -s -C command cli/view/view_embedded.c
ok "is there" test -s command/cli/view/view_embedded.c

mkdir -p abi/sys
echo '#define SYS_of_another_abi 1' >abi/sys/syscall.h
ok "the list of system calls" make -s -C command format/text/syscall_list.h CFLAGS="-isystem $TMP/abi"
is "is that of the headers that CFLAGS selects" "$(cat command/format/text/syscall_list.h)" \
	$'\t{ SYS_of_another_abi, "of_another_abi" },'

like "a program that is linked statically finds libtraceevent where it was found" \
	" $(PKG_CONFIG_PATH=command pkg-config --static --libs librecorder-dat) " " -L$TMP/te .*-ltraceevent "

# ---- the plugin for KernelShark

fails "a plugin is wanted, but its libraries are missing" \
	configured missing --with-kernelshark CXX="$cxx" KSHARK_CFLAGS="-isystem $TMP/ks" KSHARK_LIBS=-lno-such-library
like "what it needs is named" "$err" 'the plugin for KernelShark needs .*a C\+\+ compiler.*the command.*shared libraries'
ok "they are there" configured plugin CXX="$cxx" CXXFLAGS=-DFOR_CXX CFLAGS=-DFOR_C "${kshark[@]}"
like "the plugin is built" "$out" 'KernelShark: +yes '
like "with these libraries" "$(make -n V=1 -C plugin plugin-recorder.la | grep -e '-o plugin-recorder\.la')" ' -lks-fake '
compilation=$(make -n V=1 -C plugin kernelshark/plot.lo)
like "with CXXFLAGS" "$compilation" ' -DFOR_CXX '
unlike "and not CFLAGS" "$compilation" ' -DFOR_C '

mkdir -p plugin/kernelshark
touch plugin/kernelshark/plot.lo
ok "its object is up to date" make -q -C plugin kernelshark/plot.lo
run make -q -C plugin -W "$top_srcdir/format/model/span_state.h" kernelshark/plot.lo
is "until a header changes that marks.h includes" "$status" 1

done_testing
