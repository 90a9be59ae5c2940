/* SPDX-License-Identifier: MIT */
/*
 * Call sites of rec_printf. A viewer finds the format of a record in the PRINTK text and its function in KALLSYMS,
 * both by address. The addresses of several processes overlap, so each site of each process gets an address of its
 * own, as dat_sites.h has them.
 */
#include "format/weave/trace_info_private.h"

#include <errno.h>
#include <inttypes.h>
#include <librecorder/event_text.h>
#include <stdlib.h>
#include <string.h>

#include "format/dat/dat_sites.h"

static uint64_t site_address(size_t index)
{
	return DAT_SITE_BASE + index * DAT_SITE_STEP;
}

/* The format, as it is written in the PRINTK text; NULL with *ret_err 0: it is malformed. */
static char *format_text(const struct rec_log_printf *record, int *ret_err)
{
	/* Escaping turns one character into at most two. */
	const size_t room = 2 * (size_t)record->text_size + 16;
	char *text = malloc(room);
	const int len = text ? rec_printf_format_text(record, text, room) : -ENOMEM;

	if (len >= 0)
		return text;
	free(text);
	*ret_err = len == -ENOMEM ? len : 0;
	return NULL;
}

int trace_sites_add(struct trace_info *info, unsigned int process, const struct rec_log_printf *record)
{
	struct number_map *sites = &info->processes[process].sites;
	struct trace_site site;
	int err = 0;

	if (number_map_get(sites, record->site))
		return 0;
	if (trace_info_grow(&info->sites, sizeof(*info->sites), info->nr_sites, &info->max_sites))
		return -ENOMEM;
	site.format = format_text(record, &err);
	if (!site.format)
		return err;
	site.function = strdup(rec_printf_function(record));
	if (!site.function || number_map_set(sites, record->site, site_address(info->nr_sites))) {
		free(site.function);
		free(site.format);
		return -ENOMEM;
	}
	info->sites[info->nr_sites++] = site;
	return 0;
}

uint64_t trace_info_site(const struct trace_info *info, unsigned int process, uint64_t site)
{
	return number_map_get(&info->processes[process].sites, site);
}

int trace_info_printk(const struct trace_info *info, struct blob *printk)
{
	size_t i;

	for (i = 0; i < info->nr_sites; i++)
		blob_printf(printk, "0x%" PRIx64 " : %s\n", site_address(i), info->sites[i].format);
	return printk->error;
}

/* A symbol's name has no blanks. */
static void put_function(struct blob *kallsyms, const char *function)
{
	size_t i;

	if (!function[0])
		function = "rec_printf";
	for (i = 0; function[i]; i++) {
		const char c = function[i];

		blob_put(kallsyms, (unsigned char)c <= ' ' || c == '$' || c == 0x7f ? "_" : &c, 1);
	}
}

int trace_info_kallsyms(const struct trace_info *info, struct blob *kallsyms)
{
	size_t i;

	for (i = 0; i < info->nr_sites; i++) {
		blob_printf(kallsyms, "%" PRIx64 " t ", site_address(i));
		put_function(kallsyms, info->sites[i].function);
		blob_printf(kallsyms, "\n");
	}
	return kallsyms->error;
}

void trace_sites_free(struct trace_info *info)
{
	size_t i;

	for (i = 0; i < info->nr_sites; i++) {
		free(info->sites[i].function);
		free(info->sites[i].format);
	}
	free(info->sites);
}
