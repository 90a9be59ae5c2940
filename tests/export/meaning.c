/* SPDX-License-Identifier: MIT */
/*
 * Spans, counters, states, flows and tasks with known times between them. Fields whose names begin with x become those
 * of docs/MEANING.md when tests/export/meaning.sh has replaced their types in the file. Prints the tids of its two
 * threads.
 */
#include <librecorder/event.h>
#include <librecorder/lane.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <unistd.h>

enum { OPEN, CLOSED };

REC_EVENT(io, request_begin, u64(id), string(path));
REC_EVENT(io, request_end, s32(result));
REC_EVENT(io, step_begin, u32(n));
REC_EVENT(io, step_end);
REC_EVENT(net, rpc_begin, u64(xxxxxxxxid), string(to));
REC_EVENT(net, rpc_end, u64(xxxxxxxxid), s32(status));
REC_EVENT(mem, heap, s64(xxxxxxxxxxxxbytes));
REC_EVENT(conn, state, u64(xxxxxxxxid), named(xxxxxxxxxxvalue, OPEN, CLOSED));
REC_EVENT(queue, put, u64(xxxxxflow));
REC_EVENT(queue, take, u64(xxxxxflow));
REC_EVENT(disk, flush, u64(xxxxxxxxxdur), u32(bytes));
REC_EVENT(recorder, task, u64(xxxxxid), string(name));

static jmp_buf out;

static void jump(void)
{
	REC(io, step_begin, 99);
	longjmp(out, 1);
}

static void *serve(void *unused)
{
	(void)unused;
	rec_thread_name("server");
	REC(queue, take, 7);
	REC(io, request_begin, 2, "</script>\"\\");
	REC(io, request_end, -5);
	REC(net, rpc_end, 11, 200);
	REC(net, rpc_end, 99, 404);
	printf("server %d\n", (int)gettid());
	return NULL;
}

int main(void)
{
	pthread_t thread;

	printf("main %d\n", (int)getpid());
	REC(io, step_end);
	for (int i = 0; i < 3; i++) {
		REC(io, request_begin, (uint64_t)i, "/index");
		REC(io, step_begin, (uint32_t)i);
		REC(io, step_begin, 10 + (uint32_t)i);
		REC(io, step_end);
		REC(io, step_end);
		REC(mem, heap, 1000 * i - 500);
		REC(io, request_end, i);
	}
	REC(io, request_begin, 50, "jump");
	if (!setjmp(out))
		jump();
	REC(io, request_end, 0);
	REC(net, rpc_begin, 10, "a");
	REC(net, rpc_begin, 11, "b");
	REC(net, rpc_end, 10, 100);
	REC(conn, state, 1, OPEN);
	REC(conn, state, 2, OPEN);
	REC(conn, state, 1, CLOSED);
	REC(queue, put, 7);
	REC(disk, flush, 1, 4096);
	REC(recorder, task, 5, "parse");
	REC(io, step_begin, 5);
	REC(io, step_end);
	REC(recorder, task, 6, "");
	REC(recorder, task, 5, "parse");
	REC(recorder, task, 0, "");
	pthread_create(&thread, NULL, serve, NULL);
	pthread_join(thread, NULL);
	REC(io, request_begin, 60, "never ended");
	return 0;
}
