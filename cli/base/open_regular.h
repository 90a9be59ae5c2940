/* SPDX-License-Identifier: MIT */
/* Opening a file whose path another user may have chosen. */
#ifndef CLI_OPEN_REGULAR_H
#define CLI_OPEN_REGULAR_H

/*
 * Open the regular file `path`, from the directory `dir` on, with `flags` (O_RDONLY or O_RDWR; O_CLOEXEC is added).
 * Files of other kinds are recognised without being opened: opening a device or a fifo may have effects. Returns a
 * descriptor; -EBADMSG: another kind of file; -EISDIR; -ELOOP: a symbolic link; or open's errno.
 */
int open_regular(int dir, const char *path, int flags);

#endif
