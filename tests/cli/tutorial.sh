#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs/TUTORIAL.md: every command does what the text states, with what `make install` installs.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/tutorial.sh"
# The server has two threads, and one of them may have got no CPU.
tutorial_again+='|from 1 process, 1 thread;'

tutorial_run

done_testing
