/* SPDX-License-Identifier: MIT */
/* Each kind of field, from the macro to the text that libtraceevent prints; and format texts word by word. */
#include "tests/unit/event_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <librecorder/event.h>
#include <librecorder/event_text.h>
#include <librecorder/ffi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum op { OP_GET, OP_PUT, OP_ODD = -3 };
#define LEVEL_HIGH 7
#define THREE	   3

REC_EVENT(text, empty);
REC_EVENT(text, numbers, u8(a), u16(b), u32(c), u64(d), s8(e), s16(f), s32(g), s64(h));
REC_EVENT(text, hexes, hex8(a), hex16(b), hex32(c), hex64(d), ptr(p), flag(on));
REC_EVENT(text, reals, real(a, 3), real(b, 0), real(c, 18), real(d, 1));
REC_EVENT(text, floats, f32(a), f64(b));
REC_EVENT_FMT(text, wholes, ("%lld and %lld", a, b), f32(a), f64(b));
REC_EVENT(text, names, named(op, OP_GET, OP_PUT, OP_ODD), named(u8, level, OP_GET, LEVEL_HIGH), named(s64, w, OP_ODD));
REC_EVENT(text, strings, u8(before), string(a), stringn(b), bytes(c), string(d), u8(after));
REC_EVENT(text, arrays, array(u32, a, THREE), array(s8, b, 2), array(hex16, c, 2), array(u8, d, 33), u8(after));
REC_EVENT(text, signs, array(s16, a, 40), array(hex8, b, 33));
REC_EVENT(text, far, array(s8, a, 600));
REC_EVENT_FMT(text, given, ("[%llu] \"%s\" %s\t%s %hd %s", id, path, REC->on ? "yes" : "no", op, n, __get_str(path)),
	      u64(id), string(path), flag(on), named(op, OP_GET, OP_PUT), s16(n));
REC_EVENT_FMT(text, constant, ("no fields, (not one)"));
REC_EVENT(text, many, u8(f1), u8(f2), u8(f3), u8(f4), u8(f5), u8(f6), u8(f7), u8(f8), u8(f9), u8(f10), u8(f11), u8(f12),
	  u8(f13), u8(f14), u8(f15), u8(f16), u8(f17), u8(f18), u8(f19), u8(f20), u8(f21), u8(f22), u8(f23), u8(f24),
	  u8(f25), u8(f26), u8(f27), u8(f28), u8(f29), u8(f30), u8(f31), string(f32));
REC_SPAN_KEYED(text, both, key(u64(id), named(op, OP_GET, OP_PUT)), string(path), flow(f),
	       end(s32(result), real(load, 2)));
/* Names with another meaning in C or C++, in gnu11 or in <stdio.h>. */
REC_EVENT(linux, stdin, u32(class), u32(unix), u32(SIZE), string(string), flag(flag));

static void expect(const char *expected)
{
	const char *text = event_fixture_text();

	cr_assert_str_eq(text, expected, "\n%s\ninstead of\n%s", text, expected);
}

static void all_on(void)
{
	cr_assert_gt(rec_enable("*"), 0);
}

TestSuite(event_text, .init = all_on);

Test(event_text, reals_are_rounded_once)
{
	REC(text, reals, 0, 4503599627370499.0, 0, 0.04999999999999999);
	REC(text, reals, 0, -9007199254740991.0, 0, -0.05);
	REC(text, reals, 0, 0.49999999999999994, 0, 0.05);
	expect("reals: a=0.000 b=4503599627370499 c=0.000000000000000000 d=0.0\n"
	       "reals: a=0.000 b=-9007199254740991 c=0.000000000000000000 d=-0.1\n"
	       "reals: a=0.000 b=0 c=0.000000000000000000 d=0.1\n");
}

/* Six decimals, which the print format computes from the bits. */
Test(event_text, floats)
{
	REC(text, floats, 0.0f, 0);
	REC(text, floats, -0.0f, -0.0);
	REC(text, floats, 1.5f, -1.5);
	REC(text, floats, 0.1f, 0.3);
	REC(text, floats, 0.999999f, 0.9999999);
	REC(text, floats, 16777216, 123456789.987654);
	REC(text, floats, 0x1p-20f, 0x1p-20);
	REC(text, floats, 0x1.fffffep-21f, -0x1.fffffep-21);
	REC(text, floats, 0x1.fffffep42f, 0x1.fffffffffffffp42);
	REC(text, floats, -0x1p43f, 0x1p43);
	REC(text, floats, 0x1p52f, 9007199254740993.0);
	REC(text, floats, 0x1.fffffep63f, -0x1.fffffffffffffp63);
	REC(text, floats, 0x1p64f, -0x1p64);
	REC(text, floats, 3e38f, 1.7e308);
	REC(text, floats, 1e-40f, 5e-324);
	REC(text, floats, INFINITY, -INFINITY);
	REC(text, floats, NAN, (double)NAN);
	REC(text, wholes, -1.75f, 1e12);
	expect("floats: a=0.000000 b=0.000000\n"
	       "floats: a=-0.000000 b=-0.000000\n"
	       "floats: a=1.500000 b=-1.500000\n"
	       "floats: a=0.100000 b=0.300000\n"
	       "floats: a=0.999999 b=1.000000\n"
	       "floats: a=16777216.000000 b=123456789.987654\n"
	       "floats: a=0.000001 b=0.000001\n"
	       "floats: a=<0.000001 b=<-0.000001\n"
	       "floats: a=8796092497920.000000 b=8796093022207.992188\n"
	       "floats: a=-8796093022208.000000 b=8796093022208.000000\n"
	       "floats: a=4503599627370496.000000 b=9007199254740992.000000\n"
	       "floats: a=18446742974197923840.000000 b=-18446744073709549568.000000\n"
	       "floats: a=>18446744073709551615.000000 b=>-18446744073709551615.000000\n"
	       "floats: a=>18446744073709551615.000000 b=>18446744073709551615.000000\n"
	       "floats: a=<0.000001 b=<0.000001\n"
	       "floats: a=>18446744073709551615.000000 b=>-18446744073709551615.000000\n"
	       "floats: a=nan 0.000000 b=nan 0.000000\n"
	       "wholes: -1 and 1000000000000\n");
}

/*
 * Compared with printf, for numbers of all sizes that have six decimals in a text. None is halfway between two texts.
 */
Test(event_text, floats_as_printf_has_them)
{
	char expected[64 * 1024] = "", *at = expected;

	srand(1);
	for (unsigned int i = 0; i < 500; i++) {
		const double wide = ldexp((double)(rand() | 1), rand() % 30 - 40);
		const float single = ldexpf((float)(rand() % (1 << 23) | 1), rand() % 12 - 19);

		REC(text, floats, single, -wide);
		at += sprintf(at, wide < 0x1p-20 ? "floats: a=%.6f b=<-0.000001\n" : "floats: a=%.6f b=%.6f\n",
			      (double)single, -wide);
	}
	expect(expected);
}

/* The longest declaration that a compiler accepts without a warning has a text. */
Test(event_text, the_longest_floats)
{
	char declaration[8192] = "longest", text[REC_EVENT_TEXT_MAX];
	struct rec_event *event;

	for (unsigned int i = 0; i < REC_FIELDS_MAX; i++)
		sprintf(declaration + strlen(declaration), ", f32(%0*u)", (int)REC_IDENT_MAX, i);
	for (char *zero = strchr(declaration, '('); zero; zero = strchr(zero + 1, '('))
		zero[1] = 'a';
	cr_assert_eq(rec_event_declare("text", declaration, NULL, 0, &event), 0);
	cr_assert_gt(rec_event_text(event->description, 1, text, sizeof(text)), 0);
}

Test(event_text, no_fields)
{
	REC(text, empty);
	expect("empty: \n");
}

/* A sign is shown wherever it is in an array. */
Test(event_text, long_arrays)
{
	char expected[4096] = "signs: a={", *at = expected + strlen(expected);
	int16_t a[40];
	uint8_t b[33];
	int8_t far[600];

	for (int i = 0; i < 40; i++) {
		a[i] = (int16_t)(i % 2 ? -i : i);
		at += sprintf(at, "%s%d", i ? "," : "", a[i]);
	}
	at += sprintf(at, "} b={");
	for (unsigned int i = 0; i < 33; i++) {
		b[i] = (uint8_t)(7 * i);
		at += sprintf(at, "%s0x%x", i ? "," : "", b[i]);
	}
	at += sprintf(at, "}\nfar: a={");
	for (int i = 0; i < 600; i++)
		far[i] = (int8_t)(i % 2 ? -1 : 1);
	for (int i = 0; i < 500; i++)
		at += sprintf(at, "%s%d", i ? "," : "", far[i]);
	sprintf(at, ",...}\n");
	REC(text, signs, a, b);
	REC(text, far, far);
	expect(expected);
}

Test(event_text, numbers_at_their_limits)
{
	REC(text, numbers, 0, 0, 0, 0, 0, 0, 0, 0);
	REC(text, numbers, UINT8_MAX, UINT16_MAX, UINT32_MAX, UINT64_MAX, INT8_MAX, INT16_MAX, INT32_MAX, INT64_MAX);
	REC(text, numbers, 1, 2, 3, 4, INT8_MIN, INT16_MIN, INT32_MIN, INT64_MIN);
	REC(text, numbers, 1, 2, 3, 4, -1, -1, -1, -1);
	expect("numbers: a=0 b=0 c=0 d=0 e=0 f=0 g=0 h=0\n"
	       "numbers: a=255 b=65535 c=4294967295 d=18446744073709551615 e=127 f=32767 g=2147483647 "
	       "h=9223372036854775807\n"
	       "numbers: a=1 b=2 c=3 d=4 e=-128 f=-32768 g=-2147483648 h=-9223372036854775808\n"
	       "numbers: a=1 b=2 c=3 d=4 e=-1 f=-1 g=-1 h=-1\n");
}

Test(event_text, hexadecimal_pointers_flags)
{
	REC(text, hexes, 0xab, 0xabcd, 0xabcdef01, UINT64_C(0xabcdef0123456789), (const void *)0x7ffe12345678, true);
	REC(text, hexes, 0, 0, 0, 0, NULL, false);
	expect("hexes: a=0xab b=0xabcd c=0xabcdef01 d=0xabcdef0123456789 p=0x7ffe12345678 on=1\n"
	       "hexes: a=0x0 b=0x0 c=0x0 d=0x0 p=0x0 on=0\n");
}

Test(event_text, reals)
{
	REC(text, reals, 0.5, 1.5, 0.25, 2.25);
	REC(text, reals, -0.5, -7, -1, -0.05);
	REC(text, reals, -0.0004, -0.4, -0.0, 0.04);
	REC(text, reals, 1e300, -1e300, NAN, -INFINITY);
	expect("reals: a=0.500 b=2 c=0.250000000000000000 d=2.3\n"
	       "reals: a=-0.500 b=-7 c=-1.000000000000000000 d=-0.1\n"
	       "reals: a=0.000 b=0 c=0.000000000000000000 d=0.0\n"
	       "reals: a=9223372036854775.807 b=-9223372036854775807 c=-9.223372036854775808 "
	       "d=-922337203685477580.7\n");
}

Test(event_text, named_values)
{
	const enum op op = OP_PUT;

	REC(text, names, op, LEVEL_HIGH, OP_ODD);
	REC(text, names, OP_ODD, 9, -1);
	expect("names: op=OP_PUT level=LEVEL_HIGH w=OP_ODD\n"
	       "names: op=OP_ODD level=0x9 w=0xffffffffffffffff\n");
}

Test(event_text, strings_and_bytes)
{
	REC(text, strings, 1, "first", "second and more", 6, "\x01\xfe", 2, "last", 2);
	REC(text, strings, 1, "", "", 0, "", 0, "", 2);
	REC(text, strings, 1, NULL, NULL, 77, NULL, 77, NULL, 2);
	expect("strings: before=1 a=first b=second c=01fe d=last after=2\n"
	       "strings: before=1 a= b= c= d= after=2\n"
	       "strings: before=1 a=(null) b=(null) c= d=(null) after=2\n");
}

Test(event_text, arrays)
{
	static const uint32_t a[THREE] = { 1, 2, UINT32_MAX };
	static const int8_t b[] = { -1, 127 };
	static const uint16_t c[] = { 0, 0xbeef };
	static const uint8_t d[33] = { 255, 1 };

	REC(text, arrays, a, b, c, d, 9);
	expect("arrays: a={1,2,4294967295} b={-1,127} c={0x0,0xbeef} "
	       "d={255 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0} after=9\n");
}

Test(event_text, given_formats)
{
	REC(text, given, 17, "/a b", true, OP_PUT, -2);
	REC(text, constant);
	expect("given: [17] \"/a b\" yes\tOP_PUT -2 /a b\n"
	       "constant: no fields, (not one)\n");
}

Test(event_text, thirty_two_fields)
{
	REC(text, many, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26,
	    27, 28, 29, 30, 31, "end");
	expect("many: f1=1 f2=2 f3=3 f4=4 f5=5 f6=6 f7=7 f8=8 f9=9 f10=10 f11=11 f12=12 f13=13 f14=14 f15=15 f16=16 "
	       "f17=17 f18=18 f19=19 f20=20 f21=21 f22=22 f23=23 f24=24 f25=25 f26=26 f27=27 f28=28 f29=29 f30=30 "
	       "f31=31 "
	       "f32=end\n");
}

Test(event_text, names_that_mean_something_else)
{
	REC(linux, stdin, 1, 2, 3, "x", true);
	expect("stdin: class=1 unix=2 SIZE=3 string=x flag=1\n");
}

/* ------------------------------------------------------------------------------------------------ golden texts */

#define COMMON                                                                                                         \
	"format:\n"                                                                                                    \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                                         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                                         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"                                 \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static void expect_format(const struct rec_event *event, const char *expected)
{
	char text[REC_EVENT_TEXT_MAX];
	const int n = rec_event_text(event->description, 16385, text, sizeof(text));

	cr_assert_str_eq(text, expected, "\n%s\ninstead of\n%s", text, expected);
	cr_assert_eq(n, (int)strlen(expected));
	cr_assert_eq(rec_event_text(event->description, 16385, text, (size_t)n), -ENOSPC);
	cr_assert_eq(rec_event_text(event->description, 16385, text, 1), -ENOSPC);
}

Test(event_text, golden_formats)
{
	expect_format(&rec_event_text__empty, "name: empty\nID: 16385\n" COMMON "\nprint fmt: \"\"\n");
	expect_format(
		&rec_event_text__names,
		"name: names\nID: 16385\n" COMMON "\tfield:s32 op;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:u8 level;\toffset:12;\tsize:1;\tsigned:0;\n"
		"\tfield:s64 w;\toffset:13;\tsize:8;\tsigned:1;\n"
		"\nprint fmt: \"op=%s level=%s w=%s\", __print_symbolic(REC->op, { 0, \"OP_GET\" }, { 1, \"OP_PUT\" }, "
		"{ 4294967293, \"OP_ODD\" }), __print_symbolic(REC->level, { 0, \"OP_GET\" }, { 7, \"LEVEL_HIGH\" }), "
		"__print_symbolic(REC->w, { 18446744073709551613, \"OP_ODD\" })\n");
	expect_format(
		&rec_event_text__strings,
		"name: strings\nID: 16385\n" COMMON "\tfield:u8 before;\toffset:8;\tsize:1;\tsigned:0;\n"
		"\tfield:__data_loc char[] a;\toffset:9;\tsize:4;\tsigned:0;\n"
		"\tfield:__data_loc char[] b;\toffset:13;\tsize:4;\tsigned:0;\n"
		"\tfield:__data_loc u8[] c;\toffset:17;\tsize:4;\tsigned:0;\n"
		"\tfield:__data_loc char[] d;\toffset:21;\tsize:4;\tsigned:0;\n"
		"\tfield:u8 after;\toffset:25;\tsize:1;\tsigned:0;\n"
		"\nprint fmt: \"before=%u a=%s b=%s c=%s d=%s after=%u\", REC->before, __get_str(a), __get_str(b), "
		"__print_hex_str(__get_dynamic_array(c), __get_dynamic_array_len(c)), __get_str(d), REC->after\n");
	expect_format(
		&rec_event_text__given,
		"name: given\nID: 16385\n" COMMON "\tfield:u64 id;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:__data_loc char[] path;\toffset:16;\tsize:4;\tsigned:0;\n"
		"\tfield:bool on;\toffset:20;\tsize:1;\tsigned:0;\n"
		"\tfield:s32 op;\toffset:21;\tsize:4;\tsigned:1;\n"
		"\tfield:s16 n;\toffset:25;\tsize:2;\tsigned:1;\n"
		"\nprint fmt: \"[%llu] \\\"%s\\\" %s\\t%s %hd %s\", REC->id, __get_str(path), REC->on ? \"yes\" : "
		"\"no\", "
		"__print_symbolic(REC->op, { 0, \"OP_GET\" }, { 1, \"OP_PUT\" }), REC->n, __get_str(path)\n");
	expect_format(
		&rec_event_text__hexes,
		"name: hexes\nID: 16385\n" COMMON "\tfield:u8 a;\toffset:8;\tsize:1;\tsigned:0;\n"
		"\tfield:u16 b;\toffset:9;\tsize:2;\tsigned:0;\n"
		"\tfield:u32 c;\toffset:11;\tsize:4;\tsigned:0;\n"
		"\tfield:u64 d;\toffset:15;\tsize:8;\tsigned:0;\n"
		"\tfield:void * p;\toffset:23;\tsize:8;\tsigned:0;\n"
		"\tfield:bool on;\toffset:31;\tsize:1;\tsigned:0;\n"
		"\nprint fmt: \"a=0x%llx b=0x%llx c=0x%llx d=0x%llx p=0x%llx on=%u\", REC->a, REC->b, REC->c, REC->d, "
		"REC->p, REC->on\n");
}

/* ----------------------------------------------------------------------------------------------- malformed ones */

struct made {
	struct rec_log_event event;
	int64_t numbers[4];
	char text[256];
};

static struct made make(const char *system, const char *declaration, uint32_t nr, int64_t a, int64_t b, int64_t c)
{
	struct made made = { .event = { { sizeof(made), REC_LOG_EVENT, 0 }, nr, 0 }, .numbers = { a, b, c, 0 } };
	char *text = (char *)&made.numbers[nr];

	strcpy(text, system);
	strcpy(text + strlen(system) + 1, declaration);
	made.event.text_size = (uint32_t)(strlen(system) + strlen(declaration) + 2);
	return made;
}

Test(event_text, well_formed_by_hand)
{
	struct rec_event_info info;
	struct made made = make("s", "n, array ( u16 , v , WIDTH(2, 3) ) , u8(x)", 2, 21, 6, 0);

	/* The cases below are variations of this. */
	cr_assert_eq(rec_event_parse(&made.event, &info), 0);
	cr_assert_eq(info.nr_fields, 2);
	cr_assert_eq(info.fields[0].length, 6);
	cr_assert_eq(info.fields[0].size, 12);
	cr_assert_eq(info.fields[1].offset, 20);
	cr_assert_eq(info.fixed_size, 21);
	cr_assert_eq(info.fields[0].declared.size, strlen("array ( u16 , v , WIDTH(2, 3) )"));
}

Test(event_text, malformed_descriptions_are_refused)
{
	static const struct {
		const char *system, *declaration;
		uint32_t nr;
		int64_t a, b, c;
	} cases[] = {
		{ "", "n", 1, 8, 0, 0 },
		{ "s s", "n", 1, 8, 0, 0 },
		{ "s\n", "n", 1, 8, 0, 0 },
		{ "s", "", 1, 8, 0, 0 },
		{ "s", "9n", 1, 8, 0, 0 },
		{ "s", "n-n", 1, 8, 0, 0 },
		{ "s", "n", 0, 0, 0, 0 },		/* no size */
		{ "s", "n", 1, 9, 0, 0 },		/* another size */
		{ "s", "n", 2, 8, 1, 0 },		/* a constant too many */
		{ "s", "n,", 1, 8, 0, 0 },
		{ "s", "n, u8", 1, 9, 0, 0 },
		{ "s", "n, u8(", 1, 9, 0, 0 },
		{ "s", "n, u8()", 1, 9, 0, 0 },
		{ "s", "n, u8(a b)", 1, 9, 0, 0 },
		{ "s", "n, u8(a", 1, 9, 0, 0 },
		{ "s", "n, u9(a)", 1, 9, 0, 0 },
		{ "s", "n, u8(a) u8(b)", 1, 10, 0, 0 },
		{ "s", "n, u8(a), (\"x\")", 1, 9, 0, 0 }, /* the format is the first field */
		{ "s", "n, (\"x)", 1, 8, 0, 0 },
		{ "s", "n, ()", 1, 8, 0, 0 },
		{ "s", "n, array(u8, a, 2)", 1, 10, 0, 0 },
		{ "s", "n, array(u8, a, 2)", 2, 8, 0, 0 },
		{ "s", "n, array(u8, a, 2)", 2, 7, -1, 0 },
		{ "s", "n, array(u8, a, 2)", 2, 65544, 65536, 0 },
		{ "s", "n, array(u64, a, 2)", 2, 8, 65535, 0 },
		{ "s", "n, array(ptr, a, 2)", 2, 24, 2, 0 },
		{ "s", "n, array(u8, a)", 2, 10, 2, 0 },
		{ "s", "n, real(a, 3)", 1, 16, 0, 0 },
		{ "s", "n, real(a, 3)", 2, 16, 19, 0 },
		{ "s", "n, real(a, 3)", 2, 16, -1, 0 },
		{ "s", "n, named(a, A)", 1, 12, 0, 0 },
		{ "s", "n, named(a, A)", 2, 12, 1, 0 },
		{ "s", "n, named(a, A)", 3, 12, 2, 0 },
		{ "s", "n, named(a, A)", 2, 12, INT64_MAX, 0 },
		{ "s", "n, named(a)", 3, 12, 1, 0 },
		{ "s", "n, named(u8, A)", 3, 9, 1, 0 },
	};
	struct rec_event_info info;
	struct made made;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		made = make(cases[i].system, cases[i].declaration, cases[i].nr, cases[i].a, cases[i].b, cases[i].c);
		cr_assert_eq(rec_event_parse(&made.event, &info), -EBADMSG, "%s:%s", cases[i].system,
			     cases[i].declaration);
	}
}

Test(event_text, sizes_are_bounded_by_the_record)
{
	struct made made = make("s", "n, u8(a)", 1, 9, 0, 0);
	struct rec_event_info info;

	cr_assert_eq(rec_event_parse(&made.event, &info), 0);
	made.event.text_size = sizeof(made) - sizeof(made.event) - 8;
	cr_assert_eq(rec_event_parse(&made.event, &info), 0, "zeros may follow");
	made.event.text_size++;
	cr_assert_eq(rec_event_parse(&made.event, &info), -EBADMSG);
	made.event.text_size = UINT32_MAX;
	cr_assert_eq(rec_event_parse(&made.event, &info), -EBADMSG);
	made.event.text_size = 5;
	cr_assert_eq(rec_event_parse(&made.event, &info), -EBADMSG, "not ended");
	made = make("s", "n, u8(a)", 1, 9, 0, 0);
	made.event.nr_numbers = UINT32_MAX;
	cr_assert_eq(rec_event_parse(&made.event, &info), -EBADMSG);
	made = make("s", "n, u8(a)", 1, 9, 0, 0);
	made.event.record.size = sizeof(made.event.record);
	cr_assert_eq(rec_event_parse(&made.event, &info), -EBADMSG);
}

Test(event_text, nothing_hostile_comes_out)
{
	struct made made = make("s", "n, named(a, \"}, \\evil\", B\n\xff)", 4, 12, 2, 1);
	char text[REC_EVENT_TEXT_MAX];

	made.numbers[3] = 5;
	cr_assert_gt(rec_event_text(&made.event, 1, text, sizeof(text)), 0);
	cr_assert(strstr(text, "__print_symbolic(REC->a, { 1, \"_}, _evil_\" }, { 5, \"B__\" })\n"), "%s", text);

	made = make("s", "n, (\"\x01\n\xc3\xa4 \\\" a\", a), u8(a)", 1, 9, 0, 0);
	cr_assert_gt(rec_event_text(&made.event, 1, text, sizeof(text)), 0);
	cr_assert(strstr(text, "print fmt: \"???? \\\" a\", REC->a\n"), "%s", text);
}

/*
 * For all bytes the functions return, and read nothing outside of the record (the sanitizers would report it).
 */
Test(event_text, any_bytes)
{
	const struct rec_event *events[] = { &rec_event_text__names,   &rec_event_text__arrays,
					     &rec_event_text__given,   &rec_event_text__reals,
					     &rec_event_text__wholes,  &rec_event_text__both_begin,
					     &rec_event_text__both_end };
	char text[REC_EVENT_TEXT_MAX];
	struct rec_event_info info;
	unsigned int good = 0;

	srand(1);
	for (unsigned int round = 0; round < 40000; round++) {
		const struct rec_log_event *from = events[round % (sizeof(events) / sizeof(events[0]))]->description;
		const uint32_t size = from->record.size;
		struct rec_log_event *event = malloc(size);

		memcpy(event, from, size);
		for (unsigned int flips = 0; flips < 1 + round % 3; flips++)
			((unsigned char *)event)[8 + (unsigned int)rand() % (size - 8)] ^=
				(unsigned char)(1 << rand() % 8);
		good += rec_event_parse(event, &info) == 0;
		rec_event_text(event, 1, text, sizeof(text));
		rec_event_same(event, from);
		rec_event_hash(event);
		rec_event_meaning(event);
		free(event);
	}
	cr_assert_gt(good, 100, "some flips leave a good description");
	cr_assert_lt(good, 30000);
}

Test(event_text, sameness)
{
	struct made a = make("s", "n, (\"a  b\"), u8(x), array(u8, y, N)", 2, 11, 2, 0);
	struct made b = make("s", "n,(\"a  b\"),u8(x),array(u8,y,N)", 2, 11, 2, 0);

	cr_assert(rec_event_same(&a.event, &b.event));
	cr_assert_eq(rec_event_hash(&a.event), rec_event_hash(&b.event));
	b = make("s", "n, (\"a b\"), u8(x), array(u8, y, N)", 2, 11, 2, 0);
	cr_assert_not(rec_event_same(&a.event, &b.event), "blanks inside of a format count");
	b = make("s", "n, (\"a  b\"), u8(x), array(u8, y, N)", 2, 12, 3, 0);
	cr_assert_not(rec_event_same(&a.event, &b.event), "another length");
	b = make("s", "n, (\"a  b\"), u8(z), array(u8, y, N)", 2, 11, 2, 0);
	cr_assert_not(rec_event_same(&a.event, &b.event), "another name");
	b = make("t", "n, (\"a  b\"), u8(x), array(u8, y, N)", 2, 11, 2, 0);
	cr_assert_not(rec_event_same(&a.event, &b.event), "another system");
}
