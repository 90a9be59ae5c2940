# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# For tests that need our Debian packages. Sourced after tests/tap.sh.
#
#	packages_build		builds them from the tarball's files, unless they are there and newer than all of these; then
#	$debs			is the directory that has them
#	fresh_system DIR	unpacks a fresh Debian into DIR, with the packages in DIR/packages
#	inside DIR COMMAND	runs a line of shell in that system, in /try, in new ${namespaces[@]}

[ "$(id -u)" = 0 ] || skip_all "a fresh system is entered as root only"
for tool in dpkg-buildpackage lintian debootstrap unshare flock; do
	command -v $tool >/dev/null || skip_all "$tool is not installed"
done
fresh=${RECORDER_FRESH_ROOT:-$top_srcdir/build/root.tar.gz}
[ -e "$fresh" ] || skip_all "there is no $fresh; tests/package/root.sh makes it, and ./quickstart check-all calls that"

unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
version=$(sed -nE 's/^AC_INIT\(\[librecorder\], \[([0-9.]+)\].*/\1/p' "$top_srcdir/configure.ac")
debs=$top_builddir/tests/package/debs

# The packages are built in $TMP, because dpkg-buildpackage writes to the directory that contains the sources.
packages_make()
{
	local source=$TMP/librecorder-$version

	make -s -C "$top_builddir" distdir "distdir=$source" &&
		(cd "$source" && env -u CFLAGS -u CPPFLAGS -u LDFLAGS -u CC dpkg-buildpackage -us -uc "-j$(nproc)") &&
		rm -rf "$debs" && mkdir -p "$debs" && cp "$TMP"/*.deb "$TMP"/*.changes "$TMP"/*.buildinfo "$TMP"/*.dsc "$TMP"/*.tar.* "$debs" &&
		touch "$debs/stamp"
}

packages_are_new()
{
	[ -e "$debs/stamp" ] && [ -z "$(find "$top_srcdir" -name build -prune -o -type f -newer "$debs/stamp" \
		\( -name '*.[ch1-9]' -o -name '*.am' -o -name '*.ac' -o -path '*/debian/*' -o -name '*.in' \) -print -quit)" ]
}

# Two tests may ask at the same time: the second one waits for the first.
packages_build()
{
	mkdir -p "${debs%/*}"
	(flock 9 && { packages_are_new || packages_make; }) 9>"${debs%/*}/debs.lock"
}

fresh_system()
{
	mkdir "$1" && tar -C "$1" -xzf "$fresh" && mkdir "$1/packages" "$1/try" && cp "$debs"/*.deb "$1/packages/" &&
		rm -f "$1"/packages/*dbgsym*
}

namespaces=(--mount --pid)
inside()
{
	unshare "${namespaces[@]}" --fork bash -c '
		mount -t proc proc "$1/proc" && mount -t tmpfs tmpfs "$1/dev" && mkdir "$1/dev/shm" &&
			mknod -m 666 "$1/dev/null" c 1 3 && mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm" &&
			mount --rbind /sys "$1/sys" || exit 125
		exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C bash -c "cd /try && $2"' - "$@"
}
