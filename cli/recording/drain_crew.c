/* SPDX-License-Identifier: MIT */
/*
 * The helpers of a drain that is too slow. A helper gets a copy of a turn. The drain does not wait for a turn that a
 * helper has begun, since on a busy machine the helper may have lost its CPU in the middle of it: the round continues
 * with the other lanes.
 */
#include "cli/recording/drain_private.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/base/priority.h"

#define HELPERS_MAX 16u
#define TURNS_MAX   256u

enum turn_state { TURN_NONE, TURN_GIVEN, TURN_BEGUN, TURN_DONE };

struct drain_crew {
	struct spool *spool;
	pthread_mutex_t lock; /* protects the members below */
	pthread_cond_t given, done;
	struct drain_turn turns[TURNS_MAX];
	unsigned char states[TURNS_MAX];
	unsigned int nr_given;
	bool ends;
	pthread_t helpers[HELPERS_MAX];
	unsigned int nr;
};

/* The index of a turn in this state, and of this process; TURNS_MAX: there is no such turn. The caller has the lock. */
static unsigned int find(const struct drain_crew *crew, enum turn_state state, unsigned int process)
{
	unsigned int i;

	for (i = 0; i < TURNS_MAX; i++)
		if (crew->states[i] == state && (process == DRAIN_ANY || crew->turns[i].process == process))
			break;
	return i;
}

static void *help(void *arg)
{
	struct drain_crew *crew = arg;
	unsigned int at;

	if (crew->spool->priority)
		priority_raise(crew->spool->priority);
	pthread_mutex_lock(&crew->lock);
	while (!crew->ends) {
		if (!crew->nr_given) {
			pthread_cond_wait(&crew->given, &crew->lock);
			continue;
		}
		at = find(crew, TURN_GIVEN, DRAIN_ANY);
		crew->states[at] = TURN_BEGUN;
		crew->nr_given--;
		pthread_mutex_unlock(&crew->lock);
		drain_take_turn(crew->spool, &crew->turns[at]);
		pthread_mutex_lock(&crew->lock);
		crew->states[at] = TURN_DONE;
		pthread_cond_signal(&crew->done);
	}
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

bool drain_crew_give(struct drain_crew *crew, const struct drain_turn *turn)
{
	unsigned int at;

	pthread_mutex_lock(&crew->lock);
	at = find(crew, TURN_NONE, DRAIN_ANY);
	if (at < TURNS_MAX) {
		crew->turns[at] = *turn;
		crew->turns[at].helped = true;
		crew->states[at] = TURN_GIVEN;
		crew->nr_given++;
		pthread_cond_signal(&crew->given);
	}
	pthread_mutex_unlock(&crew->lock);
	return at < TURNS_MAX;
}

bool drain_crew_take_back(struct drain_crew *crew, struct drain_turn *ret_turn)
{
	unsigned int at;

	pthread_mutex_lock(&crew->lock);
	at = crew->nr_given ? find(crew, TURN_GIVEN, DRAIN_ANY) : TURNS_MAX;
	if (at < TURNS_MAX) {
		*ret_turn = crew->turns[at];
		ret_turn->helped = false;
		crew->states[at] = TURN_NONE;
		crew->nr_given--;
	}
	pthread_mutex_unlock(&crew->lock);
	return at < TURNS_MAX;
}

bool drain_crew_result(struct drain_crew *crew, unsigned int process, struct drain_turn *ret_turn)
{
	unsigned int at;

	pthread_mutex_lock(&crew->lock);
	while ((at = find(crew, TURN_DONE, process)) == TURNS_MAX && process != DRAIN_ANY &&
	       (find(crew, TURN_BEGUN, process) < TURNS_MAX || find(crew, TURN_GIVEN, process) < TURNS_MAX))
		pthread_cond_wait(&crew->done, &crew->lock);
	if (at < TURNS_MAX) {
		*ret_turn = crew->turns[at];
		crew->states[at] = TURN_NONE;
	}
	pthread_mutex_unlock(&crew->lock);
	return at < TURNS_MAX;
}

struct drain_crew *drain_crew_close(struct drain_crew *crew)
{
	if (!crew)
		return NULL;
	pthread_mutex_lock(&crew->lock);
	crew->ends = true;
	pthread_cond_broadcast(&crew->given);
	pthread_mutex_unlock(&crew->lock);
	for (unsigned int i = 0; i < crew->nr; i++)
		pthread_join(crew->helpers[i], NULL);
	pthread_cond_destroy(&crew->given);
	pthread_cond_destroy(&crew->done);
	pthread_mutex_destroy(&crew->lock);
	free(crew);
	return NULL;
}

int drain_crew_open(struct spool *spool, struct drain_crew **ret_crew)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const unsigned int wanted = cpus > (long)HELPERS_MAX ? HELPERS_MAX : cpus > 1 ? (unsigned int)cpus - 1 : 1;
	struct drain_crew *crew = calloc(1, sizeof(*crew));
	pthread_mutexattr_t attributes;
	int err = 0;

	if (!crew)
		return -ENOMEM;
	crew->spool = spool;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&crew->lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
	pthread_cond_init(&crew->given, NULL);
	pthread_cond_init(&crew->done, NULL);
	while (!err && crew->nr < wanted) {
		err = -pthread_create(&crew->helpers[crew->nr], NULL, help, crew);
		crew->nr += !err;
	}
	/* If a thread cannot be started, those that exist are enough. */
	if (crew->nr)
		err = 0;
	if (err)
		drain_crew_close(crew);
	else
		*ret_crew = crew;
	return err;
}
