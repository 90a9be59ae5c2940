# SPDX-License-Identifier: MIT
#
# The parts of ./quickstart check (short) and check-all (long) that run beside the longest one. They share this make's jobs.
# tests/check.sh runs this file and describes each part.

short: dist sanitizers threads
long: dist-long sanitizers-long aarch64-long

dist sanitizers threads dist-long sanitizers-long aarch64-long:
	+@bash tests/check.sh part $@

.PHONY: short long dist sanitizers threads dist-long sanitizers-long aarch64-long
