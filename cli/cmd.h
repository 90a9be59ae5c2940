/* SPDX-License-Identifier: MIT */
/* The commands. CONTRIBUTING.md, "Add a command", lists the steps for a new one. */
#ifndef CLI_CMD_H
#define CLI_CMD_H

#include "cli/common/opts.h"

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
