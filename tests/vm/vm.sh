# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Behind tests/tap.sh: a machine with another kernel, emulated, so that it runs anywhere, and its CPUs may go off. It gets
# this build and the tests in an initramfs; what they say there are checks of the script that started it.
#
#	run_in_vm VERSION TEST...	boots Linux VERSION with four CPUs, of which the last is off, and runs tests/TEST.sh
#
# The kernels are in $RECORDER_KERNELS, or where ./quickstart check-all puts them.

kernels=${RECORDER_KERNELS:-$top_srcdir/build/kernels}

vm_tools=(
	awk bash cat chgrp chmod chown cmp comm cp cut date dd df diff dirname basename echo env false find flock grep head id
	kill ln ls mkdir mkfifo mktemp mount mountpoint mv nproc od paste pgrep printenv printf prlimit ps readlink rm rmdir
	sed seq setpriv sh sleep sort stat strace stty tac tail taskset timeout touch tr trace-cmd true truncate umount uname
	uniq unshare wc xargs
)
vm_programs=(
	recorder
	examples/packer
	tests/kernel/spoil
	tests/programs/{calls,pinned,producer,victim}
)

# put FILE NAME: a copy under that name, and the libraries that it needs
put()
{
	local lib

	mkdir -p "$root/$(dirname "$2")" && cp -L "$1" "$root/$2" || return 1
	# shellcheck disable=SC2013
	for lib in $(ldd "$1" 2>/dev/null | grep -o '/[^ ]*'); do
		[ -e "$root/$lib" ] || put "$lib" "$lib" || return 1
	done
}

# make_image FILE: what is built is in /build there, what is not is in /src
make_image()
{
	local root=$TMP/root each

	mkdir -p "$root"/{dev,proc,sys,run,tmp,etc,usr/bin,src/tests}
	ln -s usr/bin "$root/bin"
	for each in "${vm_tools[@]}"; do
		put "$(type -P "$each")" "/usr/bin/$each" || return 1
	done
	for each in "${vm_programs[@]}"; do
		put "$top_builddir/$each" "/build/$each" || return 1
	done
	cp -r "$top_srcdir"/tests/{*.sh,kernel,vm} "$root/src/tests" &&
		cp "$top_srcdir/tests/vm/init" "$root/init" &&
		chmod 755 "$root/init" &&
		(cd "$root" && find . -print0 | cpio --null --create --format=newc --quiet) >"$1"
}

# KVM may be there and not work, where the machine is a virtual one itself.
boot()
{
	timeout --kill-after=10 "$2" qemu-system-x86_64 -accel tcg,thread=multi -cpu Nehalem -smp 4 -m 1024 -nodefaults \
		-display none -no-reboot -kernel "$kernels/$1/vmlinuz" -initrd "$TMP/image" \
		-serial "file:$TMP/console" -serial "file:$TMP/said" \
		-append "console=ttyS0 panic=-1 loglevel=4 mitigations=off tsc=reliable rcupdate.rcu_expedited=1 maxcpus=3 tests=$3"
}

# The checks of the machine become ours, each with its test's name in front. A test that did not end is one that failed.
relay()
{
	local line test=none name planned=yes

	while IFS= read -r line; do
		name=$(sed -E 's/^(not )?ok [0-9]+ - //' <<<"$line")
		case $line in
		"begin "*) test=${line#begin } planned=no ;;
		"ok "*" # SKIP "*) skip "$test: ${name%% # SKIP *}" "${line##* # SKIP }" ;;
		"ok "*) pass "$test: $name" ;;
		"not ok "*) fail "$test: $name" ;;
		"1..0 # SKIP "*) skip "$test" "${line#1..0 # SKIP }"; planned=yes ;;
		"1.."*) planned=yes ;;
		"end "*)
			[ "$planned" = yes ] || fail "$test: it came to its end"
			diag "$line s"
			ended=$((ended + 1))
			;;
		*) echo "# ${line#\# }" ;;
		esac
	done
}

run_in_vm()
{
	local version=$1 tests status=0 ended=0

	shift
	tests=$(IFS=, && echo "$*")
	[ "$(uname -m)" = x86_64 ] || skip_all "the kernels are for x86_64"
	type -P qemu-system-x86_64 cpio >/dev/null || skip_all "no qemu-system-x86_64 or no cpio"
	[ -e "$kernels/$version/vmlinuz" ] || skip_all "no kernel $version in $kernels: ./quickstart check-all fetches it, from Debian"
	ok "an image is made" make_image "$TMP/image"
	boot "$version" 540 "$tests" >"$TMP/qemu.log" 2>&1 || status=$?
	touch "$TMP/said" "$TMP/console"
	relay <"$TMP/said"
	if ! is "the machine went through all tests" "$status $ended" "0 $#"; then
		diag "$(tail -n 5 "$TMP/qemu.log")"
		diag "$(tail -n 40 "$TMP/console" | tr -d '\r')"
	fi
}
