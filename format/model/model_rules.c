/* SPDX-License-Identifier: MIT */
/*
 * What each event means. Programs express it by names and by the type words of fields (docs/MEANING.md); the kernel's
 * pairs are a table.
 */
#include "format/model/model_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NR_IDS 65536u

struct model_rules {
	struct model_rule **by_id; /* NULL: no format has this id */
	struct model_rule *all;
	char **names; /* names of rules: "request" of request_begin */
	uint32_t nr;
	const struct event_table *table;
	struct model_names *of_spans;
};

static const struct model_rule unknown = { .meaning = MODEL_POINT, .system = "", .name = "" };

enum scope { SCOPE_THREAD, SCOPE_CPU, SCOPE_KEYS };

/* Functions have two kinds of begins, and one kind of ends. */
#define FUNCTIONS "funcgraph_exit", "funcgraph", SCOPE_THREAD, { NULL }, MODEL_NAME_FUNCTION, "func", "func"

/*
 * docs/MEANING.md has the same table. An asterisk at the end stands for the rest of the name, which begin and end have
 * in common.
 */
static const struct kernel_pair {
	const char *system, *begin, *end;
	const char *name; /* NULL: the rest of the name */
	enum scope scope;
	const char *keys[2];
	enum model_naming naming;
	const char *field; /* name of the field that has the span's name */
	const char *same;  /* name of the field that has the same number in the begin and in the end of a span */
} kernel_pairs[] = {
	{ "raw_syscalls", "sys_enter", "sys_exit", "syscall", SCOPE_THREAD, { NULL }, MODEL_NAME_CALL, "id", "id" },
	{ "syscalls", "sys_enter_*", "sys_exit_*", NULL, SCOPE_THREAD, { NULL }, MODEL_NAME_RULE, NULL, NULL },
	{ "irq", "irq_handler_entry", "irq_handler_exit", "irq_handler", SCOPE_CPU, { NULL }, MODEL_NAME_TEXT, "name",
	  "irq" },
	{ "irq", "softirq_entry", "softirq_exit", "softirq", SCOPE_CPU, { NULL }, MODEL_NAME_SOFTIRQ, "vec", "vec" },
	{ "block",
	  "block_rq_issue",
	  "block_rq_complete",
	  "block_rq",
	  SCOPE_KEYS,
	  { "dev", "sector" },
	  MODEL_NAME_RULE,
	  NULL,
	  NULL },
	{ "ftrace", "funcgraph_entry", FUNCTIONS },
	{ "ftrace", "fgraph_retaddr_entry", FUNCTIONS },
	{ "workqueue",
	  "workqueue_execute_start",
	  "workqueue_execute_end",
	  "workqueue_execute",
	  SCOPE_THREAD,
	  { NULL },
	  MODEL_NAME_FUNCTION,
	  "function",
	  "work" },
	{ "timer",
	  "timer_expire_entry",
	  "timer_expire_exit",
	  "timer_expire",
	  SCOPE_CPU,
	  { NULL },
	  MODEL_NAME_FUNCTION,
	  "function",
	  "timer" },
	{ "timer",
	  "hrtimer_expire_entry",
	  "hrtimer_expire_exit",
	  "hrtimer_expire",
	  SCOPE_CPU,
	  { NULL },
	  MODEL_NAME_FUNCTION,
	  "function",
	  "hrtimer" },
};

/*
 * Match a name with a pattern. Returns the part that the asterisk stands for, "" if there is no asterisk; NULL: no
 * match.
 */
static const char *match(const char *pattern, const char *name)
{
	const size_t size = strlen(pattern);

	if (size && pattern[size - 1] == '*')
		return strncmp(pattern, name, size - 1) ? NULL : name + size - 1;
	return strcmp(pattern, name) ? NULL : "";
}

static struct tep_format_field *field_named(const struct event_type *type, const char *name)
{
	return tep_find_any_field(type->event, name);
}

/* A field whose type word begins with `word`. */
static struct tep_format_field *field_of(const struct event_type *type, const char *word)
{
	struct tep_format_field *field = type->event->format.fields;

	while (field && strncmp(field->type, word, strlen(word)) != 0)
		field = field->next;
	return field;
}

static bool ends_with(const char *name, const char *end)
{
	const size_t size = strlen(name), tail = strlen(end);

	return size > tail && !strcmp(name + size - tail, end);
}

/* ------------------------------------------------------------------------------------------------- kernel's events */

static bool set_kernel_pair(struct model_rule *rule, const struct kernel_pair *pair, char **ret_name)
{
	const char *name = rule->type->event->name;
	const char *rest = strcmp(rule->system, pair->system) ? NULL : match(pair->begin, name);

	rule->meaning = rest ? MODEL_BEGIN : MODEL_END;
	if (!rest && !strcmp(rule->system, pair->system))
		rest = match(pair->end, name);
	if (!rest) {
		rule->meaning = MODEL_POINT;
		return false;
	}
	rule->is_kernel = true;
	rule->is_of_cpu = pair->scope == SCOPE_CPU;
	rule->is_keyed = pair->scope == SCOPE_KEYS;
	rule->is_call = strstr(pair->system, "syscalls") != NULL;
	rule->is_single = rule->is_call || !strcmp(pair->system, "workqueue");
	rule->naming = pair->naming;
	rule->naming_field = pair->field ? field_named(rule->type, pair->field) : NULL;
	rule->same = pair->same ? field_named(rule->type, pair->same) : NULL;
	rule->depth = strcmp(pair->system, "ftrace") ? NULL : field_named(rule->type, "depth");
	for (unsigned int i = 0; rule->is_keyed && i < 2; i++) {
		rule->keys[rule->nr_keys] = field_named(rule->type, pair->keys[i]);
		rule->nr_keys += rule->keys[rule->nr_keys] != NULL;
	}
	*ret_name = strdup(pair->name ? pair->name : rest);
	return true;
}

static void set_sched(struct model_rule *rule, enum model_meaning meaning, const char *const names[MODEL_SCHED_FIELDS])
{
	rule->meaning = meaning;
	for (unsigned int i = 0; i < MODEL_SCHED_FIELDS; i++)
		rule->sched[i] = names[i] ? field_named(rule->type, names[i]) : NULL;
}

static void set_kernel(struct model_rule *rule, char **ret_name)
{
	static const char *const of_switch[MODEL_SCHED_FIELDS] = {
		[MODEL_PREV_PID] = "prev_pid",	 [MODEL_PREV_PRIO] = "prev_prio", [MODEL_PREV_STATE] = "prev_state",
		[MODEL_NEXT_PID] = "next_pid",	 [MODEL_NEXT_PRIO] = "next_prio",
	};
	static const char *const of_wake[MODEL_SCHED_FIELDS] = {
		[MODEL_WOKEN_PID] = "pid", [MODEL_WOKEN_PRIO] = "prio", [MODEL_WOKEN_CPU] = "target_cpu",
		[MODEL_WOKEN_FLAGS] = "common_flags",
	};
	const char *name = rule->type->event->name;

	if (!strcmp(rule->system, "sched")) {
		if (!strcmp(name, "sched_switch"))
			set_sched(rule, MODEL_SWITCH, of_switch);
		else if (!strcmp(name, "sched_waking") || !strcmp(name, "sched_wakeup") ||
			 !strcmp(name, "sched_wakeup_new"))
			set_sched(rule, MODEL_WAKE, of_wake);
		rule->is_birth = !strcmp(name, "sched_wakeup_new");
		return;
	}
	for (size_t i = 0; i < sizeof(kernel_pairs) / sizeof(kernel_pairs[0]); i++) {
		if (set_kernel_pair(rule, &kernel_pairs[i], ret_name))
			return;
	}
}

/* ----------------------------------------------------------------------------------------------- programs' events */

static void set_keys(struct model_rule *rule)
{
	for (struct tep_format_field *f = rule->type->event->format.fields; f && rule->nr_keys < MODEL_KEYS_MAX;
	     f = f->next) {
		if (!strncmp(f->type, "rec_key_", 8))
			rule->keys[rule->nr_keys++] = f;
	}
}

static void set_span(struct model_rule *rule, enum model_meaning meaning, size_t suffix, char **ret_name)
{
	const char *name = rule->type->event->name;

	rule->meaning = meaning;
	rule->is_keyed = rule->nr_keys > 0;
	*ret_name = strndup(name, strlen(name) - suffix);
}

static void set_program(struct model_rule *rule, char **ret_name)
{
	const struct event_type *type = rule->type;
	const char *name = type->event->name;
	struct tep_format_field *value;

	rule->flow = field_of(type, "rec_flow");
	set_keys(rule);
	/* A field's type takes precedence over the event's name, because a counter may be called X_end. */
	if ((value = field_of(type, "rec_duration")) != NULL)
		rule->meaning = MODEL_TIMED;
	else if ((value = field_of(type, "rec_counter_")) != NULL)
		rule->meaning = MODEL_COUNTER;
	else if ((value = field_of(type, "rec_state_")) != NULL)
		rule->meaning = MODEL_STATE;
	else if (!strcmp(rule->system, "recorder") && (value = field_of(type, "rec_task")) != NULL)
		rule->meaning = MODEL_TASK;
	else if (ends_with(name, "_begin"))
		set_span(rule, MODEL_BEGIN, strlen("_begin"), ret_name);
	else if (ends_with(name, "_end"))
		set_span(rule, MODEL_END, strlen("_end"), ret_name);
	rule->value = value;
}

/* ------------------------------------------------------------------------------------------------------ all of them */

static bool is_of_span(const struct model_rule *rule)
{
	return rule->meaning == MODEL_BEGIN || rule->meaning == MODEL_END;
}

/*
 * Find the begin for an end of the same name, or the end for a begin; or a state of the same name with other fields.
 * Rules before i already have their pairs.
 */
static void set_pair(struct model_rules *rules, uint32_t i)
{
	struct model_rule *rule = &rules->all[i];
	const bool is_state = rule->meaning == MODEL_STATE;

	rule->pair = i + 1;
	for (uint32_t other = 0; other < i && (is_state || is_of_span(rule)); other++) {
		const struct model_rule *o = &rules->all[other];

		if ((is_state ? o->meaning == MODEL_STATE : is_of_span(o)) && !strcmp(o->name, rule->name) &&
		    !strcmp(o->system, rule->system)) {
			rule->pair = o->pair;
			return;
		}
	}
}

static int set_rule(struct model_rules *rules, uint32_t i, const struct event_type *type)
{
	struct model_rule *rule = &rules->all[i];
	const int id = type->event->id;

	*rule = (struct model_rule){ .type = type, .system = type->event->system, .name = type->event->name };
	rule->is_program = event_is_programs(id);
	if (rule->is_program)
		set_program(rule, &rules->names[i]);
	else
		set_kernel(rule, &rules->names[i]);
	if (is_of_span(rule) && !rules->names[i])
		return -ENOMEM;
	if (rules->names[i])
		rule->name = rules->names[i];
	set_pair(rules, i);
	if (id >= 0 && id < (int)NR_IDS && !rules->by_id[id])
		rules->by_id[id] = rule;
	return 0;
}

int model_rules_open(const struct event_table *table, struct model_rules **ret_rules)
{
	struct model_rules *rules = calloc(1, sizeof(*rules));
	const uint32_t nr = table->nr_events;
	int err = 0;

	if (!rules)
		return -ENOMEM;
	rules->by_id = calloc(NR_IDS, sizeof(struct model_rule *));
	rules->all = calloc(nr ? nr : 1, sizeof(*rules->all));
	rules->names = calloc(nr ? nr : 1, sizeof(char *));
	rules->of_spans = model_names_open();
	rules->nr = nr;
	rules->table = table;
	if (!rules->of_spans || !rules->by_id || !rules->all || !rules->names)
		err = -ENOMEM;
	for (uint32_t i = 0; !err && i < nr; i++)
		err = set_rule(rules, i, &table->all[i]);
	if (err) {
		model_rules_close(rules);
		return err;
	}
	*ret_rules = rules;
	return 0;
}

struct model_rules *model_rules_close(struct model_rules *rules)
{
	if (!rules)
		return NULL;
	for (uint32_t i = 0; rules->names && i < rules->nr; i++)
		free(rules->names[i]);
	free(rules->names);
	model_names_close(rules->of_spans);
	free(rules->all);
	free(rules->by_id);
	free(rules);
	return NULL;
}

const struct event_table *model_rules_table(const struct model_rules *rules)
{
	return rules->table;
}

bool model_rules_have_timed(const struct model_rules *rules)
{
	uint32_t i = 0;

	while (i < rules->nr && rules->all[i].meaning != MODEL_TIMED)
		i++;
	return i < rules->nr;
}

struct model_names *model_rules_names(const struct model_rules *rules)
{
	return rules->of_spans;
}

const struct model_rule *model_rule(const struct model_rules *rules, int id)
{
	const struct model_rule *rule = id >= 0 && id < (int)NR_IDS ? rules->by_id[id] : NULL;

	return rule ? rule : &unknown;
}

int model_number_text(const struct tep_format_field *field, uint64_t number, char *ret_text, size_t size)
{
	if (field->flags & TEP_FIELD_IS_SIGNED)
		return snprintf(ret_text, size, "%" PRId64, (int64_t)number);
	return snprintf(ret_text, size, "%" PRIu64, number);
}

void model_state_title(const struct model_state *state, char *ret_text, size_t size)
{
	const struct model_rule *rule = state->rule;
	const int room = (int)(size - MODEL_KEYS_MAX * sizeof(" -9223372036854775808")) / 2 - 1;
	size_t used = (size_t)snprintf(ret_text, size, "%.*s:%.*s", room, rule->system, room, rule->name);

	for (unsigned int i = 0; i < state->nr_keys; i++) {
		ret_text[used++] = ' ';
		used += (size_t)model_number_text(rule->keys[i], state->keys[i], ret_text + used, size - used);
	}
}
