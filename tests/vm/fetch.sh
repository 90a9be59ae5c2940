#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# fetch.sh DIRECTORY: Debian's kernels for tests/vm, as DIRECTORY/VERSION/vmlinuz, with one module each, binfmt_misc.ko.
# They are downloaded and not installed: a check must not write to /boot. Existing ones are kept. Reports on one line what it could not get.

set -eu -o pipefail

# Options of apt: none, or those that make it find Debian's security updates.
apt=()

# know_updates DIRECTORY: lets apt find security updates, with package lists below DIRECTORY. Their archive is the one
# in apt's sources with "-security" at its end.
know_updates()
{
	local lists=$1/apt archive codename

	read -r archive codename < <(apt-get indextargets --format '$(SITE) $(CODENAME)' | grep -v -- '-\|security' | sort -u) || return
	mkdir -p "$lists/lists/partial" "$lists/cache/archives/partial"
	echo "deb $archive-security $codename-security main" >"$lists/sources.list"
	apt=(-o "Dir::Etc::SourceList=$lists/sources.list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$lists/lists"
		-o "Dir::Cache=$lists/cache")
	apt-get "${apt[@]}" update
}

# The newest kernel package of a series that apt knows, of the small ones for virtual machines.
newest()
{
	apt-cache "${apt[@]}" search --names-only "^linux-image-${1//./\\.}\\.[0-9].*-cloud-amd64\$" | cut -d ' ' -f 1 | sort -V | tail -n 1
}

# fetch VERSION DIRECTORY
fetch()
{
	local version=$1 to=$2/$1 package

	[ ! -e "$to/binfmt_misc.ko" ] || return 0
	package=$(newest "$version")
	if [ -z "$package" ]; then
		echo "apt knows no package linux-image-$version.*-cloud-amd64, not even in Debian's security updates" >"$2/$version.log"
		return 1
	fi
	rm -rf "$to.part"
	mkdir -p "$to.part"
	(
		cd "$to.part"
		apt-get "${apt[@]}" download -qq "$package" &&
			dpkg-deb --fsys-tarfile ./*.deb | tar -x --wildcards './boot/vmlinuz-*' '*/fs/binfmt_misc.ko*' &&
			find . -name '*.xz' -exec xz -d {} + &&
			find . -name binfmt_misc.ko -exec mv {} . \; &&
			mv boot/vmlinuz-* vmlinuz && find . ! -name vmlinuz ! -name binfmt_misc.ko -delete
	) >"$2/$version.log" 2>&1 && rm -rf "$to" "$2/$version.log" && mv "$to.part" "$to"
}

mkdir -p "$1"
# apt takes a path that is not absolute as one below /etc/apt.
set -- "$(realpath "$1")"
updated=no
for version in 6.1 6.12; do
	fetch $version "$1" && continue
	# The lists are too old, or do not exist yet, or lack the security updates.
	if [ "$(id -u)" = 0 ] && [ $updated = no ]; then
		updated=yes
		apt-get update >"$1/update.log" 2>&1 || true
		fetch $version "$1" && continue
		know_updates "$1" >>"$1/update.log" 2>&1 || true
		fetch $version "$1" && continue
	fi
	echo "fetch.sh: cannot fetch Linux $version for tests/vm: $(tail -n 1 "$1/$version.log")" >&2
done
