/* SPDX-License-Identifier: MIT */
/* A directory of files that appears whole or not at all: it is made beside its target and renamed. */
#ifndef FORMAT_OUT_DIR_H
#define FORMAT_OUT_DIR_H

struct out_dir {
	int fd;
	char *target;
	char *temp;
};

/*
 * Begin a directory that will be `path`, which must not exist, or be an empty directory. 0; -EEXIST: it exists and is
 * not empty; -ENOMEM; or the errno of mkdtemp or open.
 */
int out_dir_open(const char *path, struct out_dir *ret_dir);

/* Put the directory in place. 0; -errno: it was removed. In either case it is closed. */
int out_dir_commit(struct out_dir *dir);

/* Remove its files, and close. */
void out_dir_abandon(struct out_dir *dir);

#endif
