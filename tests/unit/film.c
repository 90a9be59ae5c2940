/* SPDX-License-Identifier: MIT */
#include "film.h"
#include "trap_flag.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define PAGES_MAX 64u

/* The thread sanitizer delays signals, so single steps do not work under it. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define CAN_STEP 1
#else
#define CAN_STEP 0
#endif

bool film_can(void)
{
	return CAN_STEP;
}

static uint64_t link_of(const struct ring *ring, uint32_t id)
{
	return rec_load_relaxed(&ring->handle.links[id].next);
}

/* Marks the sub-buffers of the ring in `seen` and returns the lowest of them. */
static uint32_t walk(const struct ring *ring, bool *seen)
{
	uint32_t id = REC_LINK_ID(link_of(ring, ring->reader.page));
	uint32_t lowest = id;

	while (id < PAGES_MAX && !seen[id]) {
		seen[id] = true;
		lowest = id < lowest ? id : lowest;
		id = REC_LINK_ID(link_of(ring, id));
	}
	return lowest;
}

static void arrow(char *to, size_t size, uint32_t from, uint64_t link)
{
	static const char *const flags[] = { ">", "H>", "U>", "?>" };

	snprintf(to + strlen(to), size - strlen(to), "%u-%s", from, flags[REC_LINK_FLAG(link)]);
}

const char *film_picture(const struct ring *ring)
{
	static char text[FILM_FRAME];
	bool seen[PAGES_MAX] = { false };
	const uint32_t first = walk(ring, seen);
	uint32_t id, reader = ring->reader.page;
	const size_t size = sizeof(text);

	text[0] = '\0';
	/*
	 * After the reader's exchange, and before the reader has stored it, the page outside the ring is already the
	 * reader page.
	 */
	if (seen[reader])
		for (reader = 0; seen[reader];)
			reader++;
	arrow(text, size, reader, link_of(ring, reader));
	snprintf(text + strlen(text), size - strlen(text), "%u :", REC_LINK_ID(link_of(ring, reader)));
	id = first;
	do {
		strcat(text, " ");
		arrow(text, size, id, link_of(ring, id));
		id = REC_LINK_ID(link_of(ring, id));
	} while (id != first && strlen(text) < size - 40);
	snprintf(text + strlen(text), size - strlen(text), " : commit %u tail %u",
		 REC_POS_ID(rec_load_relaxed(&ring->handle.lane->commit)),
		 REC_POS_ID(rec_load_relaxed(&ring->handle.lane->tail)));
	return text;
}

unsigned int film_marks(const struct ring *ring, unsigned int *ret_heads)
{
	bool seen[PAGES_MAX] = { false };
	unsigned int marked = 0;
	uint32_t id;

	*ret_heads = 0;
	walk(ring, seen);
	for (id = 0; id < PAGES_MAX; id++) {
		if (!seen[id])
			continue;
		marked += REC_LINK_FLAG(link_of(ring, id)) != REC_LINK_NORMAL;
		*ret_heads += REC_LINK_FLAG(link_of(ring, id)) == REC_LINK_HEAD;
	}
	return marked;
}

#if CAN_STEP

static struct film *shooting;
static volatile bool rolling;

/* Whether a cut of this level is still to come. */
static bool is_pending(const struct film *film)
{
	const struct film_cut *cut;

	for (cut = film->cuts; cut < film->cuts + FILM_CUTS; cut++)
		if (cut->act && !cut->done && cut->level == film->level)
			return true;
	return false;
}

static struct film_cut *find_cut(struct film *film, const char *picture)
{
	struct film_cut *cut;

	for (cut = film->cuts; cut < film->cuts + FILM_CUTS; cut++) {
		if (!cut->act || cut->done || cut->level != film->level)
			continue;
		if (cut->when ? cut->when(film->ring) : strcmp(cut->at, picture) == 0)
			return cut;
	}
	return NULL;
}

static void run_level(film_act act)
{
	shooting->level++;
	rolling = true;
	raise(SIGTRAP);
	act(shooting->ring);
	/* The trap after this store clears the flag. */
	rolling = false;
	shooting->level--;
}

static void add_frame(struct film *film, const char *picture)
{
	char frame[FILM_FRAME + 8];

	snprintf(frame, sizeof(frame), "%u: %s", film->level, picture);
	if (film->nr_frames && strcmp(film->frames[film->nr_frames - 1], frame) == 0)
		return;
	if (film->nr_frames < FILM_FRAMES)
		memcpy(film->frames[film->nr_frames++], frame, FILM_FRAME);
}

static void look(struct film *film)
{
	char picture[FILM_FRAME] = "";
	struct film_cut *cut;

	if (!film->cuts_only) {
		memcpy(picture, film_picture(film->ring), sizeof(picture));
		add_frame(film, picture);
	}
	cut = find_cut(film, picture);
	if (!cut)
		return;
	cut->done = true;
	if (cut->unseen)
		cut->act(film->ring);
	else
		run_level(cut->act);
	rolling = true;
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
	greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];

	(void)signal, (void)info;
	if (!rolling) {
		*flags &= ~(greg_t)TRAP_FLAG;
		return;
	}
	*flags |= TRAP_FLAG;
	look(shooting);
	if (shooting->cuts_only && !is_pending(shooting)) {
		rolling = false;
		*flags &= ~(greg_t)TRAP_FLAG;
	}
}

void film_shoot(struct film *film, film_act act)
{
	const struct sigaction trap = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER };
	struct sigaction before;

	sigaction(SIGTRAP, &trap, &before);
	shooting = film;
	run_level(act);
	sigaction(SIGTRAP, &before, NULL);
	shooting = NULL;
}

#else

void film_shoot(struct film *film, film_act act)
{
	act(film->ring);
}

#endif

static void show(const struct film *film, const char *const *frames)
{
	unsigned int i;

	for (i = 0; frames[i]; i++)
		fprintf(stderr, "# expected %s\n", frames[i]);
	for (i = 0; i < film->nr_frames; i++)
		fprintf(stderr, "# filmed   %s\n", film->frames[i]);
}

void film_expect(const struct film *film, const char *const *frames)
{
	unsigned int i;

	for (i = 0; frames[i] && i < film->nr_frames && strcmp(frames[i], film->frames[i]) == 0; i++)
		;
	if (frames[i] || i < film->nr_frames) {
		show(film, frames);
		cr_assert_fail("the film differs at frame %u", i + 1);
	}
}

bool film_has(const struct film *film, const char *frame)
{
	unsigned int i;

	for (i = 0; i < film->nr_frames; i++)
		if (strcmp(film->frames[i], frame) == 0)
			return true;
	return false;
}
