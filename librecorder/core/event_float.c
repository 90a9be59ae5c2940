/* SPDX-License-Identifier: MIT */
/*
 * How a print format shows an f32 or f64. libtraceevent supports only whole numbers, so the decimal digits are computed
 * from the bits of the number, in unsigned arithmetic of 64 bits:
 *
 *	magnitude	the bits of a double without its sign. Those of a float become the same by shifting the
 *			exponent's bias. For a float without a leading 1 the result is wrong, but also tiny.
 *	2^-20 to 2^43	mantissa * 10^6, shifted right and rounded: six decimals. A double has 53 bits and 10^6 = 2^6 *
 *			15625 has 14 more, so the last three bits of the mantissa are left out: 15 digits are right.
 *	up to 2^64	the whole part
 *	beyond		the limit itself, with < or > before it. These compare magnitudes: <-0.000001 is a negative
 *			number.
 *
 * All shifts are by 0 to 63 bits, because ?: evaluates one side only. libtraceevent ignores the parentheses of a right
 * operand whose operator binds less tightly than the one before it: 1 - (x >> 2) is (1 - x) >> 2. So the exponent is
 * divided out, not shifted out, and a conditional is multiplied by -1, not subtracted.
 */
#include <inttypes.h>
#include <stdio.h>

#include "librecorder/core/event_text_private.h"

#define ONE	 (UINT64_C(1) << 52) /* in the exponent */
#define SMALLEST 1003u		     /* exponents of 2^-20, 2^43, 2^52 and 2^64 */
#define NO_PART	 1066u
#define WHOLE	 1075u
#define LARGEST	 1087u

/* Expressions, and the magnitudes of zero and infinity. */
struct parts {
	char magnitude[REC_IDENT_MAX + 64];
	char exponent[REC_IDENT_MAX + 96];
	char mantissa[REC_IDENT_MAX + 128];
	char scaled[2 * REC_IDENT_MAX + 320];
	uint64_t zero, infinity;
};

/* A word as an argument of "%.*s". */
#define WORD(w) (int)(w).size, (w).text

static void describe(const struct rec_field *field, struct parts *parts)
{
	if (field->element == 4) {
		parts->zero = 896 * ONE;
		parts->infinity = 1151 * ONE;
		snprintf(parts->magnitude, sizeof(parts->magnitude), "(((REC->%.*s & 2147483647) << 29) + %" PRIu64 ")",
			 WORD(field->name), parts->zero);
	} else {
		parts->zero = 0;
		parts->infinity = 2047 * ONE;
		snprintf(parts->magnitude, sizeof(parts->magnitude), "(REC->%.*s & 9223372036854775807)",
			 WORD(field->name));
	}
	snprintf(parts->exponent, sizeof(parts->exponent), "(%s / %" PRIu64 ")", parts->magnitude, ONE);
	snprintf(parts->mantissa, sizeof(parts->mantissa), "((%s & %" PRIu64 ") | %" PRIu64 ")", parts->magnitude,
		 ONE - 1, ONE);
	snprintf(parts->scaled, sizeof(parts->scaled), "(((((%s >> 3) * 15625) >> (%u - %s)) + 1) >> 1)",
		 parts->mantissa, NO_PART - 1, parts->exponent);
}

/* Put the expression for the whole part of the magnitude; for NaN it is 0. */
static int put_whole(const struct parts *p, char *text, size_t size)
{
	return snprintf(text, size,
			"((%s < %u) ? 0 : ((%s < %u) ? (%s / 1000000) : ((%s < %u) ? (%s >> (%u - %s)) : "
			"((%s < %u) ? (%s << (%s - %u)) : ((%s > %" PRIu64 ") ? 0 : %" PRIu64 ")))))",
			p->exponent, SMALLEST, p->exponent, NO_PART, p->scaled, p->exponent, WHOLE, p->mantissa, WHOLE,
			p->exponent, p->exponent, LARGEST, p->mantissa, p->exponent, WHOLE, p->magnitude, p->infinity,
			UINT64_MAX);
}

void rec_float_arguments(const struct rec_field *field, char *text, size_t size)
{
	struct parts p;
	int used;

	describe(field, &p);
	used = snprintf(text, size,
			"(%s > %" PRIu64 ") ? \"nan \" : \"\", ((%s - %" PRIu64 ") < %" PRIu64 ") ? \"<\" : \"\", "
			"((%s - %" PRIu64 ") <= %" PRIu64 ") ? \">\" : \"\", (REC->%.*s >> %u) ? \"-\" : \"\", ",
			p.magnitude, p.infinity, p.magnitude, p.zero + 1, SMALLEST * ONE - p.zero - 1, p.magnitude,
			LARGEST * ONE, p.infinity - LARGEST * ONE, WORD(field->name), field->element * 8 - 1);
	used += put_whole(&p, text + used, size - (size_t)used);
	snprintf(text + used, size - (size_t)used,
		 ", ((%s < %u) ? (%s > %" PRIu64 ") : ((%s < %u) ? (%s %% 1000000) : 0))", p.exponent, SMALLEST,
		 p.magnitude, p.zero, p.exponent, NO_PART, p.scaled);
}

const char *rec_float_whole(const struct rec_field *field, char *text, size_t size)
{
	char whole[REC_FLOAT_TEXT_MAX / 3];
	struct parts p;

	describe(field, &p);
	put_whole(&p, whole, sizeof(whole));
	snprintf(text, size, "((REC->%.*s >> %u) ? (%s * 18446744073709551615) : %s)", WORD(field->name),
		 field->element * 8 - 1, whole, whole);
	return text;
}
