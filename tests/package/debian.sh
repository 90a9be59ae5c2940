#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The Debian packages: they build from the tarball, lintian reports nothing, they install into a fresh system, and there
# README's example compiles, is recorded and shows what it wrote.

. "$top_srcdir/tests/tap.sh"

[ "$(id -u)" = 0 ] || skip_all "a fresh system is entered as root only"
for tool in dpkg-buildpackage lintian debootstrap unshare; do
	command -v $tool >/dev/null || skip_all "$tool is not installed"
done
fresh=${RECORDER_FRESH_ROOT:-$top_srcdir/build/root.tar.gz}
[ -e "$fresh" ] || skip_all "there is no $fresh; tests/package/root.sh makes it, and ./quickstart check-all calls that"

unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
version=$(sed -nE 's/^AC_INIT\(\[librecorder\], \[([0-9.]+)\].*/\1/p' "$top_srcdir/configure.ac")
source=$TMP/librecorder-$version
is "debian/changelog has the version of configure.ac" "$(dpkg-parsechangelog -l "$top_srcdir/debian/changelog" -S Version)" "$version"

ok "the tarball's files are collected" make -s -C "$top_builddir" distdir "distdir=$source"
# Each symbol is listed since the release that added it; dpkg-gensymbols compares the list with the library.
build()
{
	cd "$source" && env -u CFLAGS -u CPPFLAGS -u LDFLAGS -u CC dpkg-buildpackage -us -uc "-j$(nproc)"
}
ok "the packages build" build
mapfile -t packages < <(cd "$TMP" && ls -- *.deb 2>/dev/null | grep -v dbgsym)
is "there are three" "$(printf '%s\n' "${packages[@]%%_*}" | sort | tr '\n' ' ')" "librecorder-dev librecorder0 recorder "
is "with debugging symbols beside them" "$(cd "$TMP" && ls -- *-dbgsym_*.deb | sed 's/_.*//' | sort | tr '\n' ' ')" \
	"librecorder0-dbgsym recorder-dbgsym "

said=$(cd "$TMP" && lintian --allow-root --fail-on error,warning -- *.changes 2>&1)
ok "lintian passes" test $? = 0
is "and reports nothing" "$said" ""

root=$TMP/root
mkdir "$root"
ok "a fresh system is unpacked" tar -C "$root" -xzf "$fresh"
mkdir "$root/packages" "$root/try"
cp "$TMP"/*.deb "$root/packages/"
rm -f "$root"/packages/*dbgsym*
sed -n '/^```c$/,/^```$/p' "$top_srcdir/README.md" | sed '1d;/^```$/,$d' >"$root/try/app.c"
ok "README has an example" grep -q REC_EVENT "$root/try/app.c"

# inside COMMAND: in the fresh system, with process ids and mounts of its own
inside()
{
	unshare --mount --pid --fork bash -c '
		mount -t proc proc "$1/proc" && mount -t tmpfs tmpfs "$1/dev" && mkdir "$1/dev/shm" &&
			mknod -m 666 "$1/dev/null" c 1 3 && mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm" || exit 125
		exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C bash -c "cd /try && $2"' - "$root" "$1"
}

ok "the packages install" inside 'dpkg -i /packages/*.deb'
is "dpkg finds them complete" "$(inside 'dpkg --audit; dpkg --verify librecorder0 librecorder-dev recorder' 2>&1)" ""
ok "README's example compiles" inside 'cc -Wall -Werror app.c $(pkg-config --cflags --libs librecorder) -o app'
like "with the shared library" "$(inside 'ldd ./app')" 'librecorder\.so\.0 => /'
ok "it is recorded" inside 'recorder record ./app'
is "and shown" "$(inside 'recorder report' | sed -nE 's/^.*: (hello:) +/\1 /p')" "hello: number=0 whom=world
hello: number=1 whom=world
hello: number=2 whom=world"
for file in bash-completion/completions/recorder zsh/vendor-completions/_recorder fish/vendor_completions.d/recorder.fish; do
	ok "completion is there: $file" test -e "$root/usr/share/$file"
done
ok "man pages are there" test -e "$(find "$root/usr/share/man" -name 'rec_disable.3*')" -a -e "$(find "$root/usr/share/man" -name 'recorder-record.1*')"
ok "the packages are removed" inside 'dpkg -P recorder librecorder-dev librecorder0'
is "and leave nothing" "$(find "$root/usr" "$root/etc" -name '*librecorder*' -o -name 'recorder*' | head -n 5)" ""

done_testing
