/* SPDX-License-Identifier: MIT */
/* The state of the machine of why_machine.h while it runs. */
#ifndef WHY_MACHINE_PRIVATE_H
#define WHY_MACHINE_PRIVATE_H

#include "why_machine_events.h"

#define FRAMES_MAX 3
#define QUEUE_MAX  64

enum call {
	CALL_NONE,
	CALL_SLEEP,
	CALL_LOCK,
	CALL_UNLOCK,
	CALL_READ,
	CALL_WRITE,
	CALL_DISK,
	CALL_SUBMIT,
	CALL_NOTHING
};

struct thread {
	enum machine_state state;
	unsigned int prio;
	int cpu;
	enum call call;
	bool is_plain; /* not in a system call: a page fault */
	unsigned int phase;
	bool is_waiting; /* no thread has woken it yet */
	bool is_blocked;
	int object; /* lock, pipe, or request */
	int item, sleep;
	int job; /* -1: none */
	unsigned int depth, task;
	bool is_woken;
	bool holds[MACHINE_LOCKS];
};

struct queue {
	int list[QUEUE_MAX];
	unsigned int nr;
};

/* An interrupt that is running. */
struct frame {
	int item;
	enum machine_id exit;
	unsigned int number;
	struct queue requests; /* to complete */
	struct queue wakes;    /* threads */
	unsigned int left;     /* further steps of the interrupt */
	bool may_nest;
};

struct cpu {
	int tid;
	struct frame frames[FRAMES_MAX];
	unsigned int nr_frames;
	struct queue runnable;
	struct queue woken; /* to be put into `runnable`, by this CPU */
	bool is_due;	    /* it shall switch to another thread */
};

struct timer {
	int tid, due, cpu;
	bool by_idle;
};

struct machine_work {
	struct machine *m;
	int now;
	struct thread threads[MACHINE_THREADS + 1];
	struct cpu cpus[MACHINE_CPUS];
	struct timer timers[QUEUE_MAX];
	unsigned int nr_timers;
	struct {
		unsigned int bytes;
		struct queue waiters;
	} pipes[MACHINE_PIPES];
	struct queue submissions; /* requests that another thread has to issue */
};

extern struct machine_work work;

unsigned int machine_random(unsigned int most);
void machine_put(struct queue *queue, int item);
int machine_take(struct queue *queue, unsigned int at);

/* An event of the thread that runs on a CPU. */
struct machine_event *machine_emit(int cpu, enum machine_kind kind, enum machine_id id);

/* `tid` 0: an item of a CPU. */
int machine_item(enum machine_kind kind, int outer, int tid, const char *name);

/* The thread or interrupt on `cpu` wakes a thread; the thread on `cpu` falls asleep. */
void machine_wake(int cpu, int tid);
void machine_sleep(int cpu);

/* why_machine_program.c: a thread's next action. */
void machine_thread_step(int cpu);
void machine_set_task(int cpu, unsigned int task);

/* why_machine_jobs.c: whether the thread on `cpu` did something for its job; it gives the job to one that it wakes. */
bool machine_job_step(int cpu);
void machine_give_job(int cpu, int tid);
void machine_start_program(void);

#endif
