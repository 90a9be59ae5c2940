#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Under Linux 6.12: mapped rings, sub-buffers of other sizes, the function graph in instances.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/vm/vm.sh"

run_in_vm 6.12 vm/cpus vm/rights vm/functions vm/kernels vm/histograms

done_testing
