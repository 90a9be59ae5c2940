/* SPDX-License-Identifier: MIT */
/* Buffer files that nobody needs any more. */
#ifndef SWEEP_H
#define SWEEP_H

/* Remove some of them from the buffer directory. Takes its time, so not under the process lock; errno may change. */
void rec_sweep(void);

#endif
