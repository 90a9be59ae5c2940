#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The Debian packages: they build from the tarball, lintian reports nothing, they install into a fresh system, and there
# README's example compiles, records and shows what it wrote.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/package/packages.sh"

is "debian/changelog has the version of configure.ac" "$(dpkg-parsechangelog -l "$top_srcdir/debian/changelog" -S Version)" "$version"
# Each symbol is listed since the release that added it; dpkg-gensymbols compares the list with the library.
ok "the packages build" packages_build
mapfile -t packages < <(cd "$debs" && ls -- *.deb 2>/dev/null | grep -v dbgsym)
is "there are four" "$(printf '%s\n' "${packages[@]%%_*}" | sort | tr '\n' ' ')" "librecorder-dat0 librecorder-dev librecorder0 recorder "
is "with debugging symbols beside them" "$(cd "$debs" && ls -- *-dbgsym_*.deb | sed 's/_.*//' | sort | tr '\n' ' ')" \
	"librecorder-dat0-dbgsym librecorder0-dbgsym recorder-dbgsym "

said=$(cd "$debs" && lintian --allow-root --fail-on error,warning -- *.changes 2>&1)
ok "lintian passes" test $? = 0
is "and has nothing to say" "$said" ""

root=$TMP/root
ok "a fresh system is unpacked" fresh_system "$root"
sed -n '/^```c$/,/^```$/p' "$top_srcdir/README.md" | sed '1d;/^```$/,$d' >"$root/try/app.c"
ok "README has an example" grep -q REC_EVENT "$root/try/app.c"

ok "the packages install" inside "$root" 'dpkg -i /packages/*.deb'
is "dpkg finds them whole" "$(inside "$root" 'dpkg --audit; dpkg --verify librecorder0 librecorder-dat0 librecorder-dev recorder' 2>&1)" ""
ok "README's example compiles" inside "$root" 'cc -Wall -Werror app.c $(pkg-config --cflags --libs librecorder) -o app'
like "with the shared library" "$(inside "$root" 'ldd ./app')" 'librecorder\.so\.0 => /'
ok "it is recorded" inside "$root" 'recorder record ./app'
is "and shown" "$(inside "$root" 'recorder report' | sed -nE 's/^.*: (hello:) +/\1 /p')" "hello: number=0 whom=world
hello: number=1 whom=world
hello: number=2 whom=world"
for file in bash-completion/completions/recorder zsh/vendor-completions/_recorder fish/vendor_completions.d/recorder.fish; do
	ok "completion is there: $file" test -e "$root/usr/share/$file"
done
ok "man pages are there" test -e "$(find "$root/usr/share/man" -name 'rec_disable.3*')" -a -e "$(find "$root/usr/share/man" -name 'recorder-record.1*')"
ok "the packages are removed" inside "$root" 'dpkg -P recorder librecorder-dev librecorder-dat0 librecorder0'
is "and leave nothing" "$(find "$root/usr" "$root/etc" -name '*librecorder*' -o -name 'recorder*' | head -n 5)" ""

done_testing
