#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The options that trace-cmd 3.4 added: dump shows them, and symbols are those of the boot that wrote the events.

. "$top_srcdir/tests/tap.sh"

command -v python3 >/dev/null || skip_all "python3 is not installed"
cd "$TMP" || exit 99
"$top_builddir/tests/golden/mkdat" v6-kernel >v6.dat
ok "a file of version 7" "$RECORDER" convert --file-version 7 --compression none -i v6.dat -o in.dat
"$RECORDER" report in.dat >expected
ok "which has names of functions" grep -q 'do_one.*do_two\|do_two.*do_one\|do_three' expected

for kind in sections sized options current; do
	ok "$kind: a file" python3 "$top_srcdir/tests/oracle/boot_file.py" in.dat out.dat $kind
	is "$kind: functions have the names that they had" "$("$RECORDER" report out.dat | diff expected -)" ""
	ok "$kind: recorder check" "$RECORDER" check out.dat
	"$RECORDER" dump out.dat >dump
	is "$kind: dump names the options" "$(grep -cE '^  (btf_file|last_boot_info|modules_file) +id 2[345] ' dump)" \
		"$([ $kind = options ] && echo 3 || echo 6)"
	is "$kind: BTF" "$(sed -n '/^btf_file:$/{n;p}' dump)" "  BTF version 1: 100 bytes of types, 50 bytes of strings"
	is "$kind: the modules" "$(sed -n '/^modules_file:$/{n;p}' dump)" "  other 16384 0 - Live 0xffffffffc0000000"
	is "$kind: the last boot" "$(sed -n '/^last_boot_info:$/{n;p}' dump)" \
		"$([ $kind = current ] && echo '  # Current' || printf '  ffffffff80fff000\t[kernel]')"
	is "$kind: dump --options shows the same" "$("$RECORDER" dump --options out.dat)" "$(sed -n '/^options:$/,/^buffer /p' dump | sed '$d')"
	unlike "$kind: unknown to the trace-cmd here, and harmless" "$(trace-cmd report out.dat 2>&1 | grep -c ': ')" '^0$'
done

# A copy has the symbols of the boot that wrote the events, for every reader.
for kind in sections options; do
	python3 "$top_srcdir/tests/oracle/boot_file.py" in.dat out.dat $kind
	for version in 6 7; do
		"$RECORDER" convert --file-version $version --compression none -i out.dat -o copy.dat
		is "$kind: converted to version $version" "$("$RECORDER" report copy.dat | diff expected -)" ""
		is "$kind: converted to version $version: to trace-cmd, too" \
			"$(trace-cmd report copy.dat 2>/dev/null | diff expected -)" ""
	done
	"$RECORDER" convert --woven -i out.dat -o copy.dat
	is "$kind: woven" "$("$RECORDER" report copy.dat | diff expected -)" ""
	"$RECORDER" split -i out.dat -o part >/dev/null
	is "$kind: split" "$("$RECORDER" report part.1 | diff expected -)" ""
	cp out.dat other.dat
	"$RECORDER" merge -o merged.dat out.dat other.dat
	is "$kind: merged" "$("$RECORDER" report merged.dat | grep -c do_two)" $(($(grep -c do_two expected) * 2))
done

# Without last_boot_info the names would be wrong: this file has the current boot's symbols, and nothing about the last.
python3 "$top_srcdir/tests/oracle/boot_file.py" in.dat moved.dat sections
sed 's/\[kernel\]/(kernel)/' moved.dat >no_boot.dat
fails "without the last boot, functions have no names" cmp -s expected <("$RECORDER" report no_boot.dat)

# The module is not loaded now: the names of its functions are unknown, and they must not get the names of others.
python3 "$top_srcdir/tests/oracle/boot_file.py" in.dat gone.dat gone
"$RECORDER" report gone.dat >gone
unlike "functions of a module that is gone have no names" "$(cat gone)" 'do_two'
like "but the module's" "$(cat gone)" '=> mod \('
is "all else has" "$(grep -c do_one gone)" "$(grep -c do_one expected)"

# Numbers in the options that point nowhere.
python3 "$top_srcdir/tests/oracle/boot_file.py" in.dat bad.dat sections
python3 - <<'END'
data = bytearray(open("bad.dat", "rb").read())
at = data.rindex(b"\x19\0\x08\0\0\0") + 6
data[at:at + 8] = b"\xff" * 8
open("bad.dat", "wb").write(data)
END
ok "an option that points nowhere is only shown" "$RECORDER" report bad.dat
like "by its bytes" "$("$RECORDER" dump --options bad.dat)" 'modules_file +id 25 +8 bytes at [0-9]+  ffffffff ffffffff'

done_testing
