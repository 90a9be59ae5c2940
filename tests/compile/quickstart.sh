#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# quickstart finds missing packages even if another architecture has them, and leaves no log. It runs in a tree with nothing to
# build, and other programs stand in for dpkg, apt-get and id.

. "$top_srcdir/tests/tap.sh"

cd "$TMP" || exit 1
mkdir -p fakes packages tree/tests
cp "$top_srcdir/quickstart" tree/
# quickstart does not make a configure that exists, and ends if it was run here.
touch tree/configure tree/Makefile.in tree/config.status
echo 'echo "checked $1"' >tree/tests/check.sh

# dpkg-query -W -f FORMAT PACKAGE: packages/PACKAGE has a line "ARCHITECTURE STATUS" for each architecture. Without this file, the
# package is installed for amd64.
cat >fakes/dpkg-query <<'END'
#!/usr/bin/env bash
while read -r architecture status; do
	text=${3//'${Architecture}'/$architecture}
	text=${text//'${db:Status-Status}'/$status}
	text=${text//'${Status}'/install ok $status}
	printf '%b' "$text"
done < <(cat "packages/$4" 2>/dev/null || echo amd64 installed)
END
# quickstart changes to its own directory.
sed -i "s,packages/,$TMP/&," fakes/dpkg-query
printf '#!/bin/sh\necho amd64\n' >fakes/dpkg
printf '#!/bin/sh\necho "$fake_user"\n' >fakes/id
printf '#!/bin/sh\necho "$*" >>"%s"\n' "$TMP/apt" >fakes/apt-get
chmod +x fakes/*

# demo NAME REGEX: what quickstart demo prints for an ordinary user
demo()
{
	run env PATH="$TMP/fakes:$PATH" fake_user=1000 bash tree/quickstart demo
	like "$1" "$err" "$2"
}

nothing="was run in this directory"
demo "all packages are there" "$nothing"
printf 'amd64 installed\ni386 installed\n' >packages/libc6-dev
echo all installed >packages/autoconf
demo "one for two architectures is there, and one for all" "$nothing"
printf 'amd64 config-files\ni386 installed\n' >packages/libc6-dev
echo arm64 installed >packages/zlib1g-dev
: >packages/make
demo "those of other architectures, removed ones and unknown ones are missing" \
	'apt-get install --no-install-recommends make libc6-dev zlib1g-dev$'

ok "root installs them" env PATH="$TMP/fakes:$PATH" fake_user=0 bash tree/quickstart check
like "and the tests run" "$out" 'checked short$'
is "with apt-get" "$(cat apt)" "update
install -y --no-install-recommends make libc6-dev zlib1g-dev"
ok "whose log is removed" test ! -e tree/.quickstart.apt.log

done_testing
