/* SPDX-License-Identifier: MIT */
#include "cli/kernel/kernel_settings.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <librecorder/clock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/memory.h"
#include "cli/base/message.h"
#include "cli/base/read_text.h"
#include "format/dat/dat_notes.h"

struct setting {
	const struct message_sink *sink;
	const struct instance *instance;
	const struct kernel_request *request;
	bool *changed; /* for each option (-O) */
};

/* 0 or -errno, nothing printed. */
static int write_file(const struct instance *instance, const char *file, const char *text)
{
	errno = 0;
	if (tracefs_instance_file_append(instance->tracefs, file, text) >= 0)
		return 0;
	return errno ? -errno : -EIO;
}

/* The name of a setting for the kernel, and the user's word for it in messages. */
struct label {
	const char *name;
	enum message_word word; /* WORD_NONE: users have no word for it */
};

static int say(const struct setting *setting, struct label label, const char *text, int err)
{
	message(setting->sink, "cannot set %s%s to '%s': %s", label.name,
		message_remark(setting->sink, label.word).text, text, strerror(-err));
	return err;
}

static int set(const struct setting *setting, struct label label, const char *file, const char *text)
{
	const int err = write_file(setting->instance, file, text);

	return err ? say(setting, label, text, err) : 0;
}

/* ------------------------------------------------------------------------------------------------ words of a list */

/* Whether a file of the instance has this word, alone or in brackets; *ret_words: all words, which the caller frees. */
static bool has_word(const struct instance *instance, const char *file, const char *word, char **ret_words)
{
	char *words = tracefs_instance_file_read(instance->tracefs, file, NULL), *end;
	const size_t size = strlen(word);

	*ret_words = words;
	if (!words)
		return false;
	end = words;
	for (const char *at = words; *at; at++)
		if (*at != '[' && *at != ']')
			*end++ = (char)(*at == '\n' ? ' ' : *at);
	while (end > words && end[-1] == ' ')
		end--;
	*end = '\0';
	for (const char *at = words; *(at += strspn(at, " ")); at += strcspn(at, " "))
		if (strcspn(at, " ") == size && !memcmp(at, word, size))
			return true;
	return false;
}

/* Whether the file has the word. False: one line was printed, which lists its words. */
static bool check_word(const struct setting *setting, const char *file, const char *what, const char *word)
{
	char *words;
	const bool good = has_word(setting->instance, file, word, &words);

	if (!good)
		message(setting->sink, "this kernel has no %s '%s' for an instance; it has: %s", what, word,
			words ? words + strspn(words, " ") : "none");
	free(words);
	return good;
}

bool kernel_settings_has_clock(const struct message_sink *sink, const struct instance *instance, const char *clock)
{
	const struct setting setting = { .sink = sink, .instance = instance };

	return check_word(&setting, "trace_clock", "clock", clock);
}

const char *kernel_settings_clock(const struct instance *instance, const struct kernel_request *request)
{
	char *words = NULL;
	bool has_tsc;

	if (request->clock)
		return request->clock;
	has_tsc = rec_clock_best() == REC_CLOCK_TSC && has_word(instance, "trace_clock", "x86-tsc", &words);
	free(words);
	return has_tsc ? "x86-tsc" : "mono";
}

static int set_clock(const struct setting *setting)
{
	const char *clock = kernel_settings_clock(setting->instance, setting->request);

	if (!check_word(setting, "trace_clock", "clock", clock))
		return -EINVAL;
	return set(setting, (struct label){ "the clock", WORD_CLOCK }, "trace_clock", clock);
}

/* ----------------------------------------------------------------------------------------------------------- CPUs */

static const char *digits_of(const char *mask)
{
	return mask + (!strncmp(mask, "0x", 2) ? 2 : 0);
}

static bool is_mask(const char *mask)
{
	mask = digits_of(mask);
	return *mask && strspn(mask, "0123456789abcdefABCDEF,") == strlen(mask) &&
	       strpbrk(mask, "123456789abcdefABCDEF");
}

bool kernel_mask_has(const char *mask, unsigned int cpu)
{
	const char *at;

	if (!mask || !strcmp(mask, "-1"))
		return true;
	mask = digits_of(mask);
	for (at = mask + strlen(mask); at > mask; at--) {
		const char digit[] = { at[-1], '\0' };

		if (at[-1] == ',')
			continue;
		if (cpu < 4)
			return strtoul(digit, NULL, 16) >> cpu & 1;
		cpu -= 4;
	}
	return false;
}

/* Write a mask as the kernel expects it: no "0x", and a comma before each 8 digits from the right. 0 or -errno. */
static int write_mask(const struct setting *setting, const char *mask)
{
	const char *digits = digits_of(mask);
	char *text = malloc(2 * strlen(mask) + 1), *end = text;
	unsigned int left = 0;
	int err;

	if (!text)
		return say(setting, (struct label){ "the mask of CPUs", WORD_CPUS }, mask, -ENOMEM);
	digits += strspn(digits, "0,");
	for (const char *at = digits; *at; at++)
		left += *at != ',';
	for (const char *at = digits; *at; at++) {
		if (*at == ',')
			continue;
		*end++ = *at;
		if (--left && left % 8 == 0)
			*end++ = ',';
	}
	*end = '\0';
	err = set(setting, (struct label){ "the mask of CPUs", WORD_CPUS }, "tracing_cpumask", text);
	free(text);
	return err;
}

void kernel_cpus_online(char *text, size_t size)
{
	if (read_text_at(AT_FDCWD, "/sys/devices/system/cpu/online", text, size))
		text[0] = '\0';
	text[strcspn(text, "\n")] = '\0';
}

/* Whether a list such as "0-3,5" has a CPU. */
static bool list_has(const char *list, unsigned int cpu)
{
	uint32_t first, last;

	while (dat_notes_next_cpus(&list, &first, &last))
		if (cpu >= first && cpu <= last)
			return true;
	return false;
}

static int set_cpus(const struct setting *setting)
{
	const char *mask = setting->request->cpumask;
	char online[1024];

	if (!mask || !strcmp(mask, "-1"))
		return 0;
	if (!is_mask(mask)) {
		message(setting->sink, "'%s' is not a mask of CPUs%s: hexadecimal digits, or -1 for all", mask,
			message_remark(setting->sink, WORD_CPUS).text);
		return -EINVAL;
	}
	kernel_cpus_online(online, sizeof(online));
	for (unsigned int cpu = 0; *online && cpu < 4 * strlen(mask); cpu++)
		if (kernel_mask_has(mask, cpu) && !list_has(online, cpu)) {
			message(setting->sink,
				"CPU %u of the mask '%s'%s is offline or does not exist; online are %s", cpu, mask,
				message_remark(setting->sink, WORD_CPUS).text, online);
			return -ENXIO;
		}
	return write_mask(setting, mask);
}

/* ---------------------------------------------------------------------------------------------- sizes and options */

static int set_size(const struct setting *setting, struct label label, const char *file, uint64_t kb)
{
	char text[24];
	int err;

	if (!kb)
		return 0;
	snprintf(text, sizeof(text), "%" PRIu64, kb);
	err = write_file(setting->instance, file, text);
	if (err == -ENOENT)
		message(setting->sink, "this kernel cannot set %s%s", label.name,
			message_remark(setting->sink, label.word).text);
	else if (err)
		say(setting, label, text, err);
	return err;
}

/*
 * Check the size first: the kernel would allocate all available memory, page by page, before it reports that it is not
 * enough.
 */
static int set_ring_size(const struct setting *setting)
{
	const uint64_t kb = setting->request->buffer_kb, available = memory_available() / 1024;
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);

	if (cpus > 0 && kb > available / (uint64_t)cpus) {
		message(setting->sink,
			"cannot give each of %ld CPUs a ring of %" PRIu64 " KB%s: there are %" PRIu64
			" KB of memory for all",
			cpus, kb, message_remark(setting->sink, WORD_RING_SIZE).text, available);
		return -ENOMEM;
	}
	return set_size(setting, (struct label){ "the size of the ring", WORD_RING_SIZE }, "buffer_size_kb", kb);
}

/* Set when readers wake up. Kernels without this file wake their readers for each event anyway. */
static int set_wake(const struct setting *setting)
{
	const int err = setting->request->wake_each ? write_file(setting->instance, "buffer_percent", "0") : 0;

	return err && err != -ENOENT ? say(setting, (struct label){ "when readers wake up", WORD_WAKE_EACH }, "0", err)
				     : 0;
}

int kernel_settings_clear_options(const struct message_sink *sink, const struct instance *instance)
{
	static const char *const options[] = { "overwrite", "nostacktrace", "nouserstacktrace", "markers" };
	const struct setting setting = { .sink = sink, .instance = instance };
	int err = 0;

	for (unsigned int i = 0; i < sizeof(options) / sizeof(*options) && !err; i++) {
		err = write_file(instance, "trace_options", options[i]);
		/* The kernel may have been built without it. */
		if (err == -EINVAL)
			err = 0;
		else if (err)
			say(&setting, (struct label){ "an option", WORD_NONE }, options[i], err);
	}
	return err;
}

static int set_option(const struct setting *setting, const char *option, bool *changed)
{
	char *words;
	const bool has = has_word(setting->instance, "trace_options", option, &words);
	const int err = write_file(setting->instance, "trace_options", option);

	free(words);
	*changed = !err && !has;
	if (err == -EINVAL)
		message(setting->sink, "this kernel has no option '%s'%s; %s/trace_options lists its options", option,
			message_remark(setting->sink, WORD_OPTION).text, tracefs_tracing_dir());
	else if (err)
		say(setting, (struct label){ "an option", WORD_OPTION }, option, err);
	return err;
}

static int set_options(const struct setting *setting)
{
	const struct kernel_request *request = setting->request;
	int err = kernel_settings_clear_options(setting->sink, setting->instance);

	for (unsigned int i = 0; i < request->nr_options && !err; i++)
		err = set_option(setting, request->options[i], &setting->changed[i]);
	if (!err && request->stacktrace)
		err = set(setting, (struct label){ "stacks", WORD_STACKS }, "trace_options", "stacktrace");
	if (!err && request->discard)
		err = set(setting, (struct label){ "the mode", WORD_NONE }, "trace_options", "nooverwrite");
	return err;
}

void kernel_settings_undo(const struct instance *instance, const struct kernel_request *request, const bool *changed)
{
	char text[64];

	for (unsigned int i = request->nr_options; i--;) {
		const char *option = request->options[i];
		const bool clears = !strncmp(option, "no", 2);

		if (!changed[i])
			continue;
		snprintf(text, sizeof(text), "%s%s", clears ? "" : "no", option + (clears ? 2 : 0));
		write_file(instance, "trace_options", text);
	}
}

/* ---------------------------------------------------------------------------------------------- processes */

int kernel_settings_add_tids(const struct instance *instance, const struct kernel_request *request, const pid_t *tids,
			     unsigned int nr)
{
	const size_t size = nr * sizeof("2147483647 ");
	char *text = malloc(size);
	size_t at = 0;
	int err = text ? 0 : -ENOMEM;

	for (unsigned int i = 0; i < nr && !err; i++)
		at += (size_t)snprintf(text + at, size - at, "%d ", (int)tids[i]);
	if (!err && request->nr_events)
		err = write_file(instance, "set_event_pid", text);
	if (!err && request->tracer)
		err = write_file(instance, "set_ftrace_pid", text);
	free(text);
	return err;
}

static int add_requested(const struct setting *setting)
{
	const struct kernel_request *request = setting->request;
	const int err = kernel_settings_add_tids(setting->instance, request, request->tids, request->nr_tids);

	if (err)
		message(setting->sink, "cannot record the processes%s: %s",
			message_remark(setting->sink, WORD_PROCESSES).text, strerror(-err));
	return err;
}

static int set_processes(const struct setting *setting)
{
	const struct kernel_request *request = setting->request;
	int err = 0;

	if (request->follow && request->nr_events)
		err = set(setting, (struct label){ "an option", WORD_FOLLOW }, "trace_options", "event-fork");
	if (!err && request->follow && request->tracer)
		err = set(setting, (struct label){ "an option", WORD_FOLLOW }, "trace_options", "function-fork");
	return err || !request->nr_tids ? err : add_requested(setting);
}

/* ------------------------------------------------------------------------------------------- tracer and functions */

static int no_function(const struct setting *setting, enum message_word word, const char *function, int err)
{
	const struct message_remark remark = message_remark(setting->sink, word);

	if (err == -EINVAL)
		message(setting->sink, "this kernel has no function '%s' to trace%s", function, remark.text);
	else if (err == -ENOENT)
		message(setting->sink, "this kernel's instances have no such function filter%s", remark.text);
	else
		message(setting->sink, "cannot set the function filter '%s'%s: %s", function, remark.text,
			strerror(-err));
	return err;
}

static int set_function(const struct setting *setting, char letter, const char *function)
{
	struct tracefs_instance *instance = setting->instance->tracefs;
	const char *module = setting->request->module;
	const enum message_word word = letter == 'g' ? WORD_GRAPH_FUNCTION
				       : letter == 'l' ? WORD_FUNCTION
						       : WORD_NO_FUNCTION;
	int got;

	errno = 0;
	if (letter == 'g')
		got = tracefs_instance_file_append(instance, "set_graph_function", function) < 0;
	else if (letter == 'l')
		got = tracefs_function_filter(instance, function, module, 0);
	else
		got = tracefs_function_notrace(instance, function, module, 0);
	return got ? no_function(setting, word, function, errno ? -errno : -EINVAL) : 0;
}

/* Trace all functions of a module, unless some of them are selected (-l). */
static int set_module(const struct setting *setting)
{
	const struct kernel_request *request = setting->request;

	for (unsigned int i = 0; i < request->nr_functions; i++)
		if (request->functions[i].kind == 'l')
			return 0;
	if (!request->module)
		return 0;
	errno = 0;
	if (tracefs_function_filter(setting->instance->tracefs, NULL, request->module, 0) == 0)
		return 0;
	message(setting->sink, "cannot trace functions of the module '%s' alone%s: %s", request->module,
		message_remark(setting->sink, WORD_MODULE).text, strerror(errno ? errno : EINVAL));
	return errno ? -errno : -EINVAL;
}

#define DEPTH_FILE "max_graph_depth"

bool kernel_settings_has_depth(const struct instance *instance)
{
	return tracefs_file_exists(instance->tracefs, DEPTH_FILE);
}

/*
 * Set the depth of the function graph in the instance. A kernel that has only a depth for all users has no such file in
 * an instance; then deeper calls are recorded, and the weave leaves them out (kernel_graph_depth()).
 */
static int set_depth(const struct setting *setting)
{
	if (!kernel_settings_has_depth(setting->instance))
		return 0;
	return set_size(setting, (struct label){ "the depth of an instance's graph", WORD_GRAPH_DEPTH }, DEPTH_FILE,
			setting->request->graph_depth);
}

static int set_tracer(const struct setting *setting)
{
	const struct kernel_request *request = setting->request;
	int err;

	if (!request->tracer)
		return 0;
	if (!check_word(setting, "available_tracers", "tracer", request->tracer))
		return -EINVAL;
	err = set_module(setting);
	for (unsigned int i = 0; i < request->nr_functions && !err; i++)
		err = set_function(setting, request->functions[i].kind, request->functions[i].pattern);
	if (!err)
		err = set_depth(setting);
	return err ? err : set(setting, (struct label){ "the tracer", WORD_TRACER }, "current_tracer", request->tracer);
}

int kernel_settings_set(const struct message_sink *sink, const struct instance *instance,
			const struct kernel_request *request, bool *changed)
{
	const struct setting setting = { sink, instance, request, changed };
	int err;

	err = set_size(&setting, (struct label){ "the size of sub-buffers", WORD_SUBBUF_SIZE }, "buffer_subbuf_size_kb",
		       request->subbuf_kb);
	if (!err)
		err = set_ring_size(&setting);
	if (!err)
		err = set_wake(&setting);
	if (!err)
		err = set_clock(&setting);
	if (!err)
		err = set_cpus(&setting);
	if (!err)
		err = set_processes(&setting);
	if (!err)
		err = set_tracer(&setting);
	/* The kernel knows only the options of the tracer that is set. */
	return err ? err : set_options(&setting);
}
