/* SPDX-License-Identifier: MIT */
/*
 * Names of the kernel's spans. All functions (or system calls, or interrupts) have the same pair of events; a field
 * shows which one it is. If the field is missing, or nothing is known about its value, the span has the name of its
 * pair.
 */
#include "format/io/text_pool.h"
#include "format/model/model_private.h"
#include "format/text/syscall_names.h"

#include <stdio.h>
#include <stdlib.h>

/* A hostile file may have any number of different texts. Beyond this number, a span gets the pair's name. */
#define NAMES_MAX 65536u
#define NAME_MAX_BYTES 64u

struct model_names {
	struct text_pool pool;
};

struct model_names *model_names_open(void)
{
	return calloc(1, sizeof(struct model_names));
}

void model_names_close(struct model_names *names)
{
	if (names)
		text_pool_close(&names->pool);
	free(names);
}

/*
 * The pool's copy of a text, without control characters; `otherwise` if there are too many names; NULL: out of memory.
 */
static const char *keep(struct model_names *names, const char *text, size_t size, const char *otherwise)
{
	const struct pooled_text *pooled;
	char room[NAME_MAX_BYTES];

	size = size < sizeof(room) ? size : sizeof(room);
	for (size_t i = 0; i < size; i++)
		room[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i];
	if (names->pool.used >= NAMES_MAX) {
		pooled = text_pool_find(&names->pool, room, size);
		return pooled ? pooled->text : otherwise;
	}
	pooled = text_pool_add(&names->pool, room, size);
	return pooled ? pooled->text : NULL;
}

/* include/linux/interrupt.h of the kernel; NULL: there is no such number. */
static const char *softirq_name(int64_t number)
{
	static const char *const names[] = { "HI",	"TIMER",   "NET_TX", "NET_RX",	"BLOCK",
					     "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU" };

	return number >= 0 && number < (int64_t)(sizeof(names) / sizeof(names[0])) ? names[number] : NULL;
}

const char *model_name(const struct model_rules *rules, const struct model_rule *rule,
		       const struct model_record *record)
{
	const struct tep_format_field *field = rule->naming_field;
	const char *name = NULL;
	uint32_t size = 0;

	if (rule->naming == MODEL_NAME_RULE || !field)
		return rule->name;
	switch (rule->naming) {
	case MODEL_NAME_TEXT:
		name = model_text(field, record, &size);
		return size ? keep(model_rules_names(rules), name, size, rule->name) : rule->name;
	case MODEL_NAME_FUNCTION:
		name = tep_find_function(rule->type->event->tep, (unsigned long long)model_number(field, record));
		break;
	case MODEL_NAME_CALL:
		name = syscall_name(model_number(field, record));
		break;
	case MODEL_NAME_SOFTIRQ:
		name = softirq_name(model_number(field, record));
		break;
	default:
		break;
	}
	return name ? name : rule->name;
}
