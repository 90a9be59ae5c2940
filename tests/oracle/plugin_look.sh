#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Prints a number for how the plugin for KernelShark draws: of the lines of its source that give sizes, corners and colours.
#
#	bash plugin_look.sh SOURCE-DIRECTORY

set -eu

{
	sed -n '/^constexpr/p; /_size = /p; /setPoint(/p; /_color = /p' "$1/kernelshark/plot.cpp"
	sed -n '/^static uint32_t color_of/,/^}/p' "$1/kernelshark/marks.c"
} | sha256sum
