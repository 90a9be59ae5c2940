/* SPDX-License-Identifier: MIT */
/* Reads /proc/PID/status of a process or thread. */
#ifndef CLI_PROC_STATUS_H
#define CLI_PROC_STATUS_H

/*
 * The number in the line `name`, such as "Tgid", of the file `path`, relative to the directory `dir`. 0: there is no
 * such number, for example because the process or thread has ended.
 */
unsigned long proc_status_number(int dir, const char *path, const char *name);

#endif
