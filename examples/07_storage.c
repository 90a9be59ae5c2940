/* SPDX-License-Identifier: MIT */
/*
 * Durations, levels and causes: a small storage server that uses every macro of <librecorder/span.h>.
 *
 * One thread runs an event loop. Each of four connections is a coroutine of this thread, and a logical task. A
 * connection sends its requests one after the other to two workers, which read from a slow disk. Every tenth request
 * fails.
 *
 *	recorder record ./07_storage [REQUESTS]
 *
 * With N requests (100 by default) the program writes exactly
 *
 *	N	spans request		keyed: from the connection to the reply
 *	N	spans job		on a worker: 200 us or more, the sum of the disk and the checksum inside it
 *	N	spans disk		timed: 150 us or more
 *	N	spans checksum		a scope: 50 us or more
 *	N	events reply		each on the flow of its request: request_begin, job_begin, reply
 *	2 N	values of queue		a counter
 *	2 N + 8	states of conn		idle, busy, idle ..., closed
 *	2 N + 8	changes of task
 */
#include <librecorder/event.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>

#define CONNECTIONS 4u
#define WORKERS	    2u
#define STACK_SIZE  (256u * 1024u)
#define DISK_US	    150
#define CHECKSUM_US 50

enum op { GET, PUT };
enum conn_state { IDLE, BUSY, CLOSED };

REC_SPAN_KEYED(storage, request, key(u64(id)), u32(conn), named(op, GET, PUT), flow(cause), end(s32(result)));
REC_SPAN(storage, job, u64(id), flow(cause), end(s32(result)));
REC_SPAN(storage, checksum, u64(id));
REC_TIMED(storage, disk, u64(id));
REC_EVENT(storage, reply, u64(id), flow(cause));
REC_COUNTER(storage, queue, u32(length));
REC_STATE(storage, conn, key(u32(id)), named(state, IDLE, BUSY, CLOSED));

struct request {
	uint64_t id; /* from 1; also the number of its flow */
	struct connection *connection;
	int result;
	struct request *next;
};

struct list {
	struct request *first, **last;
};

struct connection {
	uint32_t id;
	ucontext_t context;
	char *stack;
	struct request request; /* the one that has no reply yet */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static struct list waiting = { NULL, &waiting.first }, finished = { NULL, &finished.first };
static uint32_t queue_length;
static bool is_over;

static ucontext_t loop_context;
static struct connection connections[CONNECTIONS];
static uint64_t nr_requests = 100;

static void append(struct list *list, struct request *request)
{
	request->next = NULL;
	*list->last = request;
	list->last = &request->next;
}

static struct request *take(struct list *list)
{
	struct request *request = list->first;

	if (request) {
		list->first = request->next;
		if (!list->first)
			list->last = &list->first;
	}
	return request;
}

/* ------------------------------------------------------------------------------------------------------- workers */

static void read_disk(const struct request *request)
{
	const struct timespec time = { .tv_nsec = DISK_US * 1000 };
	const uint64_t start = REC_TIMED_START(storage, disk);

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
	REC_TIMED_END(storage, disk, start, request->id);
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int checksum(const struct request *request)
{
	REC_SCOPE(storage, checksum, request->id);
	const uint64_t end = now() + CHECKSUM_US * 1000;

	while (now() < end)
		;
	if (request->id % 10 == 0)
		return -EIO; /* the scope ends here, too */
	return 0;
}

static void *worker(void *name)
{
	struct request *request;

	rec_thread_name(name);
	pthread_mutex_lock(&lock);
	for (;;) {
		while (!(request = take(&waiting)) && !is_over)
			pthread_cond_wait(&work, &lock);
		if (!request)
			break;
		queue_length--;
		REC(storage, queue, queue_length);
		pthread_mutex_unlock(&lock);

		REC_BEGIN(storage, job, request->id, request->id);
		read_disk(request);
		request->result = checksum(request);
		REC_END(storage, job, request->result);

		pthread_mutex_lock(&lock);
		append(&finished, request);
		pthread_cond_signal(&done);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* ---------------------------------------------------------------------------------------------------- connections */

/* In a coroutine: give the thread back to the loop until the request is finished. */
static int send_and_wait(struct connection *connection, uint64_t id)
{
	struct request *request = &connection->request;

	*request = (struct request){ .id = id, .connection = connection };
	pthread_mutex_lock(&lock);
	append(&waiting, request);
	queue_length++;
	REC(storage, queue, queue_length);
	pthread_cond_signal(&work);
	pthread_mutex_unlock(&lock);
	swapcontext(&connection->context, &loop_context);
	return request->result;
}

static void serve(unsigned int index)
{
	struct connection *connection = &connections[index];
	int result;

	REC(storage, conn, connection->id, IDLE);
	for (uint64_t id = index + 1; id <= nr_requests; id += CONNECTIONS) {
		REC(storage, conn, connection->id, BUSY);
		REC_BEGIN(storage, request, id, connection->id, id % 2 ? GET : PUT, id);
		result = send_and_wait(connection, id);
		REC(storage, reply, id, id);
		REC_END(storage, request, id, result);
		REC(storage, conn, connection->id, IDLE);
	}
	REC(storage, conn, connection->id, CLOSED);
}

/* The thread works for this connection until its coroutine waits or ends. */
static void resume(struct connection *connection)
{
	char name[16];

	snprintf(name, sizeof(name), "conn %u", connection->id);
	REC_TASK(connection->id, name);
	swapcontext(&loop_context, &connection->context);
	REC_TASK(0);
}

static int start(unsigned int index)
{
	struct connection *connection = &connections[index];

	connection->id = index + 1;
	connection->stack = malloc(STACK_SIZE);
	if (!connection->stack || getcontext(&connection->context) < 0)
		return -1;
	connection->context.uc_stack.ss_sp = connection->stack;
	connection->context.uc_stack.ss_size = STACK_SIZE;
	connection->context.uc_link = &loop_context;
	makecontext(&connection->context, (void (*)(void))serve, 1, index);
	resume(connection);
	return 0;
}

/* ----------------------------------------------------------------------------------------------------- event loop */

static struct request *next_finished(void)
{
	struct request *request;

	pthread_mutex_lock(&lock);
	while (!(request = take(&finished)))
		pthread_cond_wait(&done, &lock);
	pthread_mutex_unlock(&lock);
	return request;
}

int main(int argc, char **argv)
{
	static char names[WORKERS][9] = { "worker 1", "worker 2" };
	pthread_t workers[WORKERS];
	uint64_t failed = 0;
	char *end;

	if (argc > 1) {
		nr_requests = strtoull(argv[1], &end, 10);
		if (argc > 2 || *end || !nr_requests) {
			fprintf(stderr, "usage: %s [REQUESTS]\n", argv[0]);
			return 2;
		}
	}
	rec_thread_name("loop");
	for (unsigned int i = 0; i < WORKERS; i++)
		if (pthread_create(&workers[i], NULL, worker, names[i]) != 0)
			return 1;
	for (unsigned int i = 0; i < CONNECTIONS; i++)
		if (start(i) < 0)
			return 1;
	for (uint64_t i = 0; i < nr_requests; i++) {
		struct request *request = next_finished();

		failed += request->result < 0;
		resume(request->connection);
	}

	pthread_mutex_lock(&lock);
	is_over = true;
	pthread_cond_broadcast(&work);
	pthread_mutex_unlock(&lock);
	for (unsigned int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	for (unsigned int i = 0; i < CONNECTIONS; i++)
		free(connections[i].stack);
	printf("%llu requests, %llu failed\n", (unsigned long long)nr_requests, (unsigned long long)failed);
	return 0;
}
