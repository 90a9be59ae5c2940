/* SPDX-License-Identifier: MIT */
/*
 * The memory between actors. Loads find the newest value. An access is over for another actor if that has acquired what
 * was released after it, as in race detectors: each actor's work is divided into parts by its releases, and an access
 * is noted with its part.
 *
 * A word is common if several actors access it without an order in between, always by atomic operations: each access to
 * it is a step, before which other actors may run. The search discovers which words are common, and begins anew when it
 * has found one. A plain access without an order is a race.
 */
#include "lanes.h"

#include <string.h>

struct inside inside;
struct rec_buffer_header header;
struct lane_file file[LANES_MAX];
struct region regions[REGIONS];
uint32_t nr_cells;
bool memory_learnt;

static int16_t word_at[CELLS];
static uint32_t nr_words;
static struct {
	void *at;
	uint32_t size;
} words[WORDS_MAX];

/* Cells with plain accesses. In these, accesses to a common word are noted as well. */
static bool is_mixed[CELLS];

static void set_region(uint32_t i, void *at, size_t size)
{
	regions[i] = (struct region){ at, (uint32_t)size, nr_cells * 4 };
	nr_cells += (uint32_t)(size + 3) / 4;
	if (nr_cells > CELLS)
		fail("the checker has too few cells");
}

static void found_common(uint32_t cell, const void *at, uint32_t size)
{
	if (word_at[cell] >= 0)
		return;
	if (nr_words == WORDS_MAX)
		fail("the checker has too few words");
	words[nr_words].at = (void *)(uintptr_t)at;
	words[nr_words].size = size;
	word_at[cell] = (int16_t)nr_words++;
	memory_learnt = true;
}

void memory_begin_search(void)
{
	const size_t state = offsetof(struct rec_buffer_header, state);
	const size_t recorder = offsetof(struct rec_buffer_header, recorder);
	uint32_t i;

	nr_cells = 0;
	nr_words = 0;
	memset(word_at, -1, sizeof(word_at));
	memset(is_mixed, 0, sizeof(is_mixed));
	set_region(0, &rec_pool, sizeof(rec_pool));
	set_region(1, share_nowhere, sizeof(*share_nowhere));
	set_region(2, share_starved, sizeof(*share_starved));
	set_region(3, &inside, sizeof(inside));
	set_region(4, &header.state, offsetof(struct rec_buffer_header, anchors) - state);
	set_region(5, &header.recorder, sizeof(header) - recorder);
	set_region(6, file, config->max_lanes * sizeof(file[0]));
	/* The explorer changes these, when threads end. */
	for (i = 0; i < ALIVE; i++)
		found_common(memory_offset(&inside.kernel.alive[i]) / 4, &inside.kernel.alive[i], 4);
}

void memory_begin(void)
{
	memset(&m.memory, 0, sizeof(m.memory));
	memory_learnt = false;
	tally.words = nr_words;
}

static const struct region *find_region(const void *at)
{
	uint32_t i = REGIONS;

	while (i--)
		if ((uintptr_t)at - (uintptr_t)regions[i].at < regions[i].size)
			return &regions[i];
	return NULL;
}

bool memory_is_shared(const void *at)
{
	return find_region(at);
}

uint32_t memory_offset(const void *at)
{
	const struct region *region = find_region(at);

	return region->offset + (uint32_t)((uintptr_t)at - (uintptr_t)region->at);
}

void memory_populate(const void *at, size_t size, bool has)
{
	const size_t from = (size_t)((uintptr_t)at - (uintptr_t)file), lane = from / sizeof(file[0]);
	const size_t meta = offsetof(struct lane_file, meta);

	if (lane >= config->max_lanes || from % sizeof(file[0]) + size > sizeof(file[0]))
		fail("memory is populated that is no lane's");
	if (from % sizeof(file[0]) == 0)
		inside.kernel.has_head[lane] = has;
	else if (from % sizeof(file[0]) == meta)
		inside.kernel.has_ring[lane] = has;
}

/* A thread's access to a part without memory may end the program. */
void memory_check(const void *at, uint32_t size)
{
	const size_t from = (size_t)((uintptr_t)at - (uintptr_t)file), lane = from / sizeof(file[0]);

	if (!find_region((const unsigned char *)at + size - 1))
		fail("an access leaves what is shared");
	if (from >= sizeof(file) || current == READER)
		return;
	if (from % sizeof(file[0]) < offsetof(struct lane_file, meta) ? !inside.kernel.has_head[lane]
								      : !inside.kernel.has_ring[lane])
		fail("a thread uses a part of lane %u that has no memory", (uint32_t)lane);
}

int memory_word(const void *at)
{
	return word_at[memory_offset(at) / 4];
}

enum place memory_place(const void *at, bool write)
{
	(void)write;
	return memory_word(at) < 0 ? PLACE_OWN : PLACE_COMMON;
}

/* ------------------------------------------------------------------------------------------------------- orders */

static bool is_acquire(int order)
{
	return order == __ATOMIC_ACQUIRE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST ||
	       order == __ATOMIC_CONSUME;
}

static bool is_release(int order)
{
	return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static void add_view(struct view *to, const struct view *from)
{
	uint32_t i;

	for (i = 0; i < ACTORS; i++)
		to->clock[i] = from->clock[i] > to->clock[i] ? from->clock[i] : to->clock[i];
}

static uint8_t part(unsigned int actor)
{
	return (uint8_t)(m.memory.view[actor].clock[actor] + 1);
}

/* A release ends a part of the actor's work. */
static const struct view *end_part(unsigned int actor)
{
	if (m.memory.used[actor]) {
		if (part(actor) >= MARK_PLAIN - 1)
			fail("the checker's clocks overflow");
		m.memory.view[actor].clock[actor]++;
		m.memory.used[actor] = false;
	}
	return &m.memory.view[actor];
}

static bool all_know(unsigned int actor, uint8_t mark)
{
	unsigned int other;

	for (other = 0; other < ACTORS; other++)
		if (other != actor && *actor_program(other) &&
		    m.memory.view[other].clock[actor] < (mark & (MARK_PLAIN - 1)))
			return false;
	return true;
}

/* Forget accesses that are over for all actors, so that states which differ only in these are the same. */
static void forget(unsigned int actor)
{
	uint32_t i;

	for (i = 0; i < nr_cells; i++) {
		uint8_t *written = &m.memory.written[actor][i], *read = &m.memory.read[actor][i];

		if (*written && all_know(actor, *written))
			*written = 0;
		if (*read && all_know(actor, *read))
			*read = 0;
	}
}

static void learn(const struct view *view)
{
	struct view *mine = &m.memory.view[running];
	const struct view before = *mine;
	unsigned int actor;

	add_view(mine, view);
	for (actor = 0; actor < ACTORS; actor++)
		if (mine->clock[actor] != before.clock[actor])
			forget(actor);
}

static void acquire(int word, int order)
{
	if (is_acquire(order))
		learn(&m.memory.released[word]);
	else
		add_view(&m.memory.acquire[running], &m.memory.released[word]);
}

static void put(int word, int order)
{
	m.memory.released[word] = is_release(order) ? *end_part((unsigned int)running) : m.memory.release[running];
}

unsigned int memory_candidates(int word)
{
	(void)word;
	return 1;
}

/* An access to a common word: it can race only with a plain access to this word. */
static void use(int word, bool write)
{
	if (is_mixed[memory_offset(words[word].at) / 4])
		memory_race(words[word].at, words[word].size, write, true);
}

uint64_t memory_load(int word, unsigned int candidate, int order)
{
	uint64_t value = 0;

	(void)candidate;
	acquire(word, order);
	use(word, false);
	memcpy(&value, words[word].at, words[word].size);
	return value;
}

void memory_store(int word, uint64_t value, int order)
{
	(void)value;
	use(word, true);
	put(word, order);
}

/* It also passes on what the replaced value released. */
void memory_exchange(int word, uint64_t value, int order)
{
	const struct view also = m.memory.released[word];

	(void)value;
	acquire(word, order);
	use(word, true);
	put(word, order);
	add_view(&m.memory.released[word], &also);
}

void memory_exchanged(const void *at, uint64_t was, uint64_t value)
{
	(void)at;
	(void)was;
	(void)value;
}

void memory_fence(int order)
{
	if (is_acquire(order))
		learn(&m.memory.acquire[running]);
	if (order == __ATOMIC_SEQ_CST) {
		learn(&m.memory.total);
		add_view(&m.memory.total, end_part((unsigned int)running));
	}
	if (is_release(order))
		m.memory.release[running] = *end_part((unsigned int)running);
}

void memory_ends(unsigned int actor)
{
	add_view(&m.memory.gone, end_part(actor));
}

void memory_deaths_seen(void)
{
	if (running >= 0)
		learn(&m.memory.gone);
}

/* -------------------------------------------------------------------------------------------------------- races */

static bool is_unordered(uint8_t mark, unsigned int other)
{
	return (mark & (MARK_PLAIN - 1)) > m.memory.view[running].clock[other];
}

void memory_race(const void *at, uint32_t size, bool write, bool atomic)
{
	const unsigned int self = (unsigned int)running;
	const uint32_t first = memory_offset(at) / 4, last = (memory_offset(at) + size - 1) / 4;
	const uint8_t mark = (uint8_t)(part(self) | (atomic ? 0 : MARK_PLAIN));
	unsigned int other;
	uint8_t found;
	char name[64];
	uint32_t i;

	/* The search begins anew. Until then, accesses that the new common word orders appear unordered. */
	if (memory_learnt)
		return;
	for (i = first; i <= last; i++) {
		for (other = 0; other < ACTORS; other++) {
			if (other == self)
				continue;
			found = is_unordered(m.memory.written[other][i], other) ? m.memory.written[other][i] : 0;
			if (write && is_unordered(m.memory.read[other][i], other))
				found |= m.memory.read[other][i];
			if (!found)
				continue;
			memory_name(i * 4, name, sizeof(name));
			if (!atomic || found & MARK_PLAIN)
				fail("race: actor %u %s %s, which actor %u used without an order in between", self,
				     write ? "writes" : "reads", name, other);
			found_common(first, at, size);
		}
		if (write)
			m.memory.written[self][i] = mark;
		else
			m.memory.read[self][i] = m.memory.read[self][i] == (mark | MARK_PLAIN) ? mark | MARK_PLAIN
											       : mark;
		memory_learnt |= !atomic && !is_mixed[i] && word_at[i] >= 0;
		is_mixed[i] |= !atomic;
	}
	m.memory.used[self] = true;
}

/* -------------------------------------------------------------------------------------------------------- names */

#define FIELD(type, name)                                                                                              \
	{                                                                                                              \
#name, offsetof(struct type, name), sizeof(((struct type *)0)->name)                                   \
	}

static const struct field {
	const char *name;
	size_t offset, size;
} lane_fields[] = {
	FIELD(lane_file, lane.tail),	    FIELD(lane_file, lane.commit),	FIELD(lane_file, lane.open),
	FIELD(lane_file, lane.owner),	    FIELD(lane_file, lane.broken),	FIELD(lane_file, lane.subbuf_size),
	FIELD(lane_file, lane.nr_subbufs),  FIELD(lane_file, lane.shared),	FIELD(lane_file, lane.leases),
	FIELD(lane_file, words.owner),	    FIELD(lane_file, words.read),	FIELD(lane_file, words.waiters),
	FIELD(lane_file, words.wake),	    FIELD(lane_file, lane.disabled),	FIELD(lane_file, lane.pages_touched),
	FIELD(lane_file, lane.pages_lost), FIELD(lane_file, words.pages_read), FIELD(lane_file, lane),
	FIELD(lane_file, subbufs),	    FIELD(lane_file, words),		FIELD(lane_file, links),
	FIELD(lane_file, meta),		    FIELD(lane_file, pages),
}, handle_fields[] = {
	FIELD(rec_handle, lane),      FIELD(rec_handle, room),	       FIELD(rec_handle, disabled),
	FIELD(rec_handle, cpu),	      FIELD(rec_handle, wanted_size),  FIELD(rec_handle, wanted_subbuf),
	FIELD(rec_handle, given_up),  FIELD(rec_handle, movers),
}, pool_fields[] = {
	FIELD(rec_pool, free_lanes), FIELD(rec_pool, grown), FIELD(rec_pool, nr_shared),
	FIELD(rec_pool, shared),     FIELD(rec_pool, geometry),
}, header_fields[] = {
	FIELD(rec_buffer_header, nr_lanes), FIELD(rec_buffer_header, lease_errno),
	FIELD(rec_buffer_header, lost_no_lane), FIELD(rec_buffer_header, state),
}, inside_fields[] = {
	FIELD(inside, kernel.alive), FIELD(inside, kernel.locks), FIELD(inside, kernel), FIELD(inside, own),
	FIELD(inside, handles),
};

static void name_in(const char *what, const struct field *fields, size_t nr, size_t offset, char *text, size_t size)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (offset - fields[i].offset < fields[i].size) {
			if (fields[i].size > 8)
				snprintf(text, size, "%s%s + %zu", what, fields[i].name, offset - fields[i].offset);
			else
				snprintf(text, size, "%s%s", what, fields[i].name);
			return;
		}
	}
	snprintf(text, size, "%s+ %zu", what, offset);
}

#define NAME_IN(what, fields, offset) name_in(what, fields, sizeof(fields) / sizeof(fields[0]), offset, text, size)

void memory_name(uint32_t offset, char *text, size_t size)
{
	const size_t handles = offsetof(struct inside, handles), own = offsetof(struct inside, own);
	char what[32];
	size_t at;

	if (offset >= regions[6].offset) {
		at = offset - regions[6].offset;
		snprintf(what, sizeof(what), "%zu:", at / sizeof(file[0]));
		NAME_IN(what, lane_fields, at % sizeof(file[0]));
	} else if (offset >= regions[5].offset) {
		NAME_IN("header.", header_fields,
			offset - regions[5].offset + offsetof(struct rec_buffer_header, recorder));
	} else if (offset >= regions[4].offset) {
		NAME_IN("header.", header_fields,
			offset - regions[4].offset + offsetof(struct rec_buffer_header, state));
	} else if (offset >= regions[3].offset + handles && offset < regions[3].offset + own) {
		at = offset - regions[3].offset - handles;
		snprintf(what, sizeof(what), "%zu:handle.",
			 at / sizeof(struct rec_handle) + config->max_lanes - LANES_MAX);
		NAME_IN(what, handle_fields, at % sizeof(struct rec_handle));
	} else if (offset >= regions[3].offset) {
		NAME_IN("", inside_fields, offset - regions[3].offset);
	} else if (offset >= regions[1].offset) {
		snprintf(text, size, "%s", offset >= regions[2].offset ? "starved" : "nowhere");
	} else {
		NAME_IN("pool.", pool_fields, offset - regions[0].offset);
	}
}
