/* SPDX-License-Identifier: MIT */
/* The summary's lines about events that rates suppressed, of a recording with thousands of processes. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/recording/selection.h"
#include "made_event.h"

/* Work that grows with the square of their product would take hours. */
#define PROCESSES 3000u
#define EVENTS	  30u

static struct made_event events[EVENTS];
static struct spool_rate rates[PROCESSES][EVENTS];
static struct spool_entry entries[PROCESSES];
static unsigned char *log_text;
static size_t log_size;
static unsigned int lines;

static void begin(void)
{
	char declaration[32];

	log_text = calloc(EVENTS, sizeof(events[0].description));
	cr_assert_not_null(log_text);
	for (unsigned int i = 0; i < EVENTS; i++) {
		snprintf(declaration, sizeof(declaration), "e%u, u8(a)", i);
		made_event(&events[i], "made", declaration, 9);
		events[i].description.event.record.id = (uint16_t)(REC_EVENT_ID_FIRST + 1 + i);
		memcpy(log_text + log_size, &events[i].description, sizeof(events[i].description));
		log_size += sizeof(events[i].description);
	}
}

static void end(void)
{
	free(log_text);
}

TestSuite(selection_report, .init = begin, .fini = end, .timeout = 300);

/* Process p has suppressed p * (i + 1) of event i, with the rate 100 + p. The first process has suppressed none. */
static void check_line(const void *arg, const char *line)
{
	char expected[128];

	(void)arg;
	snprintf(expected, sizeof(expected), "  %u made:e%u suppressed by a rate of 101, not counted as lost",
		 PROCESSES * (PROCESSES - 1) / 2 * (lines + 1), lines);
	cr_assert_str_eq(line, expected);
	lines++;
}

Test(selection_report, suppressed_events_of_many_processes)
{
	const struct message_sink sink = { .summary = check_line };
	const struct spool spool = { .entries = entries, .nr_entries = PROCESSES };

	for (unsigned int p = 0; p < PROCESSES; p++) {
		for (unsigned int i = 0; i < EVENTS; i++)
			rates[p][i] = (struct spool_rate){ .id = (uint16_t)(REC_EVENT_ID_FIRST + 1 + i),
							   .rate = { .rate = 100 + p, .suppressed = p * (i + 1) } };
		entries[p] = (struct spool_entry){
			.log = log_text, .log_size = log_size, .rates = rates[p], .nr_rates = EVENTS
		};
	}
	selections_say_rates(&sink, &spool);
	cr_assert_eq(lines, EVENTS);
}
