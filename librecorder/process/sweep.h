/* SPDX-License-Identifier: MIT */
/* Buffer files that are no longer needed. */
#ifndef SWEEP_H
#define SWEEP_H

/* Remove some of these from the buffer directory. May take long: do not hold the process lock. errno may change. */
void rec_sweep(void);

#endif
