/* SPDX-License-Identifier: MIT */
/* Where tracefs is mounted. */
#ifndef REC_MOUNT_H
#define REC_MOUNT_H

#include <errno.h>
#include <limits.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>

/* Where the kernel's documentation mounts it. */
#define REC_TRACEFS_DIR	  "/sys/kernel/tracing"
#define REC_TRACEFS_MAGIC 0x74726163 /* TRACEFS_MAGIC of linux/magic.h */

static inline bool rec_is_tracefs(const char *dir)
{
	struct statfs st;

	return statfs(dir, &st) == 0 && st.f_type == REC_TRACEFS_MAGIC;
}

/*
 * Stores the path where tracefs is mounted: its usual place, or the first in this process's list of mounts. All mounts
 * of tracefs show the same files. 0; -ENOENT: it is not mounted; -ENAMETOOLONG; or the errno of open.
 */
static inline int rec_tracefs_find(char *path, size_t size)
{
	char line[PATH_MAX + 256];
	struct mntent entry;
	FILE *mounts;
	int r = -ENOENT;

	if (rec_is_tracefs(REC_TRACEFS_DIR))
		return snprintf(path, size, "%s", REC_TRACEFS_DIR) < (int)size ? 0 : -ENAMETOOLONG;
	mounts = setmntent("/proc/self/mounts", "re");
	if (!mounts)
		return -errno;
	while (r == -ENOENT && getmntent_r(mounts, &entry, line, sizeof(line)))
		/* Another file system may be mounted over it. */
		if (strcmp(entry.mnt_type, "tracefs") == 0 && rec_is_tracefs(entry.mnt_dir))
			r = snprintf(path, size, "%s", entry.mnt_dir) < (int)size ? 0 : -ENAMETOOLONG;
	endmntent(mounts);
	return r;
}

#endif
