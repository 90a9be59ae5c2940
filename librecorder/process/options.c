/* SPDX-License-Identifier: MIT */
/*
 * Options and the environment, by secure_getenv(): the environment of a set-user-id program comes from another user.
 * Forked children do not run this code (process.c).
 */
#include "librecorder/process/options.h"

#include <librecorder/detail/abi.h>

#include <stdlib.h>
#include <string.h>

/* No version has options of more bytes. A larger size is a mistake, and reading so far could fault. */
#define SIZE_MOST 4096u

/* Read a number of KiB from the environment; 0 if it is not set or not a valid number. */
static size_t env_kb(const char *name)
{
	const char *text = secure_getenv(name);
	char *end;
	unsigned long long value;

	if (!text || *text < '0' || *text > '9')
		return 0;
	value = strtoull(text, &end, 10);
	return *end || value > SIZE_MAX / 4096 ? 0 : (size_t)value * 1024;
}

static bool env_is(const char *name, const char *value)
{
	const char *text = secure_getenv(name);

	return text && strcmp(text, value) == 0;
}

bool rec_options_are_known(const struct rec_options *given)
{
	const unsigned char *bytes = (const unsigned char *)given;

	if (given->size < sizeof(given->size) || given->size > SIZE_MOST)
		return false;
	for (size_t i = sizeof(*given); i < given->size; i++)
		if (bytes[i])
			return false;
	return true;
}

struct rec_options rec_options_complete(const struct rec_options *given)
{
	struct rec_options options = REC_OPTIONS_INIT;

	if (given)
		memcpy(&options, given, given->size < sizeof(options) ? given->size : sizeof(options));
	if (!options.lane_size)
		options.lane_size = env_kb("RECORDER_BUFFER_KB");
	if (!options.subbuf_size)
		options.subbuf_size = env_kb("RECORDER_SUBBUF_KB");
	if (!options.lane_max)
		options.lane_max = env_kb("RECORDER_BUFFER_MAX_KB");
	if (!options.memory_max)
		options.memory_max = env_kb("RECORDER_MAX_KB");
	if (!options.clock && env_is("RECORDER_CLOCK", "mono"))
		options.clock = REC_CLOCK_MONO;
	else if (!options.clock && env_is("RECORDER_CLOCK", "tsc"))
		options.clock = REC_CLOCK_TSC;
	if (!options.discard)
		options.discard = env_is("RECORDER_MODE", "discard");
	return options;
}

size_t rec_options_dir_max(void)
{
	return env_kb("RECORDER_DIR_MAX_KB");
}

bool rec_options_keep(void)
{
	return env_is("RECORDER_KEEP", "1");
}
