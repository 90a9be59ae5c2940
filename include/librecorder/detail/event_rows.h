/* SPDX-License-Identifier: MIT */
/*
 * Fields within a field, as in key(u64(id)) and end(s32(result)), and which of these fields each event of a span has.
 *
 * REC__KIND_key and REC__KIND_end make a list of such fields: each is a row of the table of kinds, in parentheses.
 * REC__ROWS visits such a list as REC__EACH visits the fields of an event.
 */
#ifndef REC__DETAIL
#error "for the public headers alone: include <librecorder/event.h>"
#endif
#ifndef LIBRECORDER_EVENT_ROWS_H
#define LIBRECORDER_EVENT_ROWS_H

#include <librecorder/detail/event_each.h>
#include <librecorder/detail/event_kinds.h>

#define REC__KIND_key(...)  _rec_key, REC__CAT(REC__LIST_, REC__FIELDS(_##__VA_ARGS__))(REC__KIND_##__VA_ARGS__)
#define REC__KIND_end(...)  _rec_end, REC__CAT(REC__LIST_, REC__FIELDS(_##__VA_ARGS__))(REC__KIND_##__VA_ARGS__)
#define REC__KIND_flow(name) _rec_number, name, uint64_t

/* REC__ROWS(use, ~, row...): expands to the use of each row in turn. */
#define REC__ROWS(use, ...)	    REC__CAT(REC__ROWS_, REC__COUNT(__VA_ARGS__))(use, __VA_ARGS__)
#define REC__BARE(...)		    __VA_ARGS__
#define REC__ROW(use, ...)	    REC__CAT(REC__ROW_, REC__IS_LIST(__VA_ARGS__))(use, __VA_ARGS__)
#define REC__ROW_1(use, shape, ...) use##shape(__VA_ARGS__)
#define REC__ROW_0(use, unknown)    use##_rec_wrong(REC__TEXT(unknown), "is not a kind of field")

/*
 * As REC__EACH, for the fields of the end of a span: those in its key() and in its end(). REC__ENDS makes a list of
 * their rows: "~", and for each a comma and the row.
 */
#define REC__EACH_OF_END(use, base, ...)									       \
	REC__ROWS(use, ~REC__CAT(REC__EACH_, REC__FIELDS(_##__VA_ARGS__))(REC__ENDS, REC__KIND_##__VA_ARGS__))

/* As REC__EACH, with a duration as the first field. */
#define REC__EACH_TIMED(use, base, ...)                                                                                \
	use##_rec_number(dur, uint64_t)                                                                                \
		REC__CAT(REC__EACH_, REC__FIELDS(_##__VA_ARGS__))(use, REC__KIND_##__VA_ARGS__)

/* REC__LEAD(base, field..., rec_last): a digit for the shape of the first field; see LEAD below. */
#define REC__LEAD(base, ...)	REC__LEAD_(REC__KIND_##__VA_ARGS__, ~)
#define REC__LEAD_(first, ...)	REC__FIELD(REC__LEAD, first)

/* --------------------------------------------------------------------------------------------- uses of such a field */

#define REC__PARAM_rec_key(...) REC__ROWS(REC__PARAM, ~, __VA_ARGS__)
#define REC__ARG_rec_key(...) REC__ROWS(REC__ARG, ~, __VA_ARGS__)
#define REC__SIZE_rec_key(...) REC__ROWS(REC__SIZE, ~, __VA_ARGS__)
#define REC__MEASURE_rec_key(...) REC__ROWS(REC__MEASURE, ~, __VA_ARGS__)
#define REC__PUT_rec_key(...) REC__ROWS(REC__PUT, ~, __VA_ARGS__)

/* The part of a span that has no end() fields. */
#define REC__PARAM_rec_end(...)
#define REC__ARG_rec_end(...)
#define REC__SIZE_rec_end(...)
#define REC__MEASURE_rec_end(...)
#define REC__PUT_rec_end(...)

/* Both parts of a span have the constants of all fields, because both have the text of all. */
#define REC__COUNT_rec_key(...)	  REC__ROWS(REC__COUNT, ~, __VA_ARGS__)
#define REC__COUNT_rec_end(...)	  REC__ROWS(REC__COUNT, ~, __VA_ARGS__)
#define REC__NUMBERS_rec_key(...) REC__ROWS(REC__NUMBERS, ~, __VA_ARGS__)
#define REC__NUMBERS_rec_end(...) REC__ROWS(REC__NUMBERS, ~, __VA_ARGS__)

/* ONE: 1 for each field. */
#define REC__ONE_rec_number(name, type) +1
#define REC__ONE_rec_pointer(name) +1
#define REC__ONE_rec_float(name, type) +1
#define REC__ONE_rec_real(name, decimals) +1
#define REC__ONE_rec_named(name, type, ...) +1
#define REC__ONE_rec_array(name, type, length) +1
#define REC__ONE_rec_string(name) +1
#define REC__ONE_rec_stringn(name) +1
#define REC__ONE_rec_bytes(name) +1
#define REC__ONE_rec_text(name) +1
#define REC__ONE_rec_wrong(what, why)
#define REC__ONE_rec_key(...) REC__ROWS(REC__ONE, ~, __VA_ARGS__)
#define REC__ONE_rec_end(...)

#define REC__CHECK_rec_key(...)                                                                                        \
	REC_ABI_ASSERT(REC__ROWS(REC__ONE, ~, __VA_ARGS__) <= 4, "key() has at most 4 fields");                        \
	REC__ROWS(REC__KEY, ~, __VA_ARGS__)
#define REC__CHECK_rec_end(...)	REC__ROWS(REC__CHECK, ~, __VA_ARGS__)

/* KEY: a static assertion for what cannot be a key. */
#define REC__NO_KEY(name) REC_ABI_ASSERT(0, "key(" #name "): a key is a whole number, ptr or named");
#define REC__KEY_rec_number(name, type) REC__HAS_NAME(name)
#define REC__KEY_rec_pointer(name)	REC__HAS_NAME(name)
#define REC__KEY_rec_float(name, type) REC__NO_KEY(name)
#define REC__KEY_rec_real(name, decimals) REC__NO_KEY(name)
#define REC__KEY_rec_named(name, type, ...) REC__HAS_NAME(name)
#define REC__KEY_rec_array(name, type, length) REC__NO_KEY(name)
#define REC__KEY_rec_string(name) REC__NO_KEY(name)
#define REC__KEY_rec_stringn(name) REC__NO_KEY(name)
#define REC__KEY_rec_bytes(name) REC__NO_KEY(name)
#define REC__KEY_rec_text(name) REC__NO_KEY(name)
#define REC__KEY_rec_key(...) REC_ABI_ASSERT(0, "key() within key()");
#define REC__KEY_rec_end(...) REC_ABI_ASSERT(0, "end() within key()");
#define REC__KEY_rec_wrong(what, why) REC__CHECK_rec_wrong(what, why)

/* ENDS: a comma and a row for each field that comes with the end. */
#define REC__ENDS_rec_number(name, type)
#define REC__ENDS_rec_pointer(name)
#define REC__ENDS_rec_float(name, type)
#define REC__ENDS_rec_real(name, decimals)
#define REC__ENDS_rec_named(name, type, ...)
#define REC__ENDS_rec_array(name, type, length)
#define REC__ENDS_rec_string(name)
#define REC__ENDS_rec_stringn(name)
#define REC__ENDS_rec_bytes(name)
#define REC__ENDS_rec_text(name)
#define REC__ENDS_rec_key(...) , __VA_ARGS__
#define REC__ENDS_rec_end(...) , __VA_ARGS__
#define REC__ENDS_rec_wrong(what, why)

/* WITHIN: 1 for each key(), 100 for each end(). */
#define REC__WITHIN_rec_number(name, type)
#define REC__WITHIN_rec_pointer(name)
#define REC__WITHIN_rec_float(name, type)
#define REC__WITHIN_rec_real(name, decimals)
#define REC__WITHIN_rec_named(name, type, ...)
#define REC__WITHIN_rec_array(name, type, length)
#define REC__WITHIN_rec_string(name)
#define REC__WITHIN_rec_stringn(name)
#define REC__WITHIN_rec_bytes(name)
#define REC__WITHIN_rec_text(name)
#define REC__WITHIN_rec_key(...) +1
#define REC__WITHIN_rec_end(...) +100
#define REC__WITHIN_rec_wrong(what, why)

/* LEAD: 1: a whole number; 2: names; 3: key(). */
#define REC__LEAD_rec_number(name, type) 1
#define REC__LEAD_rec_pointer(name) 0
#define REC__LEAD_rec_float(name, type) 0
#define REC__LEAD_rec_real(name, decimals) 0
#define REC__LEAD_rec_named(name, type, ...) 2
#define REC__LEAD_rec_array(name, type, length) 0
#define REC__LEAD_rec_string(name) 0
#define REC__LEAD_rec_stringn(name) 0
#define REC__LEAD_rec_bytes(name) 0
#define REC__LEAD_rec_text(name) 0
#define REC__LEAD_rec_key(...) 3
#define REC__LEAD_rec_end(...) 0
#define REC__LEAD_rec_wrong(what, why) 0

/* --------------------------------------------------------------------------------------------------------- chains */

#define REC__LIST_1(f) (f)
#define REC__LIST_2(f, ...) (f), REC__LIST_1(REC__KIND_##__VA_ARGS__)
#define REC__LIST_3(f, ...) (f), REC__LIST_2(REC__KIND_##__VA_ARGS__)
#define REC__LIST_4(f, ...) (f), REC__LIST_3(REC__KIND_##__VA_ARGS__)
#define REC__LIST_5(f, ...) (f), REC__LIST_4(REC__KIND_##__VA_ARGS__)
#define REC__LIST_6(f, ...) (f), REC__LIST_5(REC__KIND_##__VA_ARGS__)
#define REC__LIST_7(f, ...) (f), REC__LIST_6(REC__KIND_##__VA_ARGS__)
#define REC__LIST_8(f, ...) (f), REC__LIST_7(REC__KIND_##__VA_ARGS__)
#define REC__LIST_9(f, ...) (f), REC__LIST_8(REC__KIND_##__VA_ARGS__)
#define REC__LIST_10(f, ...) (f), REC__LIST_9(REC__KIND_##__VA_ARGS__)
#define REC__LIST_11(f, ...) (f), REC__LIST_10(REC__KIND_##__VA_ARGS__)
#define REC__LIST_12(f, ...) (f), REC__LIST_11(REC__KIND_##__VA_ARGS__)
#define REC__LIST_13(f, ...) (f), REC__LIST_12(REC__KIND_##__VA_ARGS__)
#define REC__LIST_14(f, ...) (f), REC__LIST_13(REC__KIND_##__VA_ARGS__)
#define REC__LIST_15(f, ...) (f), REC__LIST_14(REC__KIND_##__VA_ARGS__)
#define REC__LIST_16(f, ...) (f), REC__LIST_15(REC__KIND_##__VA_ARGS__)
#define REC__LIST_17(f, ...) (f), REC__LIST_16(REC__KIND_##__VA_ARGS__)
#define REC__LIST_18(f, ...) (f), REC__LIST_17(REC__KIND_##__VA_ARGS__)
#define REC__LIST_19(f, ...) (f), REC__LIST_18(REC__KIND_##__VA_ARGS__)
#define REC__LIST_20(f, ...) (f), REC__LIST_19(REC__KIND_##__VA_ARGS__)
#define REC__LIST_21(f, ...) (f), REC__LIST_20(REC__KIND_##__VA_ARGS__)
#define REC__LIST_22(f, ...) (f), REC__LIST_21(REC__KIND_##__VA_ARGS__)
#define REC__LIST_23(f, ...) (f), REC__LIST_22(REC__KIND_##__VA_ARGS__)
#define REC__LIST_24(f, ...) (f), REC__LIST_23(REC__KIND_##__VA_ARGS__)
#define REC__LIST_25(f, ...) (f), REC__LIST_24(REC__KIND_##__VA_ARGS__)
#define REC__LIST_26(f, ...) (f), REC__LIST_25(REC__KIND_##__VA_ARGS__)
#define REC__LIST_27(f, ...) (f), REC__LIST_26(REC__KIND_##__VA_ARGS__)
#define REC__LIST_28(f, ...) (f), REC__LIST_27(REC__KIND_##__VA_ARGS__)
#define REC__LIST_29(f, ...) (f), REC__LIST_28(REC__KIND_##__VA_ARGS__)
#define REC__LIST_30(f, ...) (f), REC__LIST_29(REC__KIND_##__VA_ARGS__)
#define REC__LIST_31(f, ...) (f), REC__LIST_30(REC__KIND_##__VA_ARGS__)
#define REC__LIST_32(f, ...) (f), REC__LIST_31(REC__KIND_##__VA_ARGS__)

#define REC__ROWS_1(u, skip)
#define REC__ROWS_2(u, skip, row) REC__ROW(u, REC__BARE row)
#define REC__ROWS_3(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_2(u, ~, __VA_ARGS__)
#define REC__ROWS_4(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_3(u, ~, __VA_ARGS__)
#define REC__ROWS_5(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_4(u, ~, __VA_ARGS__)
#define REC__ROWS_6(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_5(u, ~, __VA_ARGS__)
#define REC__ROWS_7(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_6(u, ~, __VA_ARGS__)
#define REC__ROWS_8(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_7(u, ~, __VA_ARGS__)
#define REC__ROWS_9(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_8(u, ~, __VA_ARGS__)
#define REC__ROWS_10(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_9(u, ~, __VA_ARGS__)
#define REC__ROWS_11(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_10(u, ~, __VA_ARGS__)
#define REC__ROWS_12(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_11(u, ~, __VA_ARGS__)
#define REC__ROWS_13(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_12(u, ~, __VA_ARGS__)
#define REC__ROWS_14(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_13(u, ~, __VA_ARGS__)
#define REC__ROWS_15(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_14(u, ~, __VA_ARGS__)
#define REC__ROWS_16(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_15(u, ~, __VA_ARGS__)
#define REC__ROWS_17(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_16(u, ~, __VA_ARGS__)
#define REC__ROWS_18(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_17(u, ~, __VA_ARGS__)
#define REC__ROWS_19(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_18(u, ~, __VA_ARGS__)
#define REC__ROWS_20(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_19(u, ~, __VA_ARGS__)
#define REC__ROWS_21(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_20(u, ~, __VA_ARGS__)
#define REC__ROWS_22(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_21(u, ~, __VA_ARGS__)
#define REC__ROWS_23(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_22(u, ~, __VA_ARGS__)
#define REC__ROWS_24(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_23(u, ~, __VA_ARGS__)
#define REC__ROWS_25(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_24(u, ~, __VA_ARGS__)
#define REC__ROWS_26(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_25(u, ~, __VA_ARGS__)
#define REC__ROWS_27(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_26(u, ~, __VA_ARGS__)
#define REC__ROWS_28(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_27(u, ~, __VA_ARGS__)
#define REC__ROWS_29(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_28(u, ~, __VA_ARGS__)
#define REC__ROWS_30(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_29(u, ~, __VA_ARGS__)
#define REC__ROWS_31(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_30(u, ~, __VA_ARGS__)
#define REC__ROWS_32(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_31(u, ~, __VA_ARGS__)
#define REC__ROWS_33(u, skip, row, ...) REC__ROW(u, REC__BARE row) REC__ROWS_32(u, ~, __VA_ARGS__)

#endif
