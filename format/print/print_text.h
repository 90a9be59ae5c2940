/* SPDX-License-Identifier: MIT */
/*
 * A text that grows at its end; and numbers in it, as printf prints them for %d, %u and %x, without parsing a format.
 * If there is no memory, `failed` is set, the text stays as it is, and later calls add nothing.
 */
#ifndef FORMAT_PRINT_TEXT_H
#define FORMAT_PRINT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct print_text {
	char *text; /* without a NUL at its end */
	size_t size, room;
	bool failed;
};

/* The digits of the longest number, in octal. */
#define PRINT_DIGITS 24u

void print_text_free(struct print_text *text);

/* Make room for more than `more` characters at the end. False: not enough memory. */
bool print_text_grow(struct print_text *text, size_t more);

/*
 * Where `more` characters can be written; NULL: not enough memory. There is always room for one more, so an empty text,
 * which has no memory yet, gets some even if nothing is added: in C, a null pointer plus 0 is undefined.
 */
static inline char *print_text_room(struct print_text *text, size_t more)
{
	if (text->room - text->size <= more && !print_text_grow(text, more))
		return NULL;
	return text->text + text->size;
}

/* Copy up to 16 characters without a call, by two moves that may overlap. */
static inline void print_copy_short(char *to, const char *from, size_t size)
{
	if (size >= 8) {
		memcpy(to, from, 8);
		memcpy(to + size - 8, from + size - 8, 8);
	} else if (size >= 4) {
		memcpy(to, from, 4);
		memcpy(to + size - 4, from + size - 4, 4);
	} else if (size) {
		to[0] = from[0];
		to[size / 2] = from[size / 2];
		to[size - 1] = from[size - 1];
	}
}

static inline void print_text_put(struct print_text *text, const char *from, size_t size)
{
	char *to = print_text_room(text, size);

	if (!to)
		return;
	/* The common case. */
	if (size <= 16)
		print_copy_short(to, from, size);
	else
		memcpy(to, from, size);
	text->size += size;
}

static inline void print_text_puts(struct print_text *text, const char *from)
{
	print_text_put(text, from, strlen(from));
}

static inline void print_text_putc(struct print_text *text, char c)
{
	print_text_put(text, &c, 1);
}

void print_text_fill(struct print_text *text, char c, size_t count);

/* Write the number before `end`. Returns its first digit; there are at most PRINT_DIGITS. */
char *print_decimal_digits(char *end, uint64_t number);
char *print_hex_digits(char *end, uint64_t number);

/* Add the number, with zeros or spaces in front of it up to `width` characters. */
void print_text_decimal(struct print_text *text, uint64_t number, unsigned int width, char fill);
void print_text_hex(struct print_text *text, uint64_t number);

/* Add a byte as two hexadecimal digits. */
void print_text_byte(struct print_text *text, unsigned char byte);

/* A conversion of printf for an integer. */
struct print_conversion {
	char letter;		/* one of d u x X o c */
	bool left, zero, plus, alternate;
	bool has_precision;
	unsigned char bits;	/* 8, 16, 32 or 64: the low bits of the number that are printed */
	unsigned short width, precision;
};

void print_text_number(struct print_text *text, uint64_t number, const struct print_conversion *how);

#endif
