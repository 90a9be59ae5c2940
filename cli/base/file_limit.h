/* SPDX-License-Identifier: MIT */
/* Some machines have more CPUs than a process may have files. */
#ifndef CLI_FILE_LIMIT_H
#define CLI_FILE_LIMIT_H

/* Let so many files be open, and those that are in use anyway; as many as may be, if that is too much. */
void file_limit_raise(unsigned int files);

#endif
