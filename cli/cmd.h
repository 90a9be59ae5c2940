/* SPDX-License-Identifier: MIT */
/*
 * The commands.
 *
 * How to add one: write cli/cmd_NAME.c with int cmd_NAME(int argc, char **argv), which describes its options in a
 * struct opts (opts.h) and returns the exit status: 0, 1 for a failure, EXIT_USAGE for a wrong command line. Declare it
 * here, give it a line in the table in main.c and in cli/include.am, write man/recorder-NAME.1, and name it in
 * man/recorder.1. tests/cli/help_man.sh checks that --help and the man page say the same, tests/cli/bad_input.sh that
 * wrong command lines get one line and status 2.
 */
#ifndef CLI_CMD_H
#define CLI_CMD_H

#include "cli/opts.h"

int cmd_assert(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_clean(int argc, char **argv);
int cmd_clock(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_disable(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_enable(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_hist(int argc, char **argv);
int cmd_latency(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_pages(int argc, char **argv);
int cmd_profile(int argc, char **argv);
int cmd_ps(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_recover(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_snapshot(int argc, char **argv);
int cmd_split(int argc, char **argv);
int cmd_sql(int argc, char **argv);
int cmd_start(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_stop(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_view(int argc, char **argv);
int cmd_why(int argc, char **argv);

#endif
