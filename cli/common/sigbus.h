/* SPDX-License-Identifier: MIT */
/* The command reads the buffers of programs that may change them in any way meanwhile. */
#ifndef CLI_SIGBUS_H
#define CLI_SIGBUS_H

/*
 * From here on a buffer that is truncated while it is read is a damaged buffer; any other SIGBUS ends the process as
 * usual.
 */
void sigbus_handle(void);

#endif
