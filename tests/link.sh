#!/bin/sh
# SPDX-License-Identifier: MIT
#
# usage: link.sh LIBTOOL... --mode=link COMPILER ARGUMENT...
#
# Links a program that is not installed with the static libraries of this build, as `libtool -static` does, in less time. If
# there is no static form of a library, or one is not of this build, libtool itself links.

link()
{
	while [ "$1" != --mode=link ]; do
		shift
	done
	shift
	for argument; do
		shift
		case $argument in
		# Not passed on: libtool takes it for our own libraries only, a compiler for all libraries.
		-static) continue ;;
		/*.la) return ;;
		*.la) ;;
		*) set -- "$@" "$argument"; continue ;;
		esac
		old_library=
		dependency_libs=
		# The file sets both.
		# shellcheck disable=SC1090
		. "./$argument"
		case "$old_library $dependency_libs " in
		' '* | *.la' '*) return ;;
		esac
		# shellcheck disable=SC2086
		set -- "$@" ".libs/$old_library" $dependency_libs
	done
	exec "$@"
}

link "$@"
exec "$@"
