/* SPDX-License-Identifier: MIT */
/*
 * Every interleaving, each state once: depth first, as in the checker of the ring (../explore.c). Before an access to a
 * common word, the steps of all actors are explored; an actor before any other access continues alone, because the
 * order of that access and the others' has no effect. If a word turns out to be common, the search begins anew.
 */
#include "lanes.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CHOICES_MAX (2u * ACTORS)
#define DEPTH_MAX   4000u

struct node {
	struct saved saved;
	struct choice choices[CHOICES_MAX];
	uint8_t nr_choices;
	uint8_t next;
	/* The last choice in this state, for the report of a failure. */
	struct pending step;
	struct choice done;
	char action;
};

struct tally tally;
const struct config *config;

static struct node *path;
static uint32_t nr_path;
static struct set met;
static jmp_buf on_failure;
static char failure[256];
static bool telling;

void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(failure, sizeof(failure), format, args);
	va_end(args);
	longjmp(on_failure, 1);
}

/* ------------------------------------------------------------------------------------------------- choices */

/* A thread that exits without notice does so in a signal handler, so not while signals are blocked. */
static bool may_die(unsigned int actor)
{
	return with(DIES) && actor == 0 && !m.oracle.died && !m.actors[actor].masked;
}

/* Called before each access, so each value of the words is seen. */
static void note_bereft(void)
{
	unsigned int actor;
	uint32_t i;

	for (actor = 0; actor < THREADS; actor++)
		for (i = 0; i < config->max_lanes; i++)
			if (inside.own[i].bereft == m.actors[actor].tid && m.actors[actor].action)
				m.actors[actor].bereft = true;
}

/* Only this step can happen here, and the state need not be recorded: the actor need not stop. */
bool explorer_passes(unsigned int actor, const struct pending *next)
{
	note_bereft();
	if (telling || next->place == PLACE_COMMON || may_die(actor))
		return false;
	tally.steps++;
	return true;
}

static void add(struct node *node, unsigned int actor, enum act act, char action)
{
	node->choices[node->nr_choices++] = (struct choice){ (uint8_t)actor, (uint8_t)act, action };
}

static bool sleeps(unsigned int actor)
{
	return actor == READER && m.actors[actor].action && inside.kernel.asleep;
}

static void add_choices(struct node *node, unsigned int actor)
{
	const struct actor *a = &m.actors[actor];

	if (sleeps(actor))
		return;
	if (a->action)
		add(node, actor, ACT_STEP, a->action);
	else if (actor_program(actor)[a->done])
		add(node, actor, ACT_START, actor_program(actor)[a->done]);
	else
		return;
	if (may_die(actor))
		add(node, actor, ACT_DIE, a->action);
}

static bool goes_on_alone(unsigned int actor)
{
	const struct actor *a = &m.actors[actor];

	/* Other threads may ask for the id of a thread that begins. */
	if (!a->action)
		return actor_program(actor)[a->done] && !(a->ended && with(REUSES));
	return a->next.place != PLACE_COMMON;
}

static void list_choices(struct node *node)
{
	unsigned int actor;

	node->nr_choices = 0;
	node->next = 0;
	for (actor = 0; actor < ACTORS && !node->nr_choices; actor++)
		if (goes_on_alone(actor))
			add_choices(node, actor);
	if (node->nr_choices)
		return;
	for (actor = 0; actor < ACTORS; actor++)
		add_choices(node, actor);
}

static void take(const struct choice *choice)
{
	tally.steps++;
	if (choice->act == ACT_DIE) {
		oracle_dies(choice->actor);
		memory_ends(choice->actor);
		inside.kernel.alive[m.actors[choice->actor].tid] = 0;
		actor_renew(choice->actor);
		return;
	}
	if (choice->act == ACT_START) {
		m.actors[choice->actor].done++;
		m.actors[choice->actor].bereft = false;
		actor_begin_thread(choice->actor);
	}
	command = *choice;
	actor_resume(choice->actor);
}

/* --------------------------------------------------------------------------------------------------- story */

static void story(void)
{
	static const char *const accesses[] = { "reads",     "writes",	"loads",	  "stores",
						"exchanges", "adds to", "reads the clock" };
	uint32_t i;

	for (i = 0; i < nr_path; i++) {
		const struct node *node = &path[i];
		const struct choice *done = &node->done;
		char name[64] = "";

		if (!node->nr_choices)
			continue;
		printf("#  %*s", 2 * done->actor, "");
		if (done->actor == READER)
			printf("reader ");
		else
			printf("thread %u ", done->actor);
		if (done->act == ACT_START) {
			printf("starts %c\n", done->action);
		} else if (done->act == ACT_DIE) {
			printf("dies\n");
		} else if (!node->step.caller) {
			printf("wakes up\n");
		} else {
			memory_name(node->step.offset, name, sizeof(name));
			printf("%c %s %-34s %p\n", node->action, accesses[node->step.access], name, node->step.caller);
		}
	}
}

/* ------------------------------------------------------------------------------------------------- the search */

/*
 * Explore the current state. If there is only one way to continue, the state is neither saved nor looked up: any other
 * path to it comes from a state that is in the table.
 */
static void push(void)
{
	struct node *node = &path[nr_path];

	if (nr_path + 1 == DEPTH_MAX)
		fail("the checker's path is too short");
	nr_path++;
	tally.depth = nr_path > tally.depth ? nr_path : tally.depth;
	list_choices(node);
	check_owners();
	if (node->nr_choices == 1)
		return;
	if (!set_put(&met, state_hash())) {
		node->nr_choices = 0;
		return;
	}
	tally.states++;
	state_save(&node->saved);
	if (!node->nr_choices) {
		tally.ends++;
		check_end();
	}
}

static void go_on(void)
{
	struct node *node = &path[nr_path - 1];

	if (node->next == node->nr_choices) {
		nr_path--;
		return;
	}
	/* For the first choice the state need not be restored. */
	if (node->next)
		state_restore(&node->saved);
	node->done = node->choices[node->next++];
	node->step = m.actors[node->done.actor].next;
	node->action = m.actors[node->done.actor].action;
	take(&node->done);
	push();
}

static void begin(void)
{
	const char *action;
	unsigned int i;

	memset(&m, 0, sizeof(m));
	kernel_begin();
	view_begin();
	actors_begin();
	quiet_begin();
	if (with(LATE))
		rec_pool.geometry.shared_max = 0;
	for (i = 0; i < config->made; i++) {
		actor_become(i);
		act('a');
	}
	while (i--) {
		actor_become(i);
		act('x');
	}
	actor_become(0);
	for (action = config->before; *action; action++) {
		actor_begin_thread(0);
		act(*action);
	}
	actor_begin_thread(0);
	rec_pool.geometry.shared_max = config->shared_max;
	memory_begin();
	set_end(&met);
	set_begin(&met, UINT64_C(1) << 20);
	nr_path = 0;
	tally.rounds++;
	tally.states = 0;
	tally.ends = 0;
}

static void on_signal(int number)
{
	(void)number;
	fail("an access to memory that is not there");
}

static void search(uint64_t limit)
{
	begin();
	push();
	while (nr_path && tally.states < limit) {
		go_on();
		if (memory_learnt) {
			begin();
			push();
		}
	}
}

int explore(const struct config *what, uint64_t limit, bool verbose)
{
	static const struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_NODEFER };
	static unsigned char stack[65536];
	const stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };

	config = what;
	telling = verbose;
	memset(&tally, 0, sizeof(tally));
	if (!path)
		path = mmap(NULL, DEPTH_MAX * sizeof(*path), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	sigaltstack(&alternate, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	quiet = false;
	unwatched = false;
	running = -1;
	if (setjmp(on_failure)) {
		running = -1;
		if (verbose)
			story();
		printf("# %s: %s\n", config->name, failure);
		return 1;
	}
	memory_begin_search();
	search(limit);
	return 0;
}
