/* SPDX-License-Identifier: MIT */
/*
 * Small programs on a weak memory, every execution of them.
 *
 * The memory is that of C11 in the form of RC11, described as a machine: each location keeps all values that were ever
 * stored to it, in the order of its modifications; each thread has a view, which is the value up to which it is known
 * to have come in each location, and a load may return any value that is not older than that. Release and acquire pass
 * views on. A store takes any position after the thread's view, an exchange the position immediately after the value
 * that it read. Where C11 promises less than machines do, this errs on the weak side: a dependency of an address orders
 * nothing, and seq_cst is more than acq_rel for fences only. Beyond RC11 a store may be carried out before earlier
 * relaxed loads of its thread that it does not depend on, as on ARM.
 *
 * Each thread is a list of operations, some with a condition on what an earlier one found. A case lists what the code
 * does in the order in which the code does it, naming the function, and the outcome that must not occur. It is run
 * unchanged: the outcome must be unreachable. Then each ordering that the edge consists of is weakened by itself: the
 * outcome must become reachable, or the ordering would have no effect and the case could not fail.
 */
#ifndef LITMUS_H
#define LITMUS_H

#include <stdbool.h>
#include <stdint.h>

#define LITMUS_THREADS	 3
#define LITMUS_OPS	 12
#define LITMUS_LOCATIONS 6
#define LITMUS_REGISTERS 6
#define LITMUS_VALUES	 9 /* stored to one location, the first included */

enum litmus_kind {
	LITMUS_END,
	LITMUS_LOAD,
	LITMUS_STORE,
	LITMUS_CAS, /* reg = what was found; stored if that is `expect` */
	LITMUS_OR,  /* reg = what was found; value | found is stored */
	LITMUS_AND,
	LITMUS_FENCE,
};

enum litmus_order {
	RELAXED, /* plain accesses as well */
	ACQUIRE,
	RELEASE,
	ACQ_REL,
	SEQ_CST, /* for fences; an access with it is no more than acq_rel here */
	SPLIT, /* an exchange as a load and a store that others may come between */
};

struct litmus_op {
	enum litmus_kind kind;
	enum litmus_order order;
	uint8_t at;	/* the location */
	uint8_t value;	/* to store */
	uint8_t expect; /* by an exchange */
	uint8_t reg;	/* for what is found, from 1; 0: not kept */
	uint8_t if_reg; /* done only if this register holds if_value; 0: always */
	uint8_t if_value;
	bool unless;		/* done only if the register does not hold if_value */
	/* Its order is part of the edge: weakened to `weak`, the bad outcome becomes reachable. */
	bool edge;
	/* Its order is stronger than the edge needs: weakened to `weak`, the bad outcome stays unreachable. */
	bool spare;
	enum litmus_order weak; /* RELAXED unless given */
	const char *code;	/* the function that does it */
};

struct litmus_end {
	uint8_t reg[LITMUS_THREADS][LITMUS_REGISTERS];
	uint8_t last[LITMUS_LOCATIONS]; /* the last value in the order of modifications */
};

struct litmus {
	const char *name;
	uint8_t init[LITMUS_LOCATIONS];
	struct litmus_op threads[LITMUS_THREADS][LITMUS_OPS + 1];
	bool (*is_bad)(const struct litmus_end *end);
};

struct litmus_result {
	bool bad;	     /* there is an execution with the bad outcome */
	uint64_t states;     /* number of different states */
	uint64_t executions; /* ways through them; UINT64_MAX: more than that */
};

/* Explore every execution of the unchanged case. */
struct litmus_result litmus_run(const struct litmus *litmus);

#endif
