/* SPDX-License-Identifier: MIT */
/* Buffer files that are no longer needed. */
#ifndef SWEEP_H
#define SWEEP_H

/* Remove some of them from the buffer directory. May take long, so not under the process lock; errno may change. */
void rec_sweep(void);

#endif
