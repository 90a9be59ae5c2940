/* SPDX-License-Identifier: MIT */
/* Macros that visit the fields of an event; event_macros.h defines what each field expands to. */
#ifndef REC__DETAIL
#error "for the public headers alone: include <librecorder/event.h>"
#endif
#ifndef LIBRECORDER_EVENT_EACH_H
#define LIBRECORDER_EVENT_EACH_H

#define REC__CAT(a, b)	       REC__CAT_(a, b)
#define REC__CAT_(a, b)	       a##b
#define REC__FIRST(first, ...) first
#define REC__SECOND(...)       REC__SECOND_(__VA_ARGS__, ~)
#define REC__SECOND_(first, second, ...) second
#define REC__CALL(function, ...) function(__VA_ARGS__)

/* The number of arguments, 1 to 64. */
#define REC__COUNT(...)                                                                                                \
	REC__COUNT_(__VA_ARGS__, 64, 63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44,   \
		    43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20,    \
		    19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, ~)
#define REC__COUNT_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21,    \
		    a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, a40,     \
		    a41, a42, a43, a44, a45, a46, a47, a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, a59,     \
		    a60, a61, a62, a63, a64, n, ...)                                                                   \
	n

#define REC__FIELD(use, field)	   REC__FIELD_(use, REC__KIND_##field)
#define REC__FIELD_(use, ...)	   REC__FIELD__(use, __VA_ARGS__)
#define REC__FIELD__(use, shape, ...) use##shape(__VA_ARGS__)

/*
 * REC__EACH(use, base, field...): the use of each field in turn. With a format, the format is in the position of base.
 */
#define REC__EACH_FMT(use, base, ...) REC__EACH(use, __VA_ARGS__)
#define REC__EACH(use, ...)	      REC__CAT(REC__EACH_, REC__COUNT(__VA_ARGS__))(use, __VA_ARGS__)

#define REC__EACH_1(u, b)
#define REC__EACH_2(u, b, f) REC__FIELD(u, f)
#define REC__EACH_3(u, b, f, ...) REC__FIELD(u, f) REC__EACH_2(u, b, __VA_ARGS__)
#define REC__EACH_4(u, b, f, ...) REC__FIELD(u, f) REC__EACH_3(u, b, __VA_ARGS__)
#define REC__EACH_5(u, b, f, ...) REC__FIELD(u, f) REC__EACH_4(u, b, __VA_ARGS__)
#define REC__EACH_6(u, b, f, ...) REC__FIELD(u, f) REC__EACH_5(u, b, __VA_ARGS__)
#define REC__EACH_7(u, b, f, ...) REC__FIELD(u, f) REC__EACH_6(u, b, __VA_ARGS__)
#define REC__EACH_8(u, b, f, ...) REC__FIELD(u, f) REC__EACH_7(u, b, __VA_ARGS__)
#define REC__EACH_9(u, b, f, ...) REC__FIELD(u, f) REC__EACH_8(u, b, __VA_ARGS__)
#define REC__EACH_10(u, b, f, ...) REC__FIELD(u, f) REC__EACH_9(u, b, __VA_ARGS__)
#define REC__EACH_11(u, b, f, ...) REC__FIELD(u, f) REC__EACH_10(u, b, __VA_ARGS__)
#define REC__EACH_12(u, b, f, ...) REC__FIELD(u, f) REC__EACH_11(u, b, __VA_ARGS__)
#define REC__EACH_13(u, b, f, ...) REC__FIELD(u, f) REC__EACH_12(u, b, __VA_ARGS__)
#define REC__EACH_14(u, b, f, ...) REC__FIELD(u, f) REC__EACH_13(u, b, __VA_ARGS__)
#define REC__EACH_15(u, b, f, ...) REC__FIELD(u, f) REC__EACH_14(u, b, __VA_ARGS__)
#define REC__EACH_16(u, b, f, ...) REC__FIELD(u, f) REC__EACH_15(u, b, __VA_ARGS__)
#define REC__EACH_17(u, b, f, ...) REC__FIELD(u, f) REC__EACH_16(u, b, __VA_ARGS__)
#define REC__EACH_18(u, b, f, ...) REC__FIELD(u, f) REC__EACH_17(u, b, __VA_ARGS__)
#define REC__EACH_19(u, b, f, ...) REC__FIELD(u, f) REC__EACH_18(u, b, __VA_ARGS__)
#define REC__EACH_20(u, b, f, ...) REC__FIELD(u, f) REC__EACH_19(u, b, __VA_ARGS__)
#define REC__EACH_21(u, b, f, ...) REC__FIELD(u, f) REC__EACH_20(u, b, __VA_ARGS__)
#define REC__EACH_22(u, b, f, ...) REC__FIELD(u, f) REC__EACH_21(u, b, __VA_ARGS__)
#define REC__EACH_23(u, b, f, ...) REC__FIELD(u, f) REC__EACH_22(u, b, __VA_ARGS__)
#define REC__EACH_24(u, b, f, ...) REC__FIELD(u, f) REC__EACH_23(u, b, __VA_ARGS__)
#define REC__EACH_25(u, b, f, ...) REC__FIELD(u, f) REC__EACH_24(u, b, __VA_ARGS__)
#define REC__EACH_26(u, b, f, ...) REC__FIELD(u, f) REC__EACH_25(u, b, __VA_ARGS__)
#define REC__EACH_27(u, b, f, ...) REC__FIELD(u, f) REC__EACH_26(u, b, __VA_ARGS__)
#define REC__EACH_28(u, b, f, ...) REC__FIELD(u, f) REC__EACH_27(u, b, __VA_ARGS__)
#define REC__EACH_29(u, b, f, ...) REC__FIELD(u, f) REC__EACH_28(u, b, __VA_ARGS__)
#define REC__EACH_30(u, b, f, ...) REC__FIELD(u, f) REC__EACH_29(u, b, __VA_ARGS__)
#define REC__EACH_31(u, b, f, ...) REC__FIELD(u, f) REC__EACH_30(u, b, __VA_ARGS__)
#define REC__EACH_32(u, b, f, ...) REC__FIELD(u, f) REC__EACH_31(u, b, __VA_ARGS__)
#define REC__EACH_33(u, b, f, ...) REC__FIELD(u, f) REC__EACH_32(u, b, __VA_ARGS__)

#endif
