/* SPDX-License-Identifier: MIT */
/*
 * A program run under ptrace with a breakpoint at each of its test points (librecorder/core/testpoint.h). The test
 * decides what happens at a point; x86-64 only.
 */
#ifndef TRACER_H
#define TRACER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TRACER_POINTS 160u
#define TRACER_PLACES 1024u /* a point in an inline function is in several places */
#define TRACER_DEPTH  8u

/* The test points of a program file, by name. */
struct tracer_points {
	unsigned int count;
	char names[TRACER_POINTS][32];
	unsigned int places;
	struct {
		uint64_t address; /* as linked */
		unsigned int point;
		unsigned char byte; /* the byte that was there */
	} place[TRACER_PLACES];
	uint64_t load; /* address of the first byte of the file, as linked */
};

/* 0, or -1 with a line on stderr. */
int tracer_read_points(const char *program, struct tracer_points *points);

/* The number of a point; it must exist. */
unsigned int tracer_point(const struct tracer_points *points, const char *name);

enum tracer_order {
	TRACER_GO,
	TRACER_SIGNAL, /* SIGUSR1 to the thread, here */
	TRACER_JUMP,   /* to `jump` of the run, on a stack as after a call */
	TRACER_STOP,   /* leave it stopped and return from tracer_run() */
	TRACER_KILL,   /* SIGKILL, here */
};

struct tracer_run {
	const struct tracer_points *points;
	pid_t pid;
	int memory;	/* /proc/PID/mem */
	uint64_t shift; /* a loaded address minus the address as linked */
	bool armed[TRACER_POINTS];
	enum tracer_order (*at_point)(struct tracer_run *run, unsigned int point);
	void *arg;
	uint64_t jump;

	/* State. */
	pid_t thread; /* where it stopped */
	uint64_t stopped_at;
	unsigned int depth;
	struct {
		uint64_t address, stack;
	} interrupted[TRACER_DEPTH]; /* points at which a signal was given and is being handled */
};

enum tracer_end { TRACER_ENDED, TRACER_STOPPED, TRACER_KILLED, TRACER_FAILED };

/* Start `argv[0]`, stopped before its first instruction, with breakpoints at the armed points. 0 or -1. */
int tracer_start(struct tracer_run *run, const char *const argv[], const char *const envp[]);

/* Arm one more point of a run that is stopped. 0 or -1. */
int tracer_arm(struct tracer_run *run, unsigned int point);

/*
 * Let the run continue until it ends (ENDED: with status 0), is stopped or killed as at_point() orders, or fails
 * (FAILED: another status, an unexpected signal; then it has been killed, and the reason is on stderr). After STOPPED
 * call it again.
 */
enum tracer_end tracer_run(struct tracer_run *run);

/* Kill a run that is stopped, or was never started. */
void tracer_kill(struct tracer_run *run);

/* The number of nested signal handlers at this point. */
static inline unsigned int tracer_depth(const struct tracer_run *run)
{
	return run->depth;
}

#endif
