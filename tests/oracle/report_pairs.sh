# SPDX-License-Identifier: MIT
# Every pair of the flags of trace-cmd report, compared with trace-cmd, byte for byte and with the exit status, on a small file of
# the kernel's events. In the short tier every seventh pair is tried; REPORT_FILES=all, in the long tier: all of them, on two files.
# report_pairs.py has the table of the known differences; once a row of it has been seen to be needed, the other pairs of that row are
# not compared.

. "$top_srcdir/tests/tap.sh"

files=v6-kernel stride=7
[ "${REPORT_FILES-}" = all ] && files="v6-kernel v6-big-endian" stride=1
for name in $files; do
	"$top_builddir/tests/golden/mkdat" "$name" > "$TMP/$name.dat"
	is "pairs of flags, $name" "$(python3 "$top_srcdir/tests/oracle/report_pairs.py" "$RECORDER" "$TMP/$name.dat" $stride 2>&1)" \
		"compared: some"
done
done_testing
