#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs/TUTORIAL.md: every command does what the text states, with what `make install` installs.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/tutorial.sh"

tutorial_run

done_testing
