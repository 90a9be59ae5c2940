/* SPDX-License-Identifier: MIT */
/* The command looks at the buffers of programs that may do anything to them, also while it looks. */
#ifndef CLI_SIGBUS_H
#define CLI_SIGBUS_H

/* From here on a buffer that is cut short while it is read is a damaged buffer; any other SIGBUS ends us as ever. */
void sigbus_handle(void);

#endif
