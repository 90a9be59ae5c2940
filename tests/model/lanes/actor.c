/* SPDX-License-Identifier: MIT */
/*
 * Threads and the reader: coroutines on stacks at fixed addresses. The thread-local data of the checked sources are
 * those of this process's only thread; each actor's are copied there while it runs.
 */
#include "lanes.h"

#include "librecorder/os/signal_block.h"
#include "tests/model/stack_switch.h"

#include <link.h>
#include <string.h>

/* The most steps of one action: a lease that looks at every lane, several times. */
#define STEPS_MAX 2000u

struct model m;
int running = -1;
bool quiet, unwatched;
struct choice command;
unsigned int current;

static _Alignas(64) unsigned char stacks[ACTORS][STACK_SIZE];
static void *explorer_sp;

/* The contents of an idle stack, and of the thread-local data of a new thread. */
static struct {
	void *sp;
	unsigned char bytes[STACK_SIZE];
	size_t live;
} idle[ACTORS];

static unsigned char new_tls[TLS_MAX], *tls;
static size_t tls_size;

static int find_tls(struct dl_phdr_info *info, size_t size, void *unused)
{
	int i;

	(void)size;
	(void)unused;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS)
			tls_size = info->dlpi_phdr[i].p_memsz;
	tls = info->dlpi_tls_data;
	/* The first object is the program, so no other is needed. */
	return 1;
}

void actor_become(unsigned int actor)
{
	memcpy(m.actors[current].tls, tls, tls_size);
	memcpy(tls, m.actors[actor].tls, tls_size);
	current = actor;
}

void actor_return(void)
{
	current = 0;
	memcpy(tls, m.actors[0].tls, tls_size);
}

struct rec_handle *actor_handle(unsigned int actor)
{
	const size_t at = (size_t)((unsigned char *)&rec_thread_handle - tls);
	struct rec_handle *handle;

	if (actor == current)
		return rec_thread_handle;
	memcpy(&handle, m.actors[actor].tls + at, sizeof(handle));
	return handle;
}

unsigned char *actor_stack(unsigned int actor, size_t *ret_live)
{
	unsigned char *sp = m.actors[actor].sp;

	*ret_live = (size_t)(stacks[actor] + STACK_SIZE - sp);
	return sp;
}

bool actor_is_thread(unsigned int actor)
{
	return actor < THREADS;
}

const char *actor_program(unsigned int actor)
{
	const char *program = actor_is_thread(actor) ? config->programs[actor] : config->reads;

	return program ? program : "";
}

static void hand_over(void)
{
	const int self = running;

	running = -1;
	model_switch(&m.actors[self].sp, explorer_sp);
}

void actor_resume(unsigned int actor)
{
	memset(stacks[actor], 0, (size_t)((unsigned char *)m.actors[actor].sp - stacks[actor]));
	actor_become(actor);
	running = (int)actor;
	model_switch(&explorer_sp, m.actors[actor].sp);
	if ((unsigned char *)m.actors[actor].sp < stacks[actor] + 512)
		fail("the checker's stacks are too small");
}

unsigned int actor_step(const struct pending *next)
{
	const unsigned int self = (unsigned int)running;
	struct actor *actor = &m.actors[self];

	if (++actor->steps > STEPS_MAX)
		fail("actor %u has made %u steps in one action", self, actor->steps);
	tally.most = actor->steps > tally.most ? actor->steps : tally.most;
	if (!explorer_passes(self, next)) {
		actor->next = *next;
		hand_over();
	}
	return 0;
}

void actor_sleep(void)
{
	m.actors[running].next = (struct pending){ .word = -1, .place = PLACE_COMMON };
	hand_over();
}

static void idle_loop(unsigned int self)
{
	for (;;) {
		m.actors[self].next = (struct pending){ .word = -1 };
		m.actors[self].action = 0;
		m.actors[self].steps = 0;
		hand_over();
		m.actors[self].action = command.action;
		act(command.action);
	}
}

static void main_0(void)
{
	idle_loop(0);
}

static void main_1(void)
{
	idle_loop(1);
}

static void main_2(void)
{
	idle_loop(2);
}

static void main_reader(void)
{
	idle_loop(READER);
}

/* A thread's data before its first call. */
static void clear_data(unsigned int actor)
{
	memcpy(m.actors[actor].tls, new_tls, tls_size);
	if (actor == current)
		memcpy(tls, new_tls, tls_size);
}

void actor_begin_thread(unsigned int actor)
{
	struct actor *a = &m.actors[actor];

	if (!a->ended)
		return;
	a->ended = false;
	if (!a->tid || !with(REUSES))
		a->tid = ++m.next_tid;
	if (a->tid >= ALIVE)
		fail("the checker has too few thread ids");
	__atomic_store_n(&inside.kernel.alive[a->tid], 1, __ATOMIC_RELAXED);
	clear_data(actor);
}

void actor_end_thread(void)
{
	struct actor *a = &m.actors[current];

	memory_ends(current);
	__atomic_store_n(&inside.kernel.alive[a->tid], 0, __ATOMIC_RELEASE);
	a->ended = true;
	clear_data(current);
}

void actors_begin(void)
{
	static void (*const mains[])(void) = { main_0, main_1, main_2, main_reader };
	unsigned int actor;

	if (!tls) {
		dl_iterate_phdr(find_tls, NULL);
		if (!tls || tls_size > TLS_MAX)
			fail("the checker finds %zu bytes of thread-local data", tls_size);
		memcpy(new_tls, tls, tls_size);
	}
	current = 0;
	for (actor = 0; actor < ACTORS; actor++) {
		/* There is one word above the entry, so that the stack is aligned as after a call. */
		void **top = (void **)(void *)(stacks[actor] + STACK_SIZE) - 2;

		m.actors[actor].ended = true;
		actor_begin_thread(actor);
		memset(stacks[actor], 0, STACK_SIZE);
		memcpy(top, &mains[actor], sizeof(void *));
		m.actors[actor].sp = top - SAVED_REGISTERS;
	}
	for (actor = 0; actor < ACTORS; actor++) {
		actor_resume(actor);
		idle[actor].sp = actor_stack(actor, &idle[actor].live);
		memcpy(idle[actor].bytes, idle[actor].sp, idle[actor].live);
	}
}

void actor_renew(unsigned int actor)
{
	struct actor *a = &m.actors[actor];

	a->sp = idle[actor].sp;
	memcpy(a->sp, idle[actor].bytes, idle[actor].live);
	a->action = 0;
	a->steps = 0;
	a->masked = 0;
	a->next = (struct pending){ .word = -1 };
	a->ended = true;
	clear_data(actor);
}

void rec_signal_block_begin(struct rec_signal_block *ret_block)
{
	ret_block->cancel = 0;
	m.actors[current].masked++;
}

void rec_signal_block_end(const struct rec_signal_block *block)
{
	(void)block;
	m.actors[current].masked--;
}
