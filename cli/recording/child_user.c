/* SPDX-License-Identifier: MIT */
#include "cli/recording/child_user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool child_user_find(const struct message_sink *sink, const char *name, struct child_user *ret_user)
{
	const struct passwd *entry;

	if (geteuid()) {
		message(sink, "only root may run a command as another user%s", message_remark(sink, WORD_USER).text);
		return false;
	}
	errno = 0;
	entry = getpwnam(name);
	if (!entry) {
		message(sink, "there is no user '%s'%s%s%s", name, message_remark(sink, WORD_USER).text,
			errno ? ": " : "", errno ? strerror(errno) : "");
		return false;
	}
	*ret_user = (struct child_user){
		.name = strdup(entry->pw_name),
		.home = strdup(entry->pw_dir),
		.uid = entry->pw_uid,
		.gid = entry->pw_gid,
	};
	if (ret_user->name && ret_user->home)
		return true;
	message(sink, "out of memory");
	return false;
}

void child_user_free(struct child_user *user)
{
	free(user->name);
	free(user->home);
	*user = (struct child_user){ .name = NULL };
}

int child_user_become(const struct child_user *user)
{
	if (initgroups(user->name, user->gid) < 0 || setgid(user->gid) < 0 || setuid(user->uid) < 0)
		return -errno;
	if (setenv("HOME", user->home, 1) < 0 || setenv("USER", user->name, 1) < 0 ||
	    setenv("LOGNAME", user->name, 1) < 0)
		return -errno;
	return 0;
}

int child_user_borrow(const struct child_user *user)
{
	int err;

	if (setegid(user->gid) < 0)
		return -errno;
	if (seteuid(user->uid) == 0)
		return 0;
	err = -errno;
	child_user_back();
	return err;
}

void child_user_back(void)
{
	/*
	 * The real ids are root's, so neither call can fail.
	 */
	if (seteuid(getuid()) < 0 || setegid(getgid()) < 0)
		_exit(1);
}
