/* SPDX-License-Identifier: MIT */
/*
 * The kinds of fields that a declaration may have, and what event_macros.h makes of each.
 *
 * `u64(id)` is never a macro of ours, so no name of the application is taken. REC__FIELD pastes a
 * prefix in front of it, and REC__KIND_u64(id) is a row of the table of kinds: a shape and the data that the shape
 * needs. For each use of a field (parameter, size, ...) each shape has a macro, for example REC__SIZE_rec_number. None
 * of our words is a plain one that the application might have defined, such as SIZE or NUMBER.
 */
#ifndef REC__DETAIL
#error "for the public headers alone: include <librecorder/event.h>"
#endif
#ifndef LIBRECORDER_EVENT_KINDS_H
#define LIBRECORDER_EVENT_KINDS_H

#include <librecorder/detail/abi.h>
#include <librecorder/detail/event_each.h>
#include <stdint.h>

/* ------------------------------------------------------------------------------------------------- table of kinds */

#define REC__KIND_u8(...)	REC__TYPED("u8", _rec_number, uint8_t, __VA_ARGS__)
#define REC__KIND_u16(...)	REC__TYPED("u16", _rec_number, uint16_t, __VA_ARGS__)
#define REC__KIND_u32(...)	REC__TYPED("u32", _rec_number, uint32_t, __VA_ARGS__)
#define REC__KIND_u64(...)	REC__TYPED("u64", _rec_number, uint64_t, __VA_ARGS__)
#define REC__KIND_s8(...)	REC__TYPED("s8", _rec_number, int8_t, __VA_ARGS__)
#define REC__KIND_s16(...)	REC__TYPED("s16", _rec_number, int16_t, __VA_ARGS__)
#define REC__KIND_s32(...)	REC__TYPED("s32", _rec_number, int32_t, __VA_ARGS__)
#define REC__KIND_s64(...)	REC__TYPED("s64", _rec_number, int64_t, __VA_ARGS__)
#define REC__KIND_hex8(...)	REC__TYPED("hex8", _rec_number, uint8_t, __VA_ARGS__)
#define REC__KIND_hex16(...)	REC__TYPED("hex16", _rec_number, uint16_t, __VA_ARGS__)
#define REC__KIND_hex32(...)	REC__TYPED("hex32", _rec_number, uint32_t, __VA_ARGS__)
#define REC__KIND_hex64(...)	REC__TYPED("hex64", _rec_number, uint64_t, __VA_ARGS__)
#define REC__KIND_flag(...)	REC__TYPED("flag", _rec_number, rec_flag_type, __VA_ARGS__)
#define REC__KIND_f32(...)	REC__TYPED("f32", _rec_float, float, __VA_ARGS__)
#define REC__KIND_f64(...)	REC__TYPED("f64", _rec_float, double, __VA_ARGS__)
#define REC__KIND_ptr(...)	REC__PLAIN("ptr", _rec_pointer, __VA_ARGS__)
#define REC__KIND_string(...)	REC__PLAIN("string", _rec_string, __VA_ARGS__)
#define REC__KIND_stringn(...)	REC__PLAIN("stringn", _rec_stringn, __VA_ARGS__)
#define REC__KIND_bytes(...)	REC__PLAIN("bytes", _rec_bytes, __VA_ARGS__)

/* These kinds take a name and no more. */
#define REC__TYPED(kind, shape, type, ...)                                                                             \
	REC__CALL(REC__CAT(REC__TYPED_, REC__IS_LIST(__VA_ARGS__)), kind, shape, type, __VA_ARGS__)
#define REC__TYPED_0(kind, shape, type, name) shape, name, type
#define REC__TYPED_1(kind, shape, type, ...)  REC__NOT_ALONE(kind, __VA_ARGS__)
#define REC__PLAIN(kind, shape, ...)                                                                                   \
	REC__CALL(REC__CAT(REC__PLAIN_, REC__IS_LIST(__VA_ARGS__)), kind, shape, __VA_ARGS__)
#define REC__PLAIN_0(kind, shape, name) shape, name
#define REC__PLAIN_1(kind, shape, ...)	REC__NOT_ALONE(kind, __VA_ARGS__)
#define REC__NOT_ALONE(kind, ...)	_rec_wrong, kind "(" #__VA_ARGS__ ")", "takes a name alone"

#define REC__KIND_real(...)	       REC__CALL(REC__CAT(REC__REAL_, REC__IS_LIST(__VA_ARGS__)), __VA_ARGS__)
#define REC__REAL_1(name, decimals)    _rec_real, name, decimals
#define REC__REAL_0(name)                                                                                              \
	_rec_wrong, "real(" #name ")", "lacks a number of decimals: write real(" #name ", 3)"

/* The text keeps the type as it was written; the type itself is not expanded before it has its prefix. */
#define REC__KIND_array(...)                                                                                           \
	REC__CAT(REC__ARRAY_OF_, REC__IS_LIST(REC__REST(_##__VA_ARGS__)))                                             \
	("array(" #__VA_ARGS__ ")", REC__TYPE_##__VA_ARGS__)
#define REC__ARRAY_OF_0(text, ...)                                                                                     \
	_rec_wrong, text, "lacks something: write array(TYPE, NAME, LENGTH)"
#define REC__ARRAY_OF_1(text, type, name, length)                                                                      \
	REC__CALL(REC__CAT(REC__ARRAY_, REC__IS_LIST(type)), type, text, name, length)
#define REC__ARRAY_1(none, type, text, name, length) _rec_array, name, type, length
#define REC__ARRAY_0(none, text, name, length)	     _rec_wrong, text, "has no such elements"

/* The first argument may be a type. */
#define REC__KIND_named(first, ...)                                                                                    \
	REC__CALL(REC__CAT(REC__NAMED_, REC__IS_LIST(REC__TYPE_##first)), REC__TYPE_##first, first, __VA_ARGS__)
#define REC__NAMED_0(none, name, ...)		   _rec_named, name, int32_t, __VA_ARGS__
#define REC__NAMED_1(none, type, first, name, ...) _rec_named, name, type, __VA_ARGS__

#define REC__TYPE_u8	~, uint8_t
#define REC__TYPE_u16	~, uint16_t
#define REC__TYPE_u32	~, uint32_t
#define REC__TYPE_u64	~, uint64_t
#define REC__TYPE_s8	~, int8_t
#define REC__TYPE_s16	~, int16_t
#define REC__TYPE_s32	~, int32_t
#define REC__TYPE_s64	~, int64_t
#define REC__TYPE_hex8	~, uint8_t
#define REC__TYPE_hex16 ~, uint16_t
#define REC__TYPE_hex32 ~, uint32_t
#define REC__TYPE_hex64 ~, uint64_t

/* Common mistakes, for which the error message names the right word. Any other word is only reported as wrong. */
#define REC__INSTEAD(kind, name, right) _rec_wrong, kind "(" #name ")", "is not a kind of field: write " right
#define REC__KIND_int(name)	REC__INSTEAD("int", name, "s32(" #name ")")
#define REC__KIND_unsigned(name)	REC__INSTEAD("unsigned", name, "u32(" #name ")")
#define REC__KIND_short(name)	REC__INSTEAD("short", name, "s16(" #name ")")
#define REC__KIND_long(name)	REC__INSTEAD("long", name, "s64(" #name ")")
#define REC__KIND_char(name)	REC__INSTEAD("char", name, "u8(" #name ")")
#define REC__KIND_bool(name)	REC__INSTEAD("bool", name, "flag(" #name ")")
#define REC__KIND_size_t(name)	REC__INSTEAD("size_t", name, "u64(" #name ")")
#define REC__KIND_int8_t(name)	REC__INSTEAD("int8_t", name, "s8(" #name ")")
#define REC__KIND_int16_t(name)	REC__INSTEAD("int16_t", name, "s16(" #name ")")
#define REC__KIND_int32_t(name)	REC__INSTEAD("int32_t", name, "s32(" #name ")")
#define REC__KIND_int64_t(name)	REC__INSTEAD("int64_t", name, "s64(" #name ")")
#define REC__KIND_uint8_t(name)	REC__INSTEAD("uint8_t", name, "u8(" #name ")")
#define REC__KIND_uint16_t(name)	REC__INSTEAD("uint16_t", name, "u16(" #name ")")
#define REC__KIND_uint32_t(name)	REC__INSTEAD("uint32_t", name, "u32(" #name ")")
#define REC__KIND_uint64_t(name)	REC__INSTEAD("uint64_t", name, "u64(" #name ")")
#define REC__KIND_i8(name)	REC__INSTEAD("i8", name, "s8(" #name ")")
#define REC__KIND_i16(name)	REC__INSTEAD("i16", name, "s16(" #name ")")
#define REC__KIND_i32(name)	REC__INSTEAD("i32", name, "s32(" #name ")")
#define REC__KIND_i64(name)	REC__INSTEAD("i64", name, "s64(" #name ")")
#define REC__KIND_x8(name)	REC__INSTEAD("x8", name, "hex8(" #name ")")
#define REC__KIND_x16(name)	REC__INSTEAD("x16", name, "hex16(" #name ")")
#define REC__KIND_x32(name)	REC__INSTEAD("x32", name, "hex32(" #name ")")
#define REC__KIND_x64(name)	REC__INSTEAD("x64", name, "hex64(" #name ")")
#define REC__KIND_hex(name)	REC__INSTEAD("hex", name, "hex64(" #name ")")
#define REC__KIND_pointer(name)	REC__INSTEAD("pointer", name, "ptr(" #name ")")
#define REC__KIND_str(name)	REC__INSTEAD("str", name, "string(" #name ")")
#define REC__KIND_text(name)	REC__INSTEAD("text", name, "string(" #name ")")
#define REC__KIND_float(name, ...)	REC__INSTEAD("float", name, "f32(" #name ")")
#define REC__KIND_double(name, ...)	REC__INSTEAD("double", name, "f64(" #name ")")

/* ----------------------------------------------------------------------------------------------- uses of a field */

/* Used in the length of an array parameter: `static` lets the compiler report an array that is too short. */
#ifdef __cplusplus
#define REC__AT_LEAST
#else
#define REC__AT_LEAST static
#endif

/* CHECK: static assertions, at file scope, before all else. */
#define REC__HAS_NAME(name)                                                                                            \
	REC_ABI_ASSERT(sizeof(#name) > 1, "a field lacks its name: write KIND(NAME), such as u32(n)");
#define REC__CHECK_rec_number(name, type) REC__HAS_NAME(name)
#define REC__CHECK_rec_pointer(name)	  REC__HAS_NAME(name)
#define REC__CHECK_rec_float(name, type)  REC__HAS_NAME(name)
#define REC__CHECK_rec_real(name, decimals)                                                                            \
	REC__HAS_NAME(name)                                                                                            \
	REC_ABI_ASSERT((decimals) >= 0 && (decimals) <= 18, "real(" #name "): 0 to 18 decimals");
#define REC__CHECK_rec_named(name, type, ...)                                                                          \
	REC__HAS_NAME(name)                                                                                            \
	REC_ABI_ASSERT(sizeof(REC__TEXT(REC__FIRST(__VA_ARGS__, ~))) > 1, "named(" #name ") lacks its values");
#define REC__CHECK_rec_array(name, type, length)                                                                       \
	REC__HAS_NAME(name)                                                                                            \
	REC_ABI_ASSERT((length) > 0 && (length) <= REC_EVENT_SIZE_MAX, "array(" #name "): a length above 0");
#define REC__CHECK_rec_string(name)  REC__HAS_NAME(name)
#define REC__CHECK_rec_stringn(name) REC__HAS_NAME(name)
#define REC__CHECK_rec_bytes(name)   REC__HAS_NAME(name)
#define REC__CHECK_rec_wrong(what, why) REC_ABI_ASSERT(0, what " " why " (librecorder/event.h lists the kinds)");

/* PARAM: parameters of rec_write_S__N. f_ is the value, l_ its length. */
#define REC__PARAM_rec_number(name, type)	      type f_##name,
#define REC__PARAM_rec_pointer(name)	      const volatile void *f_##name,
#define REC__PARAM_rec_float(name, type)	      type f_##name,
#define REC__PARAM_rec_real(name, decimals)	      double f_##name,
#define REC__PARAM_rec_named(name, type, ...)     long long f_##name,
#define REC__PARAM_rec_array(name, type, length)  const type f_##name[REC__AT_LEAST length],
#define REC__PARAM_rec_string(name)		      const char *f_##name,
#define REC__PARAM_rec_stringn(name)	      const char *f_##name, size_t l_##name,
#define REC__PARAM_rec_bytes(name)		      const void *f_##name, size_t l_##name,
#define REC__PARAM_rec_wrong(what, why)

/* ARG: the parameters passed on, after MEASURE. */
#define REC__ARG_rec_number(name, type)	     f_##name,
#define REC__ARG_rec_pointer(name)	     f_##name,
#define REC__ARG_rec_float(name, type)	     f_##name,
#define REC__ARG_rec_real(name, decimals)    f_##name,
#define REC__ARG_rec_named(name, type, ...)  f_##name,
#define REC__ARG_rec_array(name, type, length) f_##name,
#define REC__ARG_rec_string(name)	     p_##name,
#define REC__ARG_rec_stringn(name)	     f_##name, l_##name,
#define REC__ARG_rec_bytes(name)	     f_##name, l_##name,
#define REC__ARG_rec_wrong(what, why)

/* SIZE: what the field adds to the fixed part. */
#define REC__SIZE_rec_number(name, type)	     +sizeof(type)
#define REC__SIZE_rec_pointer(name)		     +sizeof(uint64_t)
#define REC__SIZE_rec_float(name, type)	     +sizeof(type)
#define REC__SIZE_rec_real(name, decimals)	     +sizeof(int64_t)
#define REC__SIZE_rec_named(name, type, ...)     +sizeof(type)
#define REC__SIZE_rec_array(name, type, length)  +sizeof(type) * (length)
#define REC__SIZE_rec_string(name)		     +sizeof(uint32_t)
#define REC__SIZE_rec_stringn(name)		     +sizeof(uint32_t)
#define REC__SIZE_rec_bytes(name)		     +sizeof(uint32_t)
#define REC__SIZE_rec_wrong(what, why)

/* COUNT and NUMBERS: number and values of the constants in the description, after the size of the fixed part. */
#define REC__COUNT_rec_number(name, type)
#define REC__COUNT_rec_pointer(name)
#define REC__COUNT_rec_float(name, type)
#define REC__COUNT_rec_real(name, decimals)	     +1
#define REC__COUNT_rec_named(name, type, ...)    +1 + REC__COUNT(__VA_ARGS__)
#define REC__COUNT_rec_array(name, type, length) +1
#define REC__COUNT_rec_string(name)
#define REC__COUNT_rec_stringn(name)
#define REC__COUNT_rec_bytes(name)
#define REC__COUNT_rec_wrong(what, why)

#define REC__NUMBERS_rec_number(name, type)
#define REC__NUMBERS_rec_pointer(name)
#define REC__NUMBERS_rec_float(name, type)
#define REC__NUMBERS_rec_real(name, decimals)      , decimals
#define REC__NUMBERS_rec_named(name, type, ...)    , REC__COUNT(__VA_ARGS__), __VA_ARGS__
#define REC__NUMBERS_rec_array(name, type, length) , length
#define REC__NUMBERS_rec_string(name)
#define REC__NUMBERS_rec_stringn(name)
#define REC__NUMBERS_rec_bytes(name)
#define REC__NUMBERS_rec_wrong(what, why)

/* MEASURE: n_ is the length of a dynamic field, p_ where it is. */
#define REC__MEASURE_rec_number(name, type)
#define REC__MEASURE_rec_pointer(name)
#define REC__MEASURE_rec_float(name, type)
#define REC__MEASURE_rec_real(name, decimals)
#define REC__MEASURE_rec_named(name, type, ...)
#define REC__MEASURE_rec_array(name, type, length)
#define REC__MEASURE_rec_string(name)										       \
	const char *const p_##name = f_##name ? f_##name : "(null)";                                                   \
	const size_t n_##name = __builtin_strlen(p_##name) + 1;                                                        \
	rec_size += n_##name;
#define REC__MEASURE_rec_stringn(name)										       \
	const char *const p_##name = f_##name ? f_##name : "(null)";                                                   \
	const size_t n_##name = rec_dynamic_size(p_##name, f_##name ? l_##name : 6) + 1;                               \
	rec_size += n_##name;
#define REC__MEASURE_rec_bytes(name)										       \
	const size_t n_##name = rec_dynamic_size(f_##name, l_##name);                                                  \
	rec_size += n_##name;
#define REC__MEASURE_rec_wrong(what, why)

/* PUT: write the field at rec_at, and its dynamic part at rec_next bytes into the record. */
#define REC__PUT_rec_number(name, type) rec_at = rec_put(rec_at, &f_##name, sizeof(type));
#define REC__PUT_rec_pointer(name)										       \
	const uint64_t v_##name = rec_address(f_##name);                                                               \
	rec_at = rec_put(rec_at, &v_##name, sizeof(v_##name));
#define REC__PUT_rec_float(name, type) rec_at = rec_put(rec_at, &f_##name, sizeof(type));
#define REC__PUT_rec_real(name, decimals)									       \
	const int64_t v_##name = rec_fixed_point(f_##name, decimals);                                                  \
	rec_at = rec_put(rec_at, &v_##name, sizeof(v_##name));
#define REC__PUT_rec_named(name, type, ...)									       \
	const type v_##name = REC__CAST(type, f_##name);							       \
	rec_at = rec_put(rec_at, &v_##name, sizeof(v_##name));
#define REC__PUT_rec_array(name, type, length) rec_at = rec_put(rec_at, f_##name, sizeof(type) * (length));
#define REC__PUT_rec_string(name)										       \
	rec_at = rec_put_location(rec_at, rec_next, n_##name);                                                         \
	/* The NUL is not copied: another thread may be changing the string. */                                        \
	*rec_put_text(rec_record + rec_next, p_##name, n_##name - 1) = 0;                                              \
	rec_next += n_##name;
#define REC__PUT_rec_stringn(name)										       \
	rec_at = rec_put_location(rec_at, rec_next, n_##name);                                                         \
	*rec_put_text(rec_record + rec_next, p_##name, n_##name - 1) = 0;                                              \
	rec_next += n_##name;
#define REC__PUT_rec_bytes(name)										       \
	rec_at = rec_put_location(rec_at, rec_next, n_##name);                                                         \
	if (n_##name)                                                                                                  \
		rec_put(rec_record + rec_next, f_##name, n_##name);                                                    \
	rec_next += n_##name;
#define REC__PUT_rec_wrong(what, why)

#endif
