#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# fetch.sh DIRECTORY: Debian's kernels for tests/vm, as DIRECTORY/VERSION/vmlinuz. They are downloaded and not installed: a
# check has no business in /boot. Those that are there stay. Says in one line what it could not have.

set -eu -o pipefail

# The newest that apt knows of a series: small ones, made for virtual machines.
newest()
{
	apt-cache search --names-only "^linux-image-${1//./\\.}\\.[0-9].*-cloud-amd64\$" | cut -d ' ' -f 1 | sort -V | tail -n 1
}

# fetch VERSION DIRECTORY
fetch()
{
	local version=$1 to=$2/$1 package

	[ ! -e "$to/vmlinuz" ] || return 0
	package=$(newest "$version")
	if [ -z "$package" ]; then
		echo "apt knows no package linux-image-$version.*-cloud-amd64; are Debian's security updates in its sources?" >"$2/$version.log"
		return 1
	fi
	rm -rf "$to.part"
	mkdir -p "$to.part"
	(
		cd "$to.part"
		apt-get download -qq "$package" &&
			dpkg-deb --fsys-tarfile ./*.deb | tar -x --wildcards './boot/vmlinuz-*' &&
			mv boot/vmlinuz-* vmlinuz && rm -r boot ./*.deb
	) >"$2/$version.log" 2>&1 && rm -rf "$to" "$2/$version.log" && mv "$to.part" "$to"
}

mkdir -p "$1"
updated=no
for version in 6.1 6.12; do
	fetch $version "$1" && continue
	# A list that is too old, or none yet.
	if [ "$(id -u)" = 0 ] && [ $updated = no ]; then
		updated=yes
		apt-get update >"$1/update.log" 2>&1 || true
		fetch $version "$1" && continue
	fi
	echo "fetch.sh: cannot fetch Linux $version for tests/vm: $(tail -n 1 "$1/$version.log")" >&2
done
