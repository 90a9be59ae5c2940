# SPDX-License-Identifier: MIT
#
# The parts of ./quickstart check (short) and check-all (long) that run beside the longest one. They share this make's jobs.
# tests/check.sh runs this file and says what each part does.

short: dist clang sanitizers threads aarch64
long: dist-long sanitizers-long

dist clang sanitizers threads aarch64 dist-long sanitizers-long:
	+@bash tests/check.sh part $@

.PHONY: short long dist clang sanitizers threads aarch64 dist-long sanitizers-long
