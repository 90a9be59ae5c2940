/* SPDX-License-Identifier: MIT */
/*
 * Reads statements and dot commands from standard input: with a prompt, a history and completion if it is a terminal.
 */
#ifndef CLI_SQL_SHELL_H
#define CLI_SQL_SHELL_H

#include "cli/ask/sql_session.h"

/* Until the end of the input. The exit status: that of the last failure, if a person is not there to see it. */
int sql_shell(struct sql_session *session);

#endif
