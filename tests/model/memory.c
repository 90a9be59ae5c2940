/* SPDX-License-Identifier: MIT */
/*
 * The memory between writer and reader, as C11 allows it to behave.
 *
 * A word that both sides use atomically has a history of values. Each side may read any value that is not older than
 * the newest one that it knows of. It learns of values by its own accesses to the word, and by acquiring a released
 * value. So a load may return a value from before the other side's store, unless the memory orders forbid it, as on a
 * CPU with store buffers and invalidation queues. Exchanges read the newest value. In configurations without `weak`, a
 * load reads the newest too; then only the second part has an effect:
 *
 * All other words must not be used by both sides without a release and an acquire in between. Clocks check this, as in
 * race detectors: a clock advances with each release; each access is noted with the clock's value; for the other side
 * the access is over when that side has acquired this value. Because no such access ever competes, its position between
 * the steps of the other side makes no difference, and is not explored.
 */
#include "model.h"

#include <stddef.h>
#include <string.h>

#define BOTH ACTORS

struct place_name {
	const char *text;
	size_t offset;
	size_t size;
	unsigned int storer; /* the side that stores there */
};

#define LANE(name)                                                                                                     \
	{                                                                                                              \
		"lane." #name, offsetof(struct shared, lane.name), sizeof(m.shared.lane.name), WRITER                  \
	}
#define WORDS(name, storer)                                                                                            \
	{                                                                                                              \
		"words." #name, offsetof(struct shared, words.name), sizeof(m.shared.words.name), storer               \
	}

/* The common words besides the links. Both sides may read these at any time. */
static const struct place_name common[] = {
	LANE(commit),	      LANE(pages_touched), LANE(pages_lost),	      LANE(nr_subbufs),
	WORDS(waiters, BOTH), WORDS(wake, BOTH),   WORDS(pages_read, READER), LANE(owner),
	LANE(gaps[0].first),  LANE(gaps[0].time),  LANE(gaps[1].first),	      LANE(gaps[1].time),
};

#define COMMON (sizeof(common) / sizeof(common[0]))

_Static_assert(COMMON + 2 * SUBBUFS_MAX <= WORDS_MAX, "a number for each common word");

static const struct place_name named[] = {
	LANE(tail),    LANE(after),    LANE(before),	    LANE(open), LANE(cpu),	LANE(commit_overrun),
	LANE(dropped), LANE(too_long), LANE(nested_limit),  LANE(torn), LANE(time_back),
	LANE(broken),  WORDS(hint, READER),
};

uint32_t memory_offset(const void *at)
{
	return (uint32_t)((const unsigned char *)at - (const unsigned char *)&m.shared);
}

size_t memory_used(void)
{
	return offsetof(struct shared, pages) + ((config->pages + 1u) << config->shift);
}

/* The number of the word in each cell, which is computed once. */
static int8_t word_at[CELLS];

static int find_word(uint32_t offset)
{
	uint32_t i;

	if (offset >= offsetof(struct shared, links) && offset < offsetof(struct shared, links[config->pages + 1])) {
		const uint32_t id = (offset - (uint32_t)offsetof(struct shared, links)) / sizeof(struct rec_link);

		switch ((offset - offsetof(struct shared, links)) % sizeof(struct rec_link)) {
		case offsetof(struct rec_link, next):
			return (int)(COMMON + 2 * id);
		case offsetof(struct rec_link, prev):
			return (int)(COMMON + 2 * id + 1);
		default:
			return -1;
		}
	}
	for (i = 0; i < COMMON; i++)
		if (offset == common[i].offset)
			return (int)i;
	return -1;
}

bool memory_is_shared(const void *at)
{
	return (uintptr_t)at - (uintptr_t)&m.shared < sizeof(m.shared);
}

void memory_check(const void *at, uint32_t size)
{
	if (with(SPOILS) && (const unsigned char *)at + size > (const unsigned char *)&m.shared + memory_used())
		fail("an access to a sub-buffer that is not there");
}

int memory_word(const void *at)
{
	const uint32_t offset = memory_offset(at);

	return offset % 4 ? -1 : word_at[offset / 4];
}

/* Both sides store links; with a resize the writer stores prev, too. */
static unsigned int storer_of(int word)
{
	return (uint32_t)word < COMMON && !with(SHARED) ? common[word].storer : BOTH;
}

/* The words that an iterator reads while the writer continues. */
static bool is_looked_at(uint32_t offset)
{
	return offset >= offsetof(struct shared, pages) ||
	       (offset >= offsetof(struct shared, subbufs) && offset < offsetof(struct shared, words)) ||
	       offset == offsetof(struct shared, lane.tail);
}

enum place memory_place(const void *at, bool write)
{
	const uint32_t offset = memory_offset(at);
	int word;

	if (offset >= memory_used())
		fail("an access to a sub-buffer that is not there");
	if (with(ITERATES) && running >= 0 && is_looked_at(offset))
		return write || running == READER ? PLACE_COMMON : PLACE_OWN;
	if (offset >= offsetof(struct shared, pages)) {
		const uint32_t in_page = (offset - (uint32_t)offsetof(struct shared, pages)) &
					 ((1u << config->shift) - 1);

		/* The data of an event that was left matter only in configurations with such events. */
		return in_page < REC_SUBBUF_HEADER_SIZE || with(JUMPS) ? PLACE_OWN : PLACE_BYTES;
	}
	word = memory_word(at);
	if (word < 0 || running < 0)
		return PLACE_OWN;
	if (write && storer_of(word) == 1u - (unsigned int)running)
		fail("the %s stores to %s", running == WRITER ? "writer" : "reader", common[word].text);
	return !write && storer_of(word) == (unsigned int)running ? PLACE_OWN : PLACE_COMMON;
}

static void set_bits(uint8_t *bits, const struct pending *access)
{
	uint32_t i;

	for (i = access->offset / 4; i <= (access->offset + access->size - 1) / 4; i++)
		bits[i / 8] = (uint8_t)(bits[i / 8] | 1u << i % 8);
}

static bool has_bits(const uint8_t *bits, const struct pending *access)
{
	uint32_t i;

	for (i = access->offset / 4; i <= (access->offset + access->size - 1) / 4; i++)
		if (bits[i / 8] & 1u << i % 8)
			return true;
	return false;
}

static bool reads(const struct pending *access)
{
	return access->access != ACCESS_WRITE && access->access != ACCESS_STORE;
}

static bool writes(const struct pending *access)
{
	return access->access != ACCESS_READ && access->access != ACCESS_LOAD;
}

void memory_note(const struct pending *access)
{
	struct footprint *footprint = &m.actors[WRITER].levels[m.actors[WRITER].depth - 1].footprint;

	if (access->access == ACCESS_CLOCK)
		return;
	if (reads(access))
		set_bits(footprint->read, access);
	if (writes(access))
		set_bits(footprint->written, access);
}

bool memory_conflicts(const struct footprint *footprint, const struct pending *access)
{
	/* Every reading of the clock may move it. */
	if (access->access == ACCESS_CLOCK)
		return true;
	return has_bits(footprint->written, access) || (writes(access) && has_bits(footprint->read, access));
}

void memory_name(uint32_t offset, char *text, size_t size)
{
	const size_t links = offsetof(struct shared, links), subbufs = offsetof(struct shared, subbufs);
	const size_t pages = offsetof(struct shared, pages);
	size_t i;

	if (offset >= pages) {
		snprintf(text, size, "page %zu + %zu", (offset - pages) >> config->shift,
			 (offset - pages) & ((1u << config->shift) - 1));
		return;
	}
	if (offset >= links && offset < links + sizeof(m.shared.links)) {
		i = (offset - links) / sizeof(struct rec_link);
		snprintf(text, size, "links[%zu].%s", i,
			 (offset - links) % sizeof(struct rec_link) == 0   ? "next"
			 : (offset - links) % sizeof(struct rec_link) == 8 ? "prev"
									   : "spare");
		return;
	}
	if (offset >= subbufs && offset < subbufs + sizeof(m.shared.subbufs)) {
		i = (offset - subbufs) / sizeof(struct rec_subbuf);
		snprintf(text, size, "subbufs[%zu] + %zu", i, (offset - subbufs) % sizeof(struct rec_subbuf));
		return;
	}
	if (offset >= offsetof(struct shared, words))
		snprintf(text, size, "words + %zu", offset - offsetof(struct shared, words));
	else
		snprintf(text, size, "lane + %u", offset);
	for (i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		if (offset == named[i].offset)
			snprintf(text, size, "%s", named[i].text);
	for (i = 0; i < COMMON; i++)
		if (offset == common[i].offset)
			snprintf(text, size, "%s", common[i].text);
}

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
	for (i = 0; i < WORDS_MAX; i++)
		to->at[i] = from->at[i] > to->at[i] ? from->at[i] : to->at[i];
}

/*
 * An access that is over for the other side has no further effect. It is forgotten, so that otherwise equal states are
 * the same.
 */
static void forget(unsigned int actor)
{
	const unsigned int other = 1 - actor;
	const uint8_t known = m.memory.view[actor].clock[other];
	uint32_t i;

	for (i = 0; i < CELLS; i++) {
		m.memory.written[other][i] = m.memory.written[other][i] <= known ? 0 : m.memory.written[other][i];
		m.memory.read[other][i] = m.memory.read[other][i] <= known ? 0 : m.memory.read[other][i];
	}
}

static void learn(const struct view *view)
{
	const unsigned int actor = (unsigned int)running;
	const uint8_t knew = m.memory.view[actor].clock[1 - actor];

	add_view(&m.memory.view[actor], view);
	if (m.memory.view[actor].clock[1 - actor] != knew)
		forget(actor);
}

static void advance(void)
{
	if (++m.memory.view[running].clock[running] == UINT8_MAX)
		fail("the checker's clocks overflow");
}

static uint64_t value_of(int word)
{
	uint64_t value = 0;

	if ((uint32_t)word >= COMMON) {
		const uint32_t at = (uint32_t)word - (uint32_t)COMMON, link = at / 2;

		return at % 2 ? m.shared.links[link].prev : m.shared.links[link].next;
	}
	memcpy(&value, (const unsigned char *)&m.shared + common[word].offset, common[word].size);
	return value;
}

void memory_begin(void)
{
	int word;
	uint32_t i;

	for (i = 0; i < CELLS; i++)
		word_at[i] = (int8_t)find_word(4 * i);
	memset(&m.memory, 0, sizeof(m.memory));
	memset(m.words, 0, sizeof(m.words));
	for (word = 0; with(WEAK) && word < (int)(COMMON + 2 * (config->pages + 1u)); word++) {
		m.words[word].last = 1;
		m.words[word].oldest = 1;
		m.words[word].messages[1].value = value_of(word);
	}
	m.memory.view[WRITER].clock[WRITER] = 1;
	m.memory.view[READER].clock[READER] = 1;
}

static uint8_t oldest_for(const struct word *word, int number)
{
	const uint8_t known = m.memory.view[running].at[number];

	return known > word->oldest ? known : word->oldest;
}

unsigned int memory_candidates(int number)
{
	const struct word *word = &m.words[number];

	return !with(WEAK) ? 1u : 1u + word->last - oldest_for(word, number);
}

static struct view view_of_newest(int number)
{
	const struct word *word = &m.words[number];
	struct view view = { 0 };

	if (with(WEAK))
		return word->messages[word->last % OLD_MAX].view;
	memcpy(view.clock, m.memory.released[number], sizeof(view.clock));
	return view;
}

static void see(const struct view *view, int order)
{
	if (is_acquire(order))
		learn(view);
	else
		add_view(&m.memory.acquire[running], view);
}

uint64_t memory_load(int number, unsigned int candidate, int order)
{
	const struct word *word = &m.words[number];
	const struct message *message;
	struct view view;
	uint8_t at;

	if (!with(WEAK)) {
		view = view_of_newest(number);
		see(&view, order);
		return value_of(number);
	}
	at = (uint8_t)(oldest_for(word, number) + candidate);
	message = &word->messages[at % OLD_MAX];
	m.memory.view[running].at[number] = at;
	see(&message->view, order);
	return message->value;
}

static void append(int number, uint64_t value, struct view *view)
{
	struct word *word = &m.words[number];

	if (++word->last == UINT8_MAX)
		fail("the checker's histories overflow");
	if (word->last - word->oldest >= (int)OLD_MAX)
		word->oldest++;
	m.memory.view[running].at[number] = word->last;
	view->at[number] = word->last;
	word->messages[word->last % OLD_MAX] = (struct message){ value, *view };
}

static void put(int number, uint64_t value, int order, const struct view *also)
{
	const unsigned int self = (unsigned int)running;
	struct view view = is_release(order) ? m.memory.view[self] : m.memory.release[self];

	if (also)
		add_view(&view, also);
	if (with(WEAK))
		append(number, value, &view);
	else
		memcpy(m.memory.released[number], view.clock, sizeof(view.clock));
	if (is_release(order))
		advance();
}

void memory_store(int number, uint64_t value, int order)
{
	put(number, value, order, NULL);
}

/*
 * A read-modify-write that succeeded: it reads the newest value, is placed after it, and continues what that released.
 */
void memory_exchange(int number, uint64_t value, int order)
{
	const struct view also = view_of_newest(number);

	memory_load(number, memory_candidates(number) - 1, order);
	put(number, value, order, &also);
}

void memory_fence(int order)
{
	const unsigned int self = (unsigned int)running;

	if (is_acquire(order))
		learn(&m.memory.acquire[self]);
	if (order == __ATOMIC_SEQ_CST) {
		learn(&m.memory.total);
		add_view(&m.memory.total, &m.memory.view[self]);
	}
	if (is_release(order)) {
		m.memory.release[self] = m.memory.view[self];
		advance();
	}
}

void memory_death_seen(unsigned int actor)
{
	struct view all = m.memory.view[1 - actor];
	const int was = running;
	int word;

	for (word = 0; with(WEAK) && word < (int)WORDS_MAX; word++)
		all.at[word] = m.words[word].last;
	running = (int)actor;
	learn(&all);
	running = was;
}

void memory_race(const void *at, uint32_t size, bool write, bool atomic)
{
	const unsigned int self = (unsigned int)running, other = 1 - self;
	const uint8_t known = m.memory.view[self].clock[other], now = m.memory.view[self].clock[self];
	const uint32_t first = memory_offset(at) / 4, last = (memory_offset(at) + size - 1) / 4;
	char name[48];
	uint32_t i;

	if (!atomic && memory_word(at) >= 0) {
		if (write)
			fail("a plain store to a word that both sides use");
		return;
	}
	if (with(ITERATES))
		return;
	for (i = first; i <= last && i < CELLS; i++) {
		if (m.memory.written[other][i] > known || (write && m.memory.read[other][i] > known)) {
			memory_name(i * 4, name, sizeof(name));
			fail("race: the %s %s %s, which the other side %s without an order in between",
			     self == WRITER ? "writer" : "reader", write ? "writes" : "reads", name,
			     m.memory.written[other][i] > known ? "wrote" : "read");
		}
		/*
		 * The other side's earlier accesses are over; our accesses that the other side knew of then are not
		 * needed any more.
		 */
		if (write)
			m.memory.written[self][i] = now;
		else
			m.memory.read[self][i] = now;
	}
}
