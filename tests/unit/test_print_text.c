/* SPDX-License-Identifier: MIT */
/* Numbers without printf (format/print/print_text.h) are the same as with it. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/print/print_text.h"

static const uint64_t numbers[] = {
	0, 1, 7, 8, 9, 10, 99, 100, 101, 127, 128, 255, 256, 9999, 32767, 32768, 65535, 65536, 999999, 1000000,
	2147483647, 2147483648, 4294967295, 4294967296, UINT64_C(999999999999), UINT64_C(0x7fffffffffffffff),
	UINT64_C(0x8000000000000000), UINT64_MAX,
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* The result of printf for the same conversion. */
static int expected(char *to, size_t size, uint64_t number, const struct print_conversion *how)
{
	const char *lengths[] = { [8] = "hh", [16] = "h", [32] = "", [64] = "ll" };
	char format[64], precision[16] = "", width[16] = "";

	if (how->has_precision)
		snprintf(precision, sizeof(precision), ".%u", how->precision);
	if (how->width)
		snprintf(width, sizeof(width), "%u", how->width);
	snprintf(format, sizeof(format), "%%%s%s%s%s%s%s%s%c", how->left ? "-" : "", how->zero ? "0" : "",
		 how->plus ? "+" : "",
		 how->alternate ? "#" : "", width, precision, lengths[how->bits], how->letter);
	return how->bits == 64 ? snprintf(to, size, format, number) : snprintf(to, size, format, (unsigned int)number);
}

static void compare(uint64_t number, const struct print_conversion *how)
{
	struct print_text text = { 0 };
	char wanted[128];
	const int size = expected(wanted, sizeof(wanted), number, how);

	print_text_number(&text, number, how);
	cr_assert(text.size == (size_t)size && !memcmp(text.text, wanted, text.size),
		  "%" PRIx64 " as %c of %u bits, width %u, precision %u: '%.*s' and not "
		  "'%s'", number, how->letter, how->bits,
		  how->width, how->precision, (int)text.size, text.text, wanted);
	print_text_free(&text);
}

Test(print_text, conversions_are_those_of_printf)
{
	const unsigned char bits[] = { 8, 16, 32, 64 };
	const unsigned short widths[] = { 0, 1, 3, 8, 20, 40 };

	for (const char *letter = "duxXo"; *letter; letter++)
		for (unsigned int flags = 0; flags < 32; flags++)
			for (size_t b = 0; b < NR(bits); b++)
				for (size_t w = 0; w < NR(widths); w++)
					for (size_t n = 0; n < NR(numbers); n++) {
						const struct print_conversion how = {
							.letter = *letter,
							.left = flags & 1,
							.zero = flags & 2,
							.plus = flags & 4 && *letter == 'd',
							.alternate = flags & 8 && (*letter == 'x' || *letter == 'X'),
							.has_precision = flags & 16,
							.bits = bits[b],
							.width = widths[w],
							.precision = widths[NR(widths) - 1 - w] / 2,
						};

						compare(numbers[n], &how);
					}
}

Test(print_text, decimals_are_padded)
{
	for (unsigned int width = 0; width < 24; width++)
		for (size_t n = 0; n < NR(numbers); n++) {
			struct print_text text = { 0 };
			char wanted[64];
			const int size = snprintf(wanted, sizeof(wanted), "%*" PRIu64, (int)width, numbers[n]);

			print_text_decimal(&text, numbers[n], width, ' ');
			cr_assert(text.size == (size_t)size && !memcmp(text.text, wanted, text.size));
			print_text_free(&text);
		}
}

/* Pieces of every length, so that each way to copy is used, at every distance from the end of the room. */
Test(print_text, grows_by_pieces)
{
	struct print_text text = { 0 };
	char wanted[65536];
	size_t size = 0;

	for (size_t length = 0; size + length < sizeof(wanted); length = (length + 1) % 70) {
		for (size_t i = 0; i < length; i++)
			wanted[size + i] = (char)('a' + (size + i) % 26);
		print_text_put(&text, wanted + size, length);
		size += length;
	}
	cr_assert_eq(text.size, size);
	cr_assert(!memcmp(text.text, wanted, size));
	cr_assert(!text.failed);
	print_text_free(&text);
}
