#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Under Linux 6.1: no mapped rings, sub-buffers of one page, no function graph for instances.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/vm/vm.sh"

run_in_vm 6.1 vm/functions vm/kernels vm/histograms

done_testing
