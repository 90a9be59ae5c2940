# SPDX-License-Identifier: MIT
#
# The parts of ./quickstart check (short) and check-all (long) that run beside the longest one. They share this make's jobs.
# tests/check.sh runs this file and says what each part does.

short: dist clang sanitizers threads
long: dist-long sanitizers-long threads-long clang-long aarch64-long

dist clang sanitizers threads dist-long sanitizers-long threads-long clang-long aarch64-long:
	+@bash tests/check.sh part $@

.PHONY: short long dist clang sanitizers threads dist-long sanitizers-long threads-long clang-long aarch64-long
