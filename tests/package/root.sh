#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# usage: root.sh FILE
#
# Makes FILE, the tarball of a fresh Debian with a compiler and the libraries that recorder needs, unless it exists.
# tests/package/debian.sh installs our packages into a copy of it, without a network. Needs root and the package debootstrap.
# Packages come from the archive that apt uses. If that fails, prints one line, and debian.sh is skipped.

set -eu -o pipefail
file=$1
release=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
# Packages come from Debian's own archive, not from archives of single programs, nor from those of updates.
archive=$(apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(SITE)' 2>/dev/null | sed -n "s/^Debian $release //p" |
	sort -u | head -n 1 || true)
packages=gcc,libc6-dev,pkg-config,libtraceevent1,libtracefs1,libzstd1,zlib1g,libedit2,libsqlite3-0

[ ! -e "$file" ] || exit 0
[ "$(id -u)" = 0 ] || exit 0
mkdir -p "$(dirname "$file")"
root=$(mktemp -d "${TMPDIR:-/var/tmp}/recorder-root.XXXXXX")
trap 'rm -rf --one-file-system "$root"' EXIT
debootstrap --variant=minbase --include="$packages" "$release" "$root/fresh" ${archive:+"$archive"} >"$file.log" 2>&1 </dev/null || {
	echo "root.sh: cannot make a fresh Debian for tests/package: $(tail -n 1 "$file.log")" >&2
	exit 0
}
rm -rf "$root"/fresh/var/cache/apt/archives/*.deb "$root"/fresh/var/lib/apt/lists/*
tar -C "$root/fresh" --one-file-system -cf - . | gzip -1 >"$file.part"
mv "$file.part" "$file"
