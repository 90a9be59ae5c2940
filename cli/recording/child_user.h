/* SPDX-License-Identifier: MIT */
/* The recorded command may run as another user while the recorder stays root. */
#ifndef CLI_CHILD_USER_H
#define CLI_CHILD_USER_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/base/message.h"

struct child_user {
	char *name, *home; /* NULL: no other user */
	uid_t uid;
	gid_t gid;
};

/* Find a user by name. False: one line was printed. child_user_free() in any case. */
bool child_user_find(const struct message_sink *sink, const char *name, struct child_user *ret_user);
void child_user_free(struct child_user *user);

/*
 * Become the user, with their groups, and with HOME, USER and LOGNAME in the environment: the process cannot go back. 0
 * or -errno.
 */
int child_user_become(const struct child_user *user);

/* Make files as the user until child_user_back(). 0 or -errno, with nothing changed. */
int child_user_borrow(const struct child_user *user);
void child_user_back(void);

#endif
