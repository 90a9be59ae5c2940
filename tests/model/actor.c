/* SPDX-License-Identifier: MIT */
/*
 * The writer and the reader: coroutines on stacks at fixed addresses, so that the live part of a stack can be saved and
 * restored. A signal handler is a call from the step that it interrupts, on the writer's own stack. A stack is cleared
 * below its live part whenever its actor continues: what an actor does depends only on its state.
 */
#include "librecorder/os/signal_block.h"
#include "model.h"
#include "stack_switch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct model m;
const struct config *config;
int running = -1;
bool quiet, unwatched;
struct choice command;

static _Alignas(64) unsigned char stacks[ACTORS][STACK_SIZE];
static void *explorer_sp;

/* The contents of an idle stack, as actors_begin() left them. */
static struct {
	void *sp;
	unsigned char bytes[STACK_SIZE];
	size_t live;
} idle[ACTORS];

unsigned char *actor_stack(unsigned int actor, size_t *ret_live)
{
	unsigned char *sp = m.actors[actor].sp;

	*ret_live = (size_t)(stacks[actor] + STACK_SIZE - sp);
	return sp;
}

unsigned char *actor_stack_base(unsigned int actor)
{
	return stacks[actor];
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
	running = (int)actor;
	model_switch(&explorer_sp, m.actors[actor].sp);
	if ((unsigned char *)m.actors[actor].sp < stacks[actor] + 512)
		fail("the checker's stacks are too small");
}

/*
 * The maximum number of steps of an uninterrupted action of each kind; an interruption may cost as many again. See
 * docs/MEMORY-MODEL.md.
 */
#define WRITER_STEPS_MAX 100u
#define READER_STEPS_MAX 260u
/* In these configurations each read of the lane's handle is a step, too. */
#define SHARED_STEPS_MAX 200u
/* Included are the bytes of events, and the steps that take other events back. */
#define JUMPS_STEPS_MAX 300u
/* Reads the whole lane, event by event. */
#define ITERATES_STEPS_MAX 2000u

static void count_step(struct actor *actor, unsigned int self)
{
	struct level *level = &actor->levels[actor->depth - 1];
	const uint32_t per = ++level->steps / ((level->events ? level->events : 1u) + level->interrupts);
	const uint32_t max = with(SHARED)		     ? SHARED_STEPS_MAX
			     : with(ITERATES)		     ? ITERATES_STEPS_MAX
			     : with(JUMPS) && self == WRITER ? JUMPS_STEPS_MAX
			     : self == WRITER		     ? WRITER_STEPS_MAX
							     : READER_STEPS_MAX;
	uint32_t *most = self == WRITER ? &tally.writer_steps : &tally.reader_steps;

	*most = per > *most ? per : *most;
	if (per > max)
		fail("the %s has made %u steps in one action, interrupted %u times",
		     self == WRITER ? "writer" : "reader", level->steps, level->interrupts);
}

void actor_do(unsigned int actor, char action)
{
	struct actor *a = &m.actors[actor];

	if (a->depth == LEVELS)
		fail("the checker's stack of actions is too small");
	a->levels[a->depth] = (struct level){ .action = action, .cpu = m.shared.cpu, .time = m.clock };
	a->depth++;
	/*
	 * Leaves an action for good, like siglongjmp(), except that the target is part of the state.
	 */
	if (!__builtin_setjmp(a->levels[a->depth - 1].jump))
		act(action);
	a->depth--;
}

/* A handler that interrupted the writer here jumps to the place where the action at `level` was begun. */
static __attribute__((noreturn)) void jump(uint8_t level)
{
	struct actor *a = &m.actors[WRITER];

	m.jumped = true;
	oracle_jumped(level);
	a->depth = level;
	__builtin_longjmp(a->levels[level - 1].jump, 1);
}

void rec_signal_block_begin(struct rec_signal_block *ret_block)
{
	ret_block->cancel = 0;
	if (!m.jumped && !m.writer_died && running >= 0 && !quiet)
		fail("the writer blocks signals, though nothing was left");
	m.masked++;
	oracle_putting_back();
}

void rec_signal_block_end(const struct rec_signal_block *before)
{
	(void)before;
	m.masked--;
	oracle_put_back();
}

/*
 * A signal handler has ended. If our next access conflicts with none of the handler's, the handler might as well have
 * run after that access, and that order is explored elsewhere. For an access to a common word, this holds only if the
 * reader did not move meanwhile. (States within the handler are explored from both places.) So that access is not made
 * now, unless something else comes before it: another handler, a death, a jump, the reader. One case is left out by
 * this: a handler before the very last access of an action, after which no handler interrupts. That is the same as two
 * actions one after the other.
 */
static void join_level(struct actor *actor, const struct pending *next)
{
	struct level *outer = &actor->levels[actor->depth - 1], *inner = outer + 1;
	uint32_t i;

	m.prune = !memory_conflicts(&inner->footprint, next) && !(next->place == PLACE_COMMON && inner->reader_moved);
	for (i = 0; i < sizeof(inner->footprint.read); i++) {
		outer->footprint.written[i] |= inner->footprint.written[i];
		outer->footprint.read[i] |= inner->footprint.read[i];
	}
	*inner = (struct level){ 0 };
}

unsigned int actor_step(const struct pending *next)
{
	const unsigned int self = (unsigned int)running;
	struct actor *actor = &m.actors[self];
	unsigned int candidate = 0;

	count_step(actor, self);
	while (!explorer_passes(self, next)) {
		actor->next = *next;
		hand_over();
		if (command.act == ACT_JUMP)
			jump(command.arg);
		if (command.act != ACT_INTERRUPT) {
			candidate = command.arg;
			break;
		}
		actor->levels[actor->depth - 1].interrupts++;
		actor_do(self, (char)command.arg);
		join_level(actor, next);
	}
	if (self == WRITER)
		memory_note(next);
	return candidate;
}

/*
 * Runs the action in frames deeper on the stack than those of the next action, so that the next action can see that
 * this one was left.
 */
#define DEEPER 384u

static __attribute__((noinline)) void do_deeper(unsigned int self, char action, size_t deeper)
{
	volatile char *below = __builtin_alloca(deeper + 1);

	*below = 0;
	actor_do(self, action);
	*below = 0;
}

static void idle_loop(unsigned int self)
{
	bool begun;

	for (;;) {
		m.actors[self].next = (struct pending){ .word = -1 };
		hand_over();
		begun = m.jumped;
		if (self == WRITER && with(JUMPS))
			do_deeper(self, (char)command.arg, DEEPER * strlen(config->program + m.actors[self].done));
		else
			actor_do(self, (char)command.arg);
		/*
		 * The frame of this action was above that of the action left, and this action was neither left nor
		 * interrupted.
		 */
		if (self == WRITER && m.jumped && begun && !m.actors[self].levels[0].interrupts &&
		    (m.shared.lane.open || m.shared.lane.tail != m.shared.lane.commit))
			fail("what was left is still there after another action");
		/* A writer that leaves a sub-buffer finds an unfinished move of the head. */
		if (self == WRITER && begun && !m.actors[self].levels[0].interrupts &&
		    m.actors[self].levels[0].action == 'l' && m.handle.movers)
			fail("a move of the head that was left is still there");
		m.actors[self].levels[0] = (struct level){ 0 };
	}
}

static void writer_main(void)
{
	idle_loop(WRITER);
}

static void reader_main(void)
{
	idle_loop(READER);
}

void actors_begin(void)
{
	static void (*const mains[])(void) = { writer_main, reader_main };
	unsigned int actor;

	for (actor = 0; actor < ACTORS; actor++) {
		/* There is one word above the entry, so that the stack is aligned as after a call. */
		void **top = (void **)(void *)(stacks[actor] + STACK_SIZE) - 2;

		memset(stacks[actor], 0, STACK_SIZE);
		memcpy(top, &mains[actor], sizeof(void *));
		m.actors[actor].sp = top - SAVED_REGISTERS;
		actor_resume(actor);
		idle[actor].sp = actor_stack(actor, &idle[actor].live);
		memcpy(idle[actor].bytes, idle[actor].sp, idle[actor].live);
	}
}

/* The actor's thread or process is gone; another one is ready. */
void actor_reset(unsigned int actor)
{
	struct actor *a = &m.actors[actor];

	a->sp = idle[actor].sp;
	memcpy(a->sp, idle[actor].bytes, idle[actor].live);
	a->depth = 0;
	if (actor == WRITER)
		m.masked = 0;
	memset(a->levels, 0, sizeof(a->levels));
	a->next = (struct pending){ .word = -1 };
}
