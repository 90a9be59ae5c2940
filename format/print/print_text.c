/* SPDX-License-Identifier: MIT */
#include "format/print/print_text.h"

#include <stdlib.h>

void print_text_free(struct print_text *text)
{
	free(text->text);
	*text = (struct print_text){ 0 };
}

bool print_text_grow(struct print_text *text, size_t more)
{
	size_t room = text->room ? text->room : 256;
	char *grown;

	if (text->failed)
		return false;
	while (room - text->size <= more)
		room *= 2;
	grown = realloc(text->text, room);
	if (!grown) {
		text->failed = true;
		return false;
	}
	text->text = grown;
	text->room = room;
	return true;
}

void print_text_fill(struct print_text *text, char c, size_t count)
{
	char *to = print_text_room(text, count);

	if (!to)
		return;
	memset(to, c, count);
	text->size += count;
}

/* ---------------------------------------------------------------------------------------------------------- digits */

static const char pairs[] =
	"0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
	"5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

char *print_decimal_digits(char *end, uint64_t number)
{
	while (number >= 100) {
		const uint64_t rest = number / 100;

		end -= 2;
		memcpy(end, pairs + 2 * (number - 100 * rest), 2);
		number = rest;
	}
	if (number >= 10) {
		end -= 2;
		memcpy(end, pairs + 2 * number, 2);
		return end;
	}
	*--end = (char)('0' + number);
	return end;
}

static char *put_digits(char *end, uint64_t number, unsigned int shift, const char *digits)
{
	do {
		*--end = digits[number & ((1u << shift) - 1u)];
		number >>= shift;
	} while (number);
	return end;
}

char *print_hex_digits(char *end, uint64_t number)
{
	do {
		*--end = "0123456789abcdef"[number & 15];
		number >>= 4;
	} while (number);
	return end;
}

void print_text_decimal(struct print_text *text, uint64_t number, unsigned int width, char fill)
{
	char digits[PRINT_DIGITS], *end = digits + sizeof(digits), *at = print_decimal_digits(end, number);
	const size_t size = (size_t)(end - at);

	if (size < width)
		print_text_fill(text, fill, width - size);
	print_text_put(text, at, size);
}

void print_text_hex(struct print_text *text, uint64_t number)
{
	char digits[PRINT_DIGITS], *end = digits + sizeof(digits), *at = print_hex_digits(end, number);

	print_text_put(text, at, (size_t)(end - at));
}

void print_text_byte(struct print_text *text, unsigned char byte)
{
	static const char digits[] = "0123456789abcdef";
	const char pair[2] = { digits[byte >> 4], digits[byte & 15] };

	print_text_put(text, pair, sizeof(pair));
}

/* ----------------------------------------------------------------------------------------------------- conversions */

static void put_character(struct print_text *text, uint64_t number, const struct print_conversion *how)
{
	if (how->width > 1 && !how->left)
		print_text_fill(text, ' ', how->width - 1u);
	print_text_putc(text, (char)number);
	if (how->width > 1 && how->left)
		print_text_fill(text, ' ', how->width - 1u);
}

/* The value that the conversion prints: cut to its bits; a negative number becomes its magnitude. */
static uint64_t cut(uint64_t number, const struct print_conversion *how, bool *ret_negative)
{
	const unsigned int unused = 64u - how->bits;

	*ret_negative = false;
	if (how->letter != 'd')
		return number << unused >> unused;
	number = (uint64_t)((int64_t)(number << unused) >> unused);
	*ret_negative = (int64_t)number < 0;
	return *ret_negative ? 0 - number : number;
}

static char *put_letter(char *end, uint64_t number, char letter)
{
	switch (letter) {
	case 'x':
		return print_hex_digits(end, number);
	case 'X':
		return put_digits(end, number, 4, "0123456789ABCDEF");
	case 'o':
		return put_digits(end, number, 3, "01234567");
	default:
		return print_decimal_digits(end, number);
	}
}

void print_text_number(struct print_text *text, uint64_t number, const struct print_conversion *how)
{
	char digits[PRINT_DIGITS], *end = digits + sizeof(digits), *at, prefix[3];
	size_t size, zeros = 0, spaces = 0, nr_prefix = 0;
	bool negative;

	if (how->letter == 'c') {
		put_character(text, number, how);
		return;
	}
	number = cut(number, how, &negative);
	at = put_letter(end, number, how->letter);
	if (how->has_precision && !how->precision && !number)
		at = end;
	size = (size_t)(end - at);
	if (negative)
		prefix[nr_prefix++] = '-';
	else if (how->plus && how->letter == 'd')
		prefix[nr_prefix++] = '+';
	if (how->alternate && number && (how->letter == 'x' || how->letter == 'X')) {
		prefix[nr_prefix++] = '0';
		prefix[nr_prefix++] = how->letter;
	}
	if (how->has_precision && how->precision > size)
		zeros = how->precision - size;
	if (how->width > size + zeros + nr_prefix)
		spaces = how->width - size - zeros - nr_prefix;
	if (how->zero && !how->left && !how->has_precision) {
		zeros = spaces;
		spaces = 0;
	}
	if (spaces && !how->left)
		print_text_fill(text, ' ', spaces);
	print_text_put(text, prefix, nr_prefix);
	if (zeros)
		print_text_fill(text, '0', zeros);
	print_text_put(text, at, size);
	if (spaces && how->left)
		print_text_fill(text, ' ', spaces);
}
