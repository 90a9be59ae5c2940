/* SPDX-License-Identifier: MIT */
#include "format/print/print_value.h"

#include <ctype.h>
#include <stdlib.h>

#include "format/io/bytes.h"

bool print_value_is_swapped(struct tep_handle *tep)
{
	return tep_is_file_bigendian(tep) != tep_is_bigendian();
}

static struct print_value *new_value(enum print_value_kind kind)
{
	struct print_value *value = calloc(1, sizeof(*value));

	if (value)
		value->kind = kind;
	return value;
}

static struct print_value *constant(uint64_t number)
{
	struct print_value *value = new_value(PRINT_VALUE_CONSTANT);

	if (value)
		value->number = number;
	return value;
}

struct print_value *print_value_free(struct print_value *value)
{
	if (!value)
		return NULL;
	print_value_free(value->left);
	print_value_free(value->right);
	print_value_free(value->other);
	free(value);
	return NULL;
}

/* Makes the parent of these children. If one of them is missing, or there is no memory, frees them and returns NULL. */
static struct print_value *parent(enum print_value_kind kind, struct print_value *left, struct print_value *right)
{
	struct print_value *value = left && right ? new_value(kind) : NULL;

	if (value) {
		value->left = left;
		value->right = right;
		return value;
	}
	print_value_free(left);
	print_value_free(right);
	return NULL;
}

/* -------------------------------------------------------------------------------------------------------- compiling */

static struct print_value *load(const struct tep_format_field *field, enum print_value_kind kind, int size)
{
	struct print_value *value = field->offset >= 0 && bytes_is_number((uint32_t)size) ? new_value(kind) : NULL;

	if (!value)
		return NULL;
	value->offset = (uint32_t)field->offset;
	value->size = (uint32_t)size;
	value->is_swapped = print_value_is_swapped(field->event->tep);
	return value;
}

struct print_value *print_value_field(const struct tep_format_field *field)
{
	return load(field, PRINT_VALUE_FIELD, field->size);
}

static struct tep_format_field *field_of(struct tep_event *event, const struct tep_print_arg *arg)
{
	return arg->field.field ? arg->field.field : tep_find_any_field(event, arg->field.name);
}

/* The bits that a cast keeps of a number; 0: all. libtraceevent knows only these names, and ignores signs. */
static uint64_t mask_of(const char *type)
{
	static const struct {
		const char *name;
		uint64_t mask;
	} types[] = {
		{ "u8", 0xff }, { "s8", 0xff }, { "u16", 0xffff }, { "s16", 0xffff }, { "u32", 0xffffffff },
		{ "s32", 0xffffffff }, { "char", 0xff }, { "short", 0xffff }, { "int", 0xffffffff },
	};

	if (!strncmp(type, "unsigned ", 9))
		type += 9;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(type, types[i].name))
			return types[i].mask;
	return 0;
}

static struct print_value *compile_cast(struct tep_event *event, const struct tep_print_arg *arg)
{
	struct print_value *item = arg->typecast.item ? print_value_compile(event, arg->typecast.item) : NULL;
	const uint64_t mask = mask_of(arg->typecast.type);
	struct print_value *value;

	if (!mask || !item)
		return item;
	value = new_value(PRINT_VALUE_MASK);
	if (!value)
		return print_value_free(item);
	value->left = item;
	value->number = mask;
	return value;
}

/* An element of a fixed array. */
static struct print_value *compile_index(struct tep_event *event, const struct tep_print_arg *arg)
{
	const struct tep_print_arg *array = arg->op.left;
	const struct tep_format_field *field = array->type == TEP_PRINT_FIELD ? field_of(event, array) : NULL;
	struct print_value *value = field ? load(field, PRINT_VALUE_INDEX, (int)field->elementsize) : NULL;

	if (!value)
		return NULL;
	value->left = print_value_compile(event, arg->op.right);
	return value->left ? value : print_value_free(value);
}

static struct print_value *compile_choice(struct tep_event *event, const struct tep_print_arg *arg)
{
	const struct tep_print_arg *both = arg->op.right;
	struct print_value *value;

	if (both->type != TEP_PRINT_OP)
		return NULL;
	value = parent(PRINT_VALUE_CHOICE, print_value_compile(event, arg->op.left),
		       print_value_compile(event, both->op.left));
	if (!value)
		return NULL;
	value->other = print_value_compile(event, both->op.right);
	return value->other ? value : print_value_free(value);
}

static struct print_value *compile_op(struct tep_event *event, const struct tep_print_arg *arg)
{
	static const struct {
		const char *op;
		enum print_value_kind kind;
	} ops[] = {
		{ "+", PRINT_VALUE_ADD },	  { "-", PRINT_VALUE_SUBTRACT },    { "*", PRINT_VALUE_MULTIPLY },
		{ "/", PRINT_VALUE_DIVIDE },	  { "%", PRINT_VALUE_REMAINDER },   { "|", PRINT_VALUE_OR },
		{ "&", PRINT_VALUE_AND },	  { "||", PRINT_VALUE_EITHER },	    { "&&", PRINT_VALUE_BOTH },
		{ "<<", PRINT_VALUE_SHIFT_LEFT }, { ">>", PRINT_VALUE_SHIFT_RIGHT }, { "<", PRINT_VALUE_LESS },
		{ "<=", PRINT_VALUE_LESS_EQUAL }, { ">", PRINT_VALUE_MORE },	    { ">=", PRINT_VALUE_MORE_EQUAL },
		{ "==", PRINT_VALUE_EQUAL },	  { "!=", PRINT_VALUE_DIFFERENT },
	};
	const char *op = arg->op.op;

	if (!op || !arg->op.right)
		return NULL;
	/* Operators of one operand have only a right side. */
	if (!strcmp(op, "!"))
		return parent(PRINT_VALUE_NOT, constant(0), print_value_compile(event, arg->op.right));
	if (!strcmp(op, "~"))
		return parent(PRINT_VALUE_INVERSE, constant(0), print_value_compile(event, arg->op.right));
	if (!arg->op.left)
		return !strcmp(op, "-")
			       ? parent(PRINT_VALUE_SUBTRACT, constant(0), print_value_compile(event, arg->op.right))
			       : NULL;
	if (!strcmp(op, "["))
		return compile_index(event, arg);
	if (!strcmp(op, "?"))
		return compile_choice(event, arg);
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (!strcmp(op, ops[i].op))
			return parent(ops[i].kind, print_value_compile(event, arg->op.left),
				      print_value_compile(event, arg->op.right));
	return NULL;
}

static struct print_value *compile_length(const struct tep_print_arg *arg)
{
	struct print_dynamic dynamic;
	struct print_value *value;

	if (!arg->dynarray.field || !print_dynamic_open(arg->dynarray.field, &dynamic))
		return NULL;
	value = new_value(PRINT_VALUE_LENGTH);
	if (!value)
		return NULL;
	value->offset = dynamic.where.offset;
	value->size = dynamic.where.size;
	value->is_swapped = dynamic.where.is_swapped;
	value->number = dynamic.base;
	return value;
}

struct print_value *print_value_compile(struct tep_event *event, const struct tep_print_arg *arg)
{
	const struct tep_format_field *field;

	switch (arg->type) {
	case TEP_PRINT_ATOM:
		/* Symbols of the kernel are left to libtraceevent. */
		if (!isdigit((unsigned char)arg->atom.atom[0]) && arg->atom.atom[0] != '-')
			return NULL;
		return constant(strtoull(arg->atom.atom, NULL, 0));
	case TEP_PRINT_FIELD:
		field = field_of(event, arg);
		return field ? print_value_field(field) : NULL;
	case TEP_PRINT_TYPE:
		return compile_cast(event, arg);
	case TEP_PRINT_OP:
		return compile_op(event, arg);
	case TEP_PRINT_DYNAMIC_ARRAY_LEN:
		return compile_length(arg);
	case TEP_PRINT_NULL:
	case TEP_PRINT_FLAGS:
	case TEP_PRINT_SYMBOL:
	case TEP_PRINT_INT_ARRAY:
	case TEP_PRINT_HEX:
	case TEP_PRINT_HEX_STR:
	case TEP_PRINT_STRING:
	case TEP_PRINT_BITMASK:
	case TEP_PRINT_CPUMASK:
		return constant(0);
	default:
		return NULL;
	}
}

/* -------------------------------------------------------------------------------------------------------- computing */

static bool compute_index(const struct print_value *value, const unsigned char *data, uint32_t size,
			  uint64_t *ret_number)
{
	uint64_t which;

	if (!print_value_of(value->left, data, size, &which) || which >= size ||
	    value->offset + (which + 1) * value->size > size)
		return false;
	return print_value_load(value, data, (uint32_t)(value->offset + which * value->size), ret_number);
}

static bool compute_length(const struct print_value *value, const unsigned char *data, uint32_t size,
			   uint64_t *ret_number)
{
	const struct print_dynamic dynamic = { .where = *value, .base = (uint32_t)value->number };
	uint32_t offset, length;

	if (!print_dynamic_of(&dynamic, data, size, &offset, &length))
		return false;
	*ret_number = length;
	return true;
}

static bool compare(enum print_value_kind kind, uint64_t left, uint64_t right, uint64_t *ret_number)
{
	switch (kind) {
	case PRINT_VALUE_LESS:
		*ret_number = left < right;
		return true;
	case PRINT_VALUE_LESS_EQUAL:
		*ret_number = left <= right;
		return true;
	case PRINT_VALUE_MORE:
		*ret_number = left > right;
		return true;
	case PRINT_VALUE_MORE_EQUAL:
		*ret_number = left >= right;
		return true;
	case PRINT_VALUE_EQUAL:
		*ret_number = left == right;
		return true;
	case PRINT_VALUE_DIFFERENT:
		*ret_number = left != right;
		return true;
	default:
		return false;
	}
}

static bool combine(enum print_value_kind kind, uint64_t left, uint64_t right, uint64_t *ret_number)
{
	switch (kind) {
	case PRINT_VALUE_NOT:
		*ret_number = !right;
		return true;
	case PRINT_VALUE_INVERSE:
		*ret_number = ~right;
		return true;
	case PRINT_VALUE_ADD:
		*ret_number = left + right;
		return true;
	case PRINT_VALUE_SUBTRACT:
		*ret_number = left - right;
		return true;
	case PRINT_VALUE_MULTIPLY:
		*ret_number = left * right;
		return true;
	case PRINT_VALUE_DIVIDE:
		*ret_number = right ? left / right : 0;
		return right != 0;
	case PRINT_VALUE_REMAINDER:
		*ret_number = right ? left % right : 0;
		return right != 0;
	case PRINT_VALUE_OR:
		*ret_number = left | right;
		return true;
	case PRINT_VALUE_AND:
		*ret_number = left & right;
		return true;
	case PRINT_VALUE_EITHER:
		*ret_number = left || right;
		return true;
	case PRINT_VALUE_BOTH:
		*ret_number = left && right;
		return true;
	case PRINT_VALUE_SHIFT_LEFT:
		*ret_number = right < 64 ? left << right : 0;
		return right < 64;
	case PRINT_VALUE_SHIFT_RIGHT:
		*ret_number = right < 64 ? left >> right : 0;
		return right < 64;
	default:
		return compare(kind, left, right, ret_number);
	}
}

bool print_value_compute(const struct print_value *value, const unsigned char *data, uint32_t size,
			 uint64_t *ret_number)
{
	uint64_t left, right;

	switch (value->kind) {
	case PRINT_VALUE_CONSTANT:
		*ret_number = value->number;
		return true;
	case PRINT_VALUE_FIELD:
		return print_value_of(value, data, size, ret_number);
	case PRINT_VALUE_INDEX:
		return compute_index(value, data, size, ret_number);
	case PRINT_VALUE_LENGTH:
		return compute_length(value, data, size, ret_number);
	case PRINT_VALUE_MASK:
		if (!print_value_of(value->left, data, size, &left))
			return false;
		*ret_number = left & value->number;
		return true;
	case PRINT_VALUE_CHOICE:
		if (!print_value_of(value->left, data, size, &left))
			return false;
		return print_value_of(left ? value->right : value->other, data, size, ret_number);
	default:
		return print_value_of(value->left, data, size, &left) &&
		       print_value_of(value->right, data, size, &right) &&
		       combine(value->kind, left, right, ret_number);
	}
}

/* --------------------------------------------------------------------------------------------------- dynamic fields */

bool print_dynamic_open(const struct tep_format_field *field, struct print_dynamic *ret_dynamic)
{
	if (field->offset < 0 || field->size != 4)
		return false;
	*ret_dynamic = (struct print_dynamic){
		.where = { .kind = PRINT_VALUE_FIELD, .offset = (uint32_t)field->offset, .size = 4,
			   .is_swapped = print_value_is_swapped(field->event->tep) },
		.base = field->flags & TEP_FIELD_IS_RELATIVE ? (uint32_t)field->offset + 4u : 0,
	};
	return true;
}

bool print_dynamic_of(const struct print_dynamic *dynamic, const unsigned char *data, uint32_t size,
		      uint32_t *ret_offset, uint32_t *ret_length)
{
	uint64_t number;

	if (dynamic->where.offset + 4u > size ||
	    !print_value_load(&dynamic->where, data, dynamic->where.offset, &number))
		return false;
	*ret_offset = (uint32_t)(number & 0xffff) + dynamic->base;
	*ret_length = (uint32_t)(number >> 16);
	return *ret_offset <= size && *ret_length <= size - *ret_offset;
}
