#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs/TUTORIAL-WHY.md: every command does what the text states, with what `make install` installs. The program is linked with SQLite,
# which the build needs, too.

. "$top_srcdir/tests/tap.sh"
# shellcheck disable=SC2034 # for tutorial.sh
tutorial=$top_srcdir/docs/TUTORIAL-WHY.md
. "$top_srcdir/tests/tutorial.sh"

tutorial_run

done_testing
