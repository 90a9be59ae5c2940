/* SPDX-License-Identifier: MIT */
/*
 * An entry of the error_log is three lines:
 *
 *	[36464.906279] event filter parse error: error: Field not found
 *	  Command: foo == 1 && x > 2
 *	               ^
 */
#include "cli/kernel/kernel_error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/message.h"

static const char command_mark[] = "\n  Command: ", reason_mark[] = "error: ";

/* Parse the entry, and write NULs into it. False: it does not belong to this text. */
static bool parse(char *log, const char *text, const char **ret_reason, size_t *ret_column)
{
	char *said = strstr(log, command_mark), *caret, *reason = NULL;

	if (!said)
		return false;
	*said = '\0';
	for (char *at = log; (at = strstr(at, reason_mark)); at += strlen(reason_mark))
		reason = at + strlen(reason_mark);
	said += strlen(command_mark);
	caret = strchr(said, '\n');
	if (!reason || !caret)
		return false;
	*caret++ = '\0';
	/*
	 * The text comes after two blanks and "Command: ", and the caret is shifted accordingly. For a trigger, the
	 * kernel shows only the condition.
	 */
	if (!strstr(text, said))
		return false;
	*ret_reason = reason;
	*ret_column = strspn(caret, " ") + 2 - strlen(command_mark) + (size_t)(strstr(text, said) - text);
	return true;
}

static void say_column(const struct message_sink *sink, const char *what, const char *reason, size_t column,
		       const char *text)
{
	const char *hint = strstr(reason, "quote") ? "; mind that the shell removes quotes" : "";

	message(sink, "%s: %s (column %zu of '%s')%s", what, reason, column, text, hint);
	message_caret(sink, text, column);
}

int kernel_error_say(const struct message_sink *sink, const struct instance *instance, const char *what,
		     const char *text, int err)
{
	char *log = tracefs_error_last(instance->tracefs);
	const char *reason;
	size_t column;

	if (log && parse(log, text, &reason, &column))
		say_column(sink, what, reason, column, text);
	else
		message(sink, "%s: the kernel rejects '%s': %s", what, text, strerror(-err));
	free(log);
	return err;
}
