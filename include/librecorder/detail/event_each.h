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
#define REC__REST(first, ...)   __VA_ARGS__
#define REC__CALL(function, ...) function(__VA_ARGS__)
#define REC__TEXT(...)		 REC__TEXT_(__VA_ARGS__)
#define REC__TEXT_(...)		 #__VA_ARGS__

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

/* 1: there is more than one argument; 0: there is one. */
#define REC__IS_LIST(...)                                                                                              \
	REC__COUNT_(__VA_ARGS__, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,   \
		    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, \
		    1, 1, 1, 0, ~)

/*
 * A field, as `u64(id)`, must not be expanded before a prefix is pasted in front of it: the application may have a
 * macro u64. The preprocessor expands an argument wherever it is passed on, except next to ##. So each macro that
 * passes fields on pastes a prefix in front of the first one, which keeps all of them unexpanded: REC__KIND_ if the
 * first argument is the next field; an underscore if it is not a field, or if the fields are only counted.
 */

/* The number of fields, counted as by REC__COUNT, with the prefix. */
#define REC__FIELDS(...)											       \
	REC__COUNT_(_##__VA_ARGS__, 64, 63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45,    \
		    44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21,    \
		    20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, ~)

/*
 * Expands to the use of one field. A row of the table of kinds expands to a list: a shape and its arguments. A word
 * that has no row stays a single argument, and is reported as wrong.
 */
#define REC__FIELD(use, ...)	 REC__CAT(REC__FIELD_, REC__IS_LIST(__VA_ARGS__))(use, __VA_ARGS__)
#define REC__FIELD_1(use, shape, ...) use##shape(__VA_ARGS__)
#define REC__FIELD_0(use, unknown) use##_rec_wrong(REC__TEXT(unknown), "is not a kind of field")

/*
 * REC__EACH(use, base, field..., rec_last): expands to the use of each field in turn; REC__EACH_FMT has a format after
 * base. base is not used: it only carries the prefix.
 */
#define REC__EACH_FMT(use, base, format, ...)                                                                          \
	REC__CAT(REC__EACH_, REC__FIELDS(_##__VA_ARGS__))(use, REC__KIND_##__VA_ARGS__)
#define REC__EACH(use, base, ...)                                                                                      \
	REC__CAT(REC__EACH_, REC__FIELDS(_##__VA_ARGS__))(use, REC__KIND_##__VA_ARGS__)

#define REC__EACH_1(u, last)
#define REC__EACH_2(u, f, ...) REC__FIELD(u, f) REC__EACH_1(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_3(u, f, ...) REC__FIELD(u, f) REC__EACH_2(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_4(u, f, ...) REC__FIELD(u, f) REC__EACH_3(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_5(u, f, ...) REC__FIELD(u, f) REC__EACH_4(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_6(u, f, ...) REC__FIELD(u, f) REC__EACH_5(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_7(u, f, ...) REC__FIELD(u, f) REC__EACH_6(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_8(u, f, ...) REC__FIELD(u, f) REC__EACH_7(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_9(u, f, ...) REC__FIELD(u, f) REC__EACH_8(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_10(u, f, ...) REC__FIELD(u, f) REC__EACH_9(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_11(u, f, ...) REC__FIELD(u, f) REC__EACH_10(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_12(u, f, ...) REC__FIELD(u, f) REC__EACH_11(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_13(u, f, ...) REC__FIELD(u, f) REC__EACH_12(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_14(u, f, ...) REC__FIELD(u, f) REC__EACH_13(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_15(u, f, ...) REC__FIELD(u, f) REC__EACH_14(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_16(u, f, ...) REC__FIELD(u, f) REC__EACH_15(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_17(u, f, ...) REC__FIELD(u, f) REC__EACH_16(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_18(u, f, ...) REC__FIELD(u, f) REC__EACH_17(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_19(u, f, ...) REC__FIELD(u, f) REC__EACH_18(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_20(u, f, ...) REC__FIELD(u, f) REC__EACH_19(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_21(u, f, ...) REC__FIELD(u, f) REC__EACH_20(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_22(u, f, ...) REC__FIELD(u, f) REC__EACH_21(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_23(u, f, ...) REC__FIELD(u, f) REC__EACH_22(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_24(u, f, ...) REC__FIELD(u, f) REC__EACH_23(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_25(u, f, ...) REC__FIELD(u, f) REC__EACH_24(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_26(u, f, ...) REC__FIELD(u, f) REC__EACH_25(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_27(u, f, ...) REC__FIELD(u, f) REC__EACH_26(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_28(u, f, ...) REC__FIELD(u, f) REC__EACH_27(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_29(u, f, ...) REC__FIELD(u, f) REC__EACH_28(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_30(u, f, ...) REC__FIELD(u, f) REC__EACH_29(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_31(u, f, ...) REC__FIELD(u, f) REC__EACH_30(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_32(u, f, ...) REC__FIELD(u, f) REC__EACH_31(u, REC__KIND_##__VA_ARGS__)
#define REC__EACH_33(u, f, ...) REC__FIELD(u, f) REC__EACH_32(u, REC__KIND_##__VA_ARGS__)

#endif
