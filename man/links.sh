#!/bin/sh
# SPDX-License-Identifier: MIT
#
# usage: links.sh install|remove DIRECTORY SOURCE-DIRECTORY PAGE...
#
# Makes `man NAME` find each name in the NAME section of a page of section 3: a file NAME.3 that includes the page.
# DIRECTORY has the installed pages; `remove` takes the same files away. Pages of other sections are skipped.

set -eu
action=$1
directory=$2
source=$3
shift 3

for page; do
	file=${page##*/}
	[ "${file##*.}" = 3 ] || continue
	names=$(sed -n '/^\.SH NAME$/,/^\.SH SYNOPSIS$/p' "$source/$page" | grep -v '^\.' | tr '\n' ' ' |
		sed 's/ \\- .*//' | tr ',' ' ')
	for name in $names; do
		[ "$name.3" != "$file" ] || continue
		case $action in
		install) echo ".so man3/$file" >"$directory/$name.3" ;;
		remove) rm -f "$directory/$name.3" ;;
		*) exit 2 ;;
		esac
	done
done
