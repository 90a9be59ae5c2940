/* SPDX-License-Identifier: MIT */
/*
 * Spans, counters, states, flows and tasks of every kind, with the numbers that are hard to print: negative ones, and
 * those that only an unsigned number can hold. Prints the tids of its two threads.
 */
#include <librecorder/event.h>
#include <librecorder/lane.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <unistd.h>

enum { OPEN, CLOSED };

REC_SPAN(io, request, u64(id), string(path), end(s32(result)));
REC_SPAN(io, step, u32(n));
REC_SPAN_KEYED(net, rpc, key(u64(id)), string(to), end(s32(status)));
REC_COUNTER(mem, heap, s64(bytes));
REC_COUNTER(mem, pool, u32(blocks), string(owner), flow(cause));
REC_STATE(conn, state, key(u64(id)), named(value, OPEN, CLOSED));
REC_STATE(conn, level, key(s32(id)), s32(value), string(reason), flow(cause));
REC_EVENT(queue, put, flow(id));
REC_EVENT(queue, take, flow(id));
REC_TIMED(disk, flush, u32(bytes));

static jmp_buf out;

static void jump(void)
{
	REC_BEGIN(io, step, 99);
	longjmp(out, 1);
}

static void *serve(void *unused)
{
	(void)unused;
	rec_thread_name("server");
	REC(queue, take, 7);
	REC_BEGIN(io, request, 2, "</script>\"\\");
	REC_END(io, request, -5);
	REC_END(net, rpc, 11, 200);
	REC_END(net, rpc, 99, 404);
	printf("server %d\n", (int)gettid());
	return NULL;
}

static void write_states(void)
{
	REC(conn, state, 1, OPEN);
	REC(conn, state, UINT64_MAX, OPEN);
	REC(conn, state, 1, CLOSED);
	REC(conn, level, -1, -20, "overload", 8);
	REC(mem, pool, 64, "cache", 8);
	REC(conn, level, -1, 20, "", 0);
}

static void write_tasks(void)
{
	REC_TASK(5, "parse");
	REC_BEGIN(io, step, 5);
	REC_END(io, step);
	REC_TASK(6);
	REC_TASK(5, "parse");
	REC_TASK(UINT64_MAX, "last");
	REC_BEGIN(io, step, 6);
	REC_END(io, step);
	REC_TASK(0);
}

int main(void)
{
	pthread_t thread;
	uint64_t start;

	printf("main %d\n", (int)getpid());
	REC_END(io, step);
	for (int i = 0; i < 3; i++) {
		REC_BEGIN(io, request, (uint64_t)i, "/index");
		REC_BEGIN(io, step, (uint32_t)i);
		REC_BEGIN(io, step, 10 + (uint32_t)i);
		REC_END(io, step);
		REC_END(io, step);
		REC(mem, heap, 1000 * i - 500);
		REC_END(io, request, i);
	}
	REC_BEGIN(io, request, 50, "jump");
	if (!setjmp(out))
		jump();
	REC_END(io, request, 0);
	REC_BEGIN(net, rpc, 10, "a");
	REC_BEGIN(net, rpc, 11, "b");
	REC_END(net, rpc, 10, 100);
	write_states();
	REC(queue, put, 7);
	/* A flow number of 0 links no events. */
	REC(queue, put, 0);
	REC(queue, put, 0);
	start = REC_TIMED_START(disk, flush);
	REC_TIMED_END(disk, flush, start, 4096);
	write_tasks();
	pthread_create(&thread, NULL, serve, NULL);
	pthread_join(thread, NULL);
	REC_BEGIN(io, request, 60, "never ended");
	return 0;
}
