/* SPDX-License-Identifier: MIT */
/*
 * Reads statements and dot commands from standard input: with a prompt, a history and completion if it is a terminal.
 */
#ifndef CLI_SQL_SHELL_H
#define CLI_SQL_SHELL_H

#include "cli/ask/sql_session.h"

/*
 * Run statements until the end of the input. Returns the exit status: that of the last failure. On a terminal, failed
 * statements do not count, because the user has seen their messages.
 */
int sql_shell(struct sql_session *session);

#endif
