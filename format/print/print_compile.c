/* SPDX-License-Identifier: MIT */
/* Compiles a print format to steps. The format is parsed as libtraceevent parses it; unusual parts are refused. */
#include "format/print/print_program_private.h"

#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>

/* A conversion, as written in the format. */
struct conversion {
	struct print_conversion how;
	bool has_star, has_precision_star;
	int longs; /* l, ll, h, hh: 1, 2, -1, -2 */
};

static int compile_or(int err, const struct print_value *value)
{
	return value ? err : -ENOTSUP;
}

/* ---------------------------------------------------------------------------------------------------------- strings */

/* The number of a flag or symbol. libtraceevent knows the names that kernels leave in their formats. */
static int64_t symbol_value(const char *text)
{
	static const char *const softirqs[] = { "HI_SOFTIRQ",	   "TIMER_SOFTIRQ", "NET_TX_SOFTIRQ",
						"NET_RX_SOFTIRQ",  "BLOCK_SOFTIRQ", "IRQ_POLL_SOFTIRQ",
						"TASKLET_SOFTIRQ", "SCHED_SOFTIRQ", "HRTIMER_SOFTIRQ",
						"RCU_SOFTIRQ" };

	if (isdigit((unsigned char)text[0]))
		return (int64_t)strtoull(text, NULL, 0);
	for (size_t i = 0; i < sizeof(softirqs) / sizeof(softirqs[0]); i++)
		if (!strcmp(text, softirqs[i]))
			return (int64_t)i;
	if (!strcmp(text, "HRTIMER_NORESTART") || !strcmp(text, "HRTIMER_RESTART"))
		return !strcmp(text, "HRTIMER_RESTART");
	return -1;
}

static int compile_symbols(struct print_step *step, const struct tep_print_flag_sym *symbols)
{
	uint32_t nr = 0;

	for (const struct tep_print_flag_sym *s = symbols; s; s = s->next)
		nr++;
	step->symbols = calloc(nr ? nr : 1, sizeof(*step->symbols));
	if (!step->symbols)
		return -ENOMEM;
	for (; symbols; symbols = symbols->next) {
		struct print_symbol *symbol = &step->symbols[step->nr_symbols++];

		if (!symbols->value || !symbols->str)
			return -ENOTSUP;
		symbol->value = symbol_value(symbols->value);
		symbol->name = symbols->str;
		symbol->size = (uint32_t)strlen(symbols->str);
	}
	return 0;
}

static int compile_flags(struct print_step *step, struct tep_event *event, const struct tep_print_arg *arg)
{
	step->kind = PRINT_STEP_FLAGS;
	step->value = print_value_compile(event, arg->flags.field);
	if (arg->flags.delim) {
		step->text = arg->flags.delim;
		step->text_size = (uint32_t)strlen(step->text);
	}
	return compile_or(compile_symbols(step, arg->flags.flags), step->value);
}

static int compile_symbol(struct print_step *step, struct tep_event *event, const struct tep_print_arg *arg)
{
	step->kind = PRINT_STEP_SYMBOL;
	step->value = print_value_compile(event, arg->symbol.field);
	return compile_or(compile_symbols(step, arg->symbol.symbols), step->value);
}

/* Finds the bytes of an array, in a dynamic or a fixed field. */
static int compile_bytes(struct print_step *step, struct tep_event *event, const struct tep_print_arg *arg)
{
	const struct tep_format_field *field;

	if (arg->type == TEP_PRINT_DYNAMIC_ARRAY && arg->dynarray.field) {
		step->is_dynamic = true;
		return print_dynamic_open(arg->dynarray.field, &step->dynamic) ? 0 : -ENOTSUP;
	}
	if (arg->type != TEP_PRINT_FIELD)
		return -ENOTSUP;
	field = arg->field.field ? arg->field.field : tep_find_any_field(event, arg->field.name);
	if (!field || field->offset < 0)
		return -ENOTSUP;
	step->offset = (uint32_t)field->offset;
	return 0;
}

static int compile_text_field(struct print_step *step, struct tep_event *event, const struct tep_print_arg *arg)
{
	const struct tep_format_field *field =
		arg->field.field ? arg->field.field : tep_find_any_field(event, arg->field.name);

	/* A pointer is left to libtraceevent, which searches the kernel's texts for it. */
	if (!field || field->offset < 0 || field->size < 0 ||
	    (!(field->flags & TEP_FIELD_IS_ARRAY) && field->size == tep_get_long_size(event->tep)))
		return -ENOTSUP;
	step->kind = PRINT_STEP_FIELD;
	step->offset = (uint32_t)field->offset;
	step->size = (uint32_t)field->size;
	return 0;
}

/* Compile __get_str or __get_bitmask, which name their field. */
static int compile_dynamic(struct print_step *step, struct tep_event *event, const struct tep_format_field *field,
			   const char *name, enum print_step_kind kind)
{
	step->kind = kind;
	step->is_big = tep_is_file_bigendian(event->tep);
	if (!field)
		field = tep_find_any_field(event, name);
	return field && print_dynamic_open(field, &step->dynamic) ? 0 : -ENOTSUP;
}

static int compile_branch(struct print_step **ret_step, struct tep_event *event, struct tep_print_arg *arg)
{
	struct print_step *step = calloc(1, sizeof(*step));

	*ret_step = step;
	return step ? print_compile_string(step, event, arg) : -ENOMEM;
}

static int compile_choice(struct print_step *step, struct tep_event *event, const struct tep_print_arg *arg)
{
	const struct tep_print_arg *both = arg->op.right;
	int err;

	if (!arg->op.op || arg->op.op[0] != '?' || !both || both->type != TEP_PRINT_OP || !both->op.left ||
	    !both->op.right)
		return -ENOTSUP;
	step->kind = PRINT_STEP_CHOICE;
	step->value = print_value_compile(event, arg->op.left);
	if (!step->value)
		return -ENOTSUP;
	err = compile_branch(&step->yes, event, both->op.left);
	return err ? err : compile_branch(&step->no, event, both->op.right);
}

int print_compile_string(struct print_step *step, struct tep_event *event, struct tep_print_arg *arg)
{
	int err;

	switch (arg->type) {
	case TEP_PRINT_ATOM:
		step->kind = PRINT_STEP_CONSTANT;
		step->text = arg->atom.atom;
		step->text_size = (uint32_t)strlen(step->text);
		return 0;
	case TEP_PRINT_FIELD:
		return compile_text_field(step, event, arg);
	case TEP_PRINT_STRING:
		return compile_dynamic(step, event, arg->string.field, arg->string.string, PRINT_STEP_DYNAMIC);
	case TEP_PRINT_BITMASK:
		return compile_dynamic(step, event, arg->bitmask.field, arg->bitmask.bitmask, PRINT_STEP_MASK);
	case TEP_PRINT_FLAGS:
		return compile_flags(step, event, arg);
	case TEP_PRINT_SYMBOL:
		return compile_symbol(step, event, arg);
	case TEP_PRINT_HEX:
	case TEP_PRINT_HEX_STR:
		step->kind = PRINT_STEP_BYTES;
		step->has_spaces = arg->type == TEP_PRINT_HEX;
		step->value = print_value_compile(event, arg->hex.size);
		err = compile_bytes(step, event, arg->hex.field);
		return err ? err : compile_or(0, step->value);
	case TEP_PRINT_INT_ARRAY:
		step->kind = PRINT_STEP_ARRAY;
		step->value = print_value_compile(event, arg->int_array.count);
		step->second = print_value_compile(event, arg->int_array.el_size);
		err = compile_bytes(step, event, arg->int_array.field);
		return err ? err : compile_or(compile_or(0, step->second), step->value);
	case TEP_PRINT_TYPE:
		/* A cast is printed as nothing. */
		step->kind = PRINT_STEP_TEXT;
		step->text = "";
		return 0;
	case TEP_PRINT_OP:
		return compile_choice(step, event, arg);
	default:
		return -ENOTSUP;
	}
}

static void copy_form(struct print_step *step, const struct print_form *form)
{
	step->form = *form;
	for (unsigned int i = 0; i < 2; i++) {
		struct print_step *branch = i ? step->no : step->yes;

		if (branch)
			copy_form(branch, form);
	}
}

static int add_string(struct print_program *program, struct tep_event *event, const struct conversion *c,
		      struct tep_print_arg *length, struct tep_print_arg *arg)
{
	struct print_form form = { .left = c->how.left, .has_precision = c->how.has_precision, .width = c->how.width,
				   .precision = c->how.precision, .is_width = c->has_star };
	struct print_step *step;
	int err;

	if (c->longs || c->how.zero || c->how.plus || c->how.alternate)
		return -ENOTSUP;
	step = print_program_add(program, PRINT_STEP_TEXT);
	if (!step)
		return -ENOMEM;
	err = print_compile_string(step, event, arg);
	if (err)
		return err;
	if (length) {
		form.length = print_value_compile(event, length);
		err = compile_or(0, form.length);
	}
	copy_form(step, &form);
	return err;
}

/* --------------------------------------------------------------------------------------------------------- pointers */

/* The number of characters after a %p that belong to it. */
static size_t pointer_suffix(const char *at)
{
	switch (at[0]) {
	case 'F':
	case 'f':
	case 'S':
	case 's':
		return 1;
	case 'M':
	case 'm':
		return at[1] == 'R' || at[1] == 'F' ? 2 : 1;
	case 'U':
		return at[1] && strchr("LlBb", at[1]) ? 2 : 1;
	case 'I':
	case 'i':
		if (at[1] == '4')
			return at[2] && strchr("hnlb", at[2]) ? 3 : 2;
		if (at[1] == '6')
			return at[2] == 'c' ? 3 : 2;
		return strncmp(at, "ISpc", 4) ? 0 : 4;
	default:
		return 0;
	}
}

/*
 * Compile %pM, %pI4, %pI6c, %pISpc or %pU of a field that has the right size. All other sizes are left to
 * libtraceevent.
 */
static int compile_address(struct print_step *step, struct tep_event *event, const char *at, size_t size,
			   const struct tep_print_arg *arg)
{
	const struct tep_format_field *field;
	char letter = at[0];
	int wanted;

	while (arg->type == TEP_PRINT_TYPE)
		arg = arg->typecast.item;
	if (arg->type != TEP_PRINT_FIELD)
		return -ENOTSUP;
	if (letter == 'M' && size == 1)
		wanted = 6;
	else if (letter == 'U' && size == 1)
		wanted = 16;
	else if (letter == 'I' && at[1] == '4' && size == 2)
		wanted = 4;
	else if (letter == 'I' && at[1] == '6') {
		letter = size == 3 ? 'c' : '6';
		wanted = 16;
	} else if (letter == 'I' && size == 4) {
		letter = 'S';
		wanted = (int)sizeof(struct sockaddr_in6);
	} else
		return -ENOTSUP;
	field = arg->field.field ? arg->field.field : tep_find_any_field(event, arg->field.name);
	if (!field || field->offset < 0 || field->size != wanted)
		return -ENOTSUP;
	step->kind = PRINT_STEP_ADDRESS;
	step->form_letter = letter;
	step->offset = (uint32_t)field->offset;
	step->size = (uint32_t)wanted;
	return 0;
}

static int add_pointer(struct print_program *program, struct tep_event *event, const struct conversion *c,
		       const char *at, size_t size, struct tep_print_arg *arg)
{
	struct print_step *step;

	(void)c; /* a width has no effect */
	if (at[0] == 'h' || at[0] == 'm' || at[0] == 'i' || (at[0] == 'I' && !size))
		return -ENOTSUP;
	step = print_program_add(program, size ? PRINT_STEP_FUNCTION : PRINT_STEP_POINTER);
	if (!step)
		return -ENOMEM;
	if (size && strchr("MIU", at[0]))
		return compile_address(step, event, at, size, arg);
	step->has_offset = at[0] == 'F' || at[0] == 'S';
	step->is_short = tep_get_long_size(event->tep) == 4;
	step->value = print_value_compile(event, arg);
	return compile_or(0, step->value);
}

/* ---------------------------------------------------------------------------------------------------------- numbers */

static int add_number(struct print_program *program, struct tep_event *event, const struct conversion *c,
		      struct tep_print_arg *arg)
{
	static const unsigned char bits[] = { 8, 16, 32, 64, 64 };
	const struct print_conversion *how = &c->how;
	const bool is_whole = !how->has_precision && !how->plus && !how->alternate, is_plain = is_whole && !how->width;
	/* "%08lx": the number of zeros is limited to what fits the text. */
	const bool is_zeroed = is_whole && how->zero && !how->left && how->width <= 16;
	struct print_step *step;

	if (c->longs < -2 || c->longs > 2 || (how->letter == 'c' && c->longs) || (how->letter == 'o' && how->alternate))
		return -ENOTSUP;
	step = print_program_add(program, PRINT_STEP_NUMBER);
	if (!step)
		return -ENOMEM;
	step->how = *how;
	step->how.bits = step->bits = bits[c->longs + 2];
	step->is_signed = how->letter == 'd';
	if (is_plain && (how->letter == 'd' || how->letter == 'u'))
		step->kind = PRINT_STEP_DECIMAL;
	else if ((is_plain || is_zeroed) && how->letter == 'x')
		step->kind = PRINT_STEP_HEX;
	step->value = print_value_compile(event, arg);
	return compile_or(0, step->value);
}

/* ----------------------------------------------------------------------------------------------------------- format */

/* Read the digits of a width, if there are any. False: the number is too large. */
static bool take_width(const char **at, unsigned short *ret_width)
{
	unsigned int width = 0;

	for (; isdigit((unsigned char)**at); ++*at) {
		width = 10 * width + (unsigned int)(**at - '0');
		if (width > 1000)
			return false;
	}
	*ret_width = (unsigned short)width;
	return true;
}

/* Reads a conversion from the % to its letter, where *at then points. False: the conversion has an unusual part. */
static bool take_conversion(const char **at, struct conversion *ret_conversion)
{
	struct conversion c = { .longs = 0 };
	const char *p = *at + 1;

	for (;; p++) {
		if (*p == '-')
			c.how.left = true;
		else if (*p == '0')
			c.how.zero = true;
		else if (*p == '+')
			c.how.plus = true;
		else if (*p == '#')
			c.how.alternate = true;
		else
			break;
	}
	if (*p == '*') {
		c.has_star = true;
		p++;
	} else if (!take_width(&p, &c.how.width)) {
		return false;
	}
	if (*p == '.') {
		p++;
		c.how.has_precision = true;
		c.has_precision_star = *p == '*';
		if (c.has_precision_star)
			p++;
		else if (!take_width(&p, &c.how.precision))
			return false;
	}
	for (; *p && strchr("hlLzZ", *p); p++)
		c.longs = *p == 'h' ? c.longs - 1 : *p == 'l' ? c.longs + 1 : *p == 'L' ? 2 : 1;
	c.how.letter = *p == 'i' ? 'd' : *p;
	*at = p;
	*ret_conversion = c;
	return *p && strchr("cduxXosp", c.how.letter) && !(c.has_star && c.has_precision_star);
}

static int add_conversion(struct print_program *program, struct tep_event *event, const char **at,
			  struct tep_print_arg **args)
{
	struct tep_print_arg *length = NULL, *arg;
	struct conversion c;
	size_t size = 0;
	int err;

	if (!take_conversion(at, &c))
		return -ENOTSUP;
	if (c.has_star || c.has_precision_star) {
		length = *args;
		*args = length ? length->next : NULL;
	}
	arg = *args;
	if (!arg || (length && c.how.letter != 's' && c.how.letter != 'p'))
		return -ENOTSUP;
	if (c.how.letter == 's') {
		err = add_string(program, event, &c, length, arg);
	} else if (c.how.letter == 'p') {
		size = pointer_suffix(*at + 1);
		err = add_pointer(program, event, &c, *at + 1, size, arg);
	} else {
		err = add_number(program, event, &c, arg);
	}
	*at += 1 + size;
	*args = arg->next;
	return err;
}

/* Adds the text up to the next conversion. */
static int add_text(struct print_program *program, const char **at)
{
	char *text = malloc(strlen(*at) + 1);
	size_t size = 0;
	int err;

	if (!text)
		return -ENOMEM;
	for (; **at && (**at != '%' || (*at)[1] == '%'); ++*at) {
		if (**at == '%') {
			++*at;
		} else if (**at == '\\' && (*at)[1]) {
			++*at;
			text[size++] = **at == 'n' ? '\n' : **at == 't' ? '\t' : **at == 'r' ? '\r' : **at;
			continue;
		}
		text[size++] = **at;
	}
	err = print_program_add_text(program, text, size);
	free(text);
	return err;
}

int print_compile_format(struct print_program *program, struct tep_event *event)
{
	struct tep_print_arg *args = event->print_fmt.args;
	const char *at = event->print_fmt.format;
	int err = 0;

	if (!at)
		return -ENOTSUP;
	while (*at && !err)
		err = *at == '%' && at[1] != '%' ? add_conversion(program, event, &at, &args) : add_text(program, &at);
	return err;
}
