#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Prints a number for how the plugin for KernelShark draws: of the source text that decides it.
#
#	bash plugin_look.sh SOURCE-DIRECTORY

set -eu

{
	sed -n '/^\/\* Bars use/,/^void draw(/p' "$1/kernelshark/plot.cpp"
	sed -n '/^static uint32_t color_of/,/^}/p' "$1/kernelshark/marks.c"
} | sha256sum
