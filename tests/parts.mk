# SPDX-License-Identifier: MIT
#
# The parts of ./quickstart check (short) and check-all (long). tests/check.sh runs this file and says what each part does.
# The long one of each tier goes on from the beginning with jobs of its own; the others share this make's beside it.

parts = dist clang sanitizers threads aarch64
long_parts = dist-long sanitizers-long

short: gcc $(parts)
long: gcc-long $(long_parts)

# The tarball is made from the configured tree of the first part.
gcc dist gcc-long dist-long: configure-gcc

gcc gcc-long configure-gcc:
	@env -u MAKEFLAGS -u MAKELEVEL bash tests/check.sh part $@
$(parts) $(long_parts):
	+@bash tests/check.sh part $@

.PHONY: short long gcc gcc-long configure-gcc $(parts) $(long_parts)
