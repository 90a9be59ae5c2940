/* SPDX-License-Identifier: MIT */
/*
 * Explores every interleaving, each state once: depth first, with complete copies of the states on the path, and a
 * table of the hashes of all states seen. Two states with the same 64-bit hash would be mistaken for one; with the ten
 * million states of the largest configurations the probability is 1 in 400,000.
 *
 * Which actors may continue in a state. An actor whose next access is not to a common word (PLACE_OWN, PLACE_BYTES, the
 * clock) continues alone, because the order of such an access and the other side's accesses has no effect, which
 * memory_race() checks each time. All that may happen on the actor's own side remains possible there: a signal handler,
 * a move to another CPU, a death. Only before an access to a common word, and between two actions, are both sides'
 * steps explored.
 */
#include "model.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CHOICES_MAX 24u
#define DEPTH_MAX   6000u

struct node {
	struct saved saved;
	struct choice choices[CHOICES_MAX];
	uint8_t nr_choices;
	uint8_t next;
	/* The last choice in this state, for the report of a failure. */
	struct pending step;
	struct choice done;
	uint8_t depth;
	char action;
};

struct tally tally;

static struct node *path;
static uint32_t nr_path;
static struct set met, cut, ended;
static jmp_buf on_failure;
static char failure[256];
static bool telling;

void story(void);

void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(failure, sizeof(failure), format, args);
	va_end(args);
	longjmp(on_failure, 1);
}

static char spoilt[96];

void spoilt_name(const char *name, uint32_t value, unsigned int which)
{
	spoilt[0] = '\0';
	if (name)
		snprintf(spoilt, sizeof(spoilt), ", with %#x at %s before call %u", value, name, which);
}

bool explorer_ends(void)
{
	return set_put(&ended, state_hash_end());
}

/* ------------------------------------------------------------------------------------------------- choices */

static void add(struct node *node, unsigned int actor, enum act act, unsigned int arg)
{
	if (node->nr_choices == CHOICES_MAX)
		fail("the checker has too many choices");
	node->choices[node->nr_choices++] = (struct choice){ (uint8_t)actor, (uint8_t)act, (uint8_t)arg };
}

static void writer_starts(struct node *node)
{
	const char *next = config->program + m.actors[WRITER].done;

	if (m.program_gone || (with(SHARED) && m.writer_died))
		return;
	if (m.lease)
		add(node, WRITER, ACT_START, 'L');
	else if (*next)
		add(node, WRITER, ACT_START, (unsigned char)*next);
}

static void steps(struct node *node, unsigned int actor)
{
	const struct pending *next = &m.actors[actor].next;
	unsigned int candidates = next->candidates, i;

	if (next->access == ACCESS_LOAD && next->word >= 0) {
		running = (int)actor;
		candidates = memory_candidates(next->word);
		running = -1;
	}
	for (i = 0; i < candidates; i++)
		add(node, actor, ACT_STEP, i);
}

/* A move to another CPU has an effect only before a read of the CPU or of the clock. */
static bool is_about_cpu(const struct pending *next)
{
	return next->access == ACCESS_CLOCK ||
	       (const unsigned char *)&m.shared + next->offset == (const void *)&m.shared.cpu;
}

static void writer_goes_on(struct node *node)
{
	const struct actor *writer = &m.actors[WRITER];
	const char *nested;
	uint8_t level;

	/*
	 * A handler that interrupted here might as well have come after this step (join_level()), unless something else
	 * comes before the step, too.
	 */
	if (m.prune)
		tally.pruned++;
	else
		steps(node, WRITER);
	if (with(MOVES) && !m.migrations && is_about_cpu(&writer->next))
		add(node, WRITER, ACT_MIGRATE, 0);
	if (config->interrupts > m.interrupts && writer->depth < config->depth && !m.masked &&
	    writer->levels[writer->depth - 1].action != 'L')
		for (nested = config->nested; *nested; nested++)
			add(node, WRITER, ACT_INTERRUPT, (unsigned char)*nested);
	for (level = 1; with(JUMPS) && !m.jumped && !m.masked && level <= writer->depth; level++)
		add(node, WRITER, ACT_JUMP, level);
	if (with(WRITER_DIES) && !m.writer_died)
		add(node, WRITER, ACT_DIE, 0);
	if (with(PROGRAM_DIES) && !m.writer_died)
		add(node, WRITER, ACT_PROGRAM_DIES, 0);
}

static void reader_starts(struct node *node)
{
	if (m.attach)
		add(node, READER, ACT_START, 'i');
	else if (config->reads[m.actors[READER].done])
		add(node, READER, ACT_START, (unsigned char)config->reads[m.actors[READER].done]);
}

static void reader_goes_on(struct node *node)
{
	steps(node, READER);
	if (with(READER_DIES) && !m.reader_died)
		add(node, READER, ACT_DIE, 0);
}

/* Only this step can happen here, and the state need not be recorded: the actor need not stop. */
bool explorer_passes(unsigned int actor, const struct pending *next)
{
	const bool cuts = with(CUT) && !m.writer_died && !m.reader_died;

	if (telling || cuts || m.prune || next->place == PLACE_COMMON || next->candidates > 1)
		return false;
	tally.steps++;
	if (actor == READER)
		return !with(READER_DIES) || m.reader_died;
	return (config->interrupts == m.interrupts || m.actors[WRITER].depth == config->depth || m.masked) &&
	       (!with(MOVES) || m.migrations) && ((!with(WRITER_DIES) && !with(PROGRAM_DIES)) || m.writer_died) &&
	       (!with(JUMPS) || m.jumped || m.masked);
}

static bool goes_on_alone(unsigned int actor)
{
	return m.actors[actor].depth && m.actors[actor].next.place != PLACE_COMMON;
}

static void list_choices(struct node *node)
{
	node->nr_choices = 0;
	node->next = 0;
	if (goes_on_alone(READER)) {
		reader_goes_on(node);
		return;
	}
	if (goes_on_alone(WRITER)) {
		writer_goes_on(node);
		return;
	}
	if (m.actors[WRITER].depth)
		writer_goes_on(node);
	else
		writer_starts(node);
	if (m.actors[READER].depth)
		reader_goes_on(node);
	else
		reader_starts(node);
}

static void take(const struct choice *choice)
{
	struct actor *actor = &m.actors[choice->actor];

	unsigned int i;

	tally.steps++;
	if (choice->actor == WRITER)
		m.oracle.disturbed = true;
	for (i = 0; choice->actor == READER && i < m.actors[WRITER].depth; i++)
		m.actors[WRITER].levels[i].reader_moved = true;
	switch (choice->act) {
	case ACT_MIGRATE:
		m.migrations++;
		m.shared.cpu ^= 1;
		return;
	case ACT_DIE:
	case ACT_PROGRAM_DIES:
		if (choice->actor == READER) {
			m.reader_died = true;
			m.attach = true;
			oracle_reader_died();
			actor_reset(READER);
			return;
		}
		m.writer_died = true;
		/* The next thread that wants a shared lane finds that its holder is gone. */
		m.lease = choice->act == ACT_DIE && !with(SHARED);
		m.program_gone = choice->act == ACT_PROGRAM_DIES;
		oracle_writer_died();
		actor_reset(WRITER);
		if (m.program_gone)
			memory_death_seen(READER);
		return;
	case ACT_START:
		if (choice->arg != 'L' && choice->arg != 'i')
			actor->done++;
		break;
	case ACT_INTERRUPT:
		m.interrupts++;
		break;
	default:
		break;
	}
	command = *choice;
	actor_resume(choice->actor);
}

/* --------------------------------------------------------------------------------------------------- story */

void story(void)
{
	static const char *const accesses[] = { "reads",     "writes",	"loads",	  "stores",
						"exchanges", "adds to", "reads the clock" };
	uint32_t i;

	for (i = 0; i < nr_path; i++) {
		const struct node *node = &path[i];
		const struct choice *done = &node->done;
		char name[48] = "", line[128] = "";
		const char *who = done->actor == WRITER ? "writer" : "    reader";

		if (!node->nr_choices)
			continue;
		switch (done->act) {
		case ACT_START:
			printf("#  %s starts %c\n", who, done->arg);
			break;
		case ACT_INTERRUPT:
			printf("#  %s interrupted at level %u by %c\n", who, node->depth, done->arg);
			break;
		case ACT_MIGRATE:
			printf("#  %s moves to the other CPU\n", who);
			break;
		case ACT_JUMP:
			printf("#  %s leaves level %u and what is inside it\n", who, done->arg);
			break;
		case ACT_STEP:
			if (node->step.access != ACCESS_CLOCK)
				memory_name(node->step.offset, name, sizeof(name));
			snprintf(line, sizeof(line), "%c%u %s %s", node->action, node->depth,
				 accesses[node->step.access], name);
			printf("#  %s %-42s %p%s\n", who, line, node->step.caller, done->arg ? " (a later value)" : "");
			break;
		default:
			printf("#  %s dies\n", who);
			break;
		}
	}
}

/* ------------------------------------------------------------------------------------------------- the search */

/* Both sides die here. Many states leave the same remains, which are checked only once. */
static void cut_here(struct node *node, bool is_away)
{
	if (!with(CUT) || m.writer_died || m.reader_died || !set_put(&cut, state_hash_remains()))
		return;
	if (!is_away)
		state_save(&node->saved);
	check_cut(false);
	state_restore(&node->saved);
	check_cut(true);
	state_restore(&node->saved);
	tally.cuts++;
}

static bool is_quiet_moment(void)
{
	return !m.actors[WRITER].depth && !m.actors[READER].depth && !m.lease && !m.attach && !m.program_gone &&
	       !is_left() && !(with(SHARED) && m.writer_died);
}

/*
 * Explore the current state. If there is only one way to continue, the state is neither saved nor looked up: any other
 * path to it comes from a state that is in the table.
 */
static void push(void)
{
	struct node *node = &path[nr_path];

	if (nr_path + 1 == DEPTH_MAX)
		fail("the checker's path is too short");
	node->nr_choices = 0;
	nr_path++;
	tally.depth = nr_path > tally.depth ? nr_path : tally.depth;
	list_choices(node);
	if (node->nr_choices > 1 || is_quiet_moment()) {
		if (!set_put(&met, state_hash())) {
			node->nr_choices = 0;
			return;
		}
		tally.states++;
		state_save(&node->saved);
		if (is_quiet_moment())
			check_ring();
		cut_here(node, true);
	} else {
		cut_here(node, false);
	}
	if (!node->nr_choices && !m.prune) {
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
	node->depth = m.actors[node->done.actor].depth;
	node->action = node->depth ? m.actors[node->done.actor].levels[node->depth - 1].action : ' ';
	m.prune = false;
	take(&node->done);
	push();
}

static void begin(void)
{
	const char *action;

	memset(&m, 0, sizeof(m));
	m.handle = (struct rec_handle){
		.lane = &m.shared.lane,
		.data = m.shared.pages + REC_SUBBUF_HEADER_SIZE,
		.cpu = &m.shared.cpu,
		.shift = config->shift,
		.any_room = ((1u << config->shift) - REC_SUBBUF_HEADER_SIZE) / 4,
		.capacity = ((1u << config->shift) - REC_SUBBUF_HEADER_SIZE) / 4,
		.clock = REC_CLOCK_MONO,
		.overwrite = with(OVERWRITE),
		.subbufs = m.shared.subbufs,
		.links = m.shared.links,
		.reader = &m.shared.words,
		.nr_subbufs = config->pages + 1u,
	};
	lease_lane();
	m.clock = 1000;
	actors_begin();
	quiet = true;
	quiet_begin();
	rec_ring_init(&m.handle);
	if (with(SHARED))
		share_lane();
	oracle_entered();
	act('i');
	for (action = config->prefill; *action; action++)
		act(*action);
	quiet = false;
	memory_begin();
}

static void on_signal(int number)
{
	(void)number;
	fail("an access to memory that is not there");
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
	set_end(&met);
	set_end(&cut);
	set_end(&ended);
	set_begin(&met, UINT64_C(1) << 20);
	set_begin(&cut, UINT64_C(1) << 16);
	set_begin(&ended, UINT64_C(1) << 16);
	nr_path = 0;
	sigaltstack(&alternate, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	if (setjmp(on_failure)) {
		running = -1;
		quiet = false;
		unwatched = false;
		if (verbose)
			story();
		printf("# %s: %s%s\n", config->name, failure, spoilt);
		spoilt_name(NULL, 0, 0);
		return 1;
	}
	state_begin();
	begin();
	if (with(SPOILS))
		spoil();
	else
		push();
	while (nr_path && tally.states < limit)
		go_on();
	return 0;
}
