/* SPDX-License-Identifier: MIT */
/*
 * Events in C++17 and later: <librecorder/event.h>, and arguments of C++'s own types.
 *
 *	#include <librecorder/event.hpp>
 *
 *	namespace storage {
 *	enum class op { get, put };
 *	REC_EVENT(io, submit, u64(id), named(kind, op::get, op::put), string(path));
 *
 *	void submit(const request &req)
 *	{
 *		REC(io, submit, req.id, req.kind, req.path);
 *	}
 *	}
 *
 * Events may be declared in a namespace, and are written from there. In addition to the arguments that event.h lists,
 * the fields take:
 *
 *	numbers, named		any enumeration, scoped or not; what converts to a number without an explicit cast
 *	ptr			std::unique_ptr and std::shared_ptr: anything with get()
 *	string			std::string, std::string_view
 *	stringn			the same, in place of a pointer and a length
 *	bytes			std::span, std::vector, std::string: anything with data() and size(), in place of a pointer and a length
 *	array(TYPE, n, LENGTH)	std::array<TYPE, N>, TYPE[N] and std::span<TYPE, N>, of LENGTH elements or more
 *
 * The name of REC_TASK may be a std::string or a std::string_view, too.
 *
 * A floating-point number for a field of whole numbers, an array that is too short or of unknown length, and too few or
 * too many arguments are compile errors. Events that were declared before this header was included take only the
 * arguments that event.h lists.
 *
 * Arguments are passed by reference. So a null pointer is nullptr, not NULL or 0; a number that does not fit into its
 * field is converted without a warning; and a static constant of a class needs a definition (C++17: inline).
 */
#ifndef LIBRECORDER_EVENT_HPP
#define LIBRECORDER_EVENT_HPP

#if __cplusplus < 201703L
#error "<librecorder/event.hpp> needs C++17; <librecorder/event.h> works with any C++ compiler that knows C++11"
#endif

#include <librecorder/event.h>

#include <string_view>
#include <tuple>
#include <type_traits>

namespace rec::detail {

template <typename Type> inline constexpr bool is_never = false;

/* ---------------------------------------------------------------------------------------------------- conversions */

template <typename To, typename From> constexpr To to_number(const From &from)
{
	if constexpr (std::is_same_v<To, From>) {
		return from;
	} else if constexpr (std::is_enum_v<From>) {
		return static_cast<To>(from);
	} else if constexpr (std::is_arithmetic_v<From>) {
		static_assert(std::is_floating_point_v<To> || !std::is_floating_point_v<From>,
			      "a floating-point number for a field of whole numbers: convert it first");
		return static_cast<To>(from);
	} else if constexpr (std::is_convertible_v<const From &, To> && !std::is_pointer_v<std::decay_t<From>>) {
		return from;
	} else {
		static_assert(is_never<From>, "this field takes a number or an enumerator");
	}
}

/* A constant of a declaration, as a number for the description. It may be an enumerator of any enumeration. */
struct constant {
	int64_t value;
	template <typename From> constexpr constant(const From &from) : value(to_number<int64_t>(from))
	{
	}
	constexpr constant() : value(0)
	{
	}
};

template <typename From> const volatile void *to_pointer(const From &from)
{
	if constexpr (std::is_convertible_v<const From &, const volatile void *>)
		return from;
	else
		return from.get();
}

template <typename From> std::string_view to_text(const From &from)
{
	if constexpr (std::is_null_pointer_v<From>) {
		return std::string_view();
	} else if constexpr (std::is_convertible_v<const From &, const char *>) {
		const char *const text = from;

		return text ? std::string_view(text) : std::string_view();
	} else {
		static_assert(std::is_convertible_v<const From &, std::string_view>, "this field takes a string");
		const std::string_view view = from;

		return view.data() ? view : std::string_view("");
	}
}

/* The number of elements of an array type; 0: it is not known at compile time. */
template <typename From, typename = void> inline constexpr std::size_t length_of = 0;
template <typename Type, std::size_t length> inline constexpr std::size_t length_of<Type[length]> = length;
template <typename From>
inline constexpr std::size_t length_of<From, std::void_t<decltype(std::tuple_size<From>::value)>> =
	std::tuple_size_v<From>;
template <typename From>
inline constexpr std::size_t length_of<From, std::enable_if_t<From::extent != static_cast<std::size_t>(-1)>> =
	From::extent;

template <typename Type, std::size_t length, typename From> const Type *to_elements(const From &from)
{
	if constexpr (std::is_pointer_v<From>) {
		return from;
	} else {
		static_assert(length_of<From> >= length, "this array is too short for the field, or of unknown length");
		if constexpr (std::is_array_v<From>)
			return from;
		else
			return from.data();
	}
}

/* --------------------------------------------------------------------------------------------------------- fields */

/*
 * Each field takes its part of the arguments of REC. take() gets two lists: the converted arguments of the fields
 * before it (a tuple, for the function that writes), and the arguments that are left. take() converts the arguments of
 * its own field, and passes both lists on to the next field.
 */
template <typename... Fields> struct fields;

template <> struct fields<> {
	/* The last argument is the 0 that REC adds. */
	template <typename Function, typename Done> static int take(Function function, const Done &done, int end)
	{
		return std::apply(function, std::tuple_cat(done, std::make_tuple(end)));
	}
};

template <typename Next, typename Function, typename Done, typename... Made, typename... Left>
int go_on(Function function, const Done &done, const std::tuple<Made...> &made, const Left &...left)
{
	return Next::take(function, std::tuple_cat(done, made), left...);
}

template <typename Type> struct number {
};
template <typename Type, typename... Rest> struct fields<number<Type>, Rest...> {
	template <typename Function, typename Done, typename From, typename... Left>
	static int take(Function function, const Done &done, const From &from, const Left &...left)
	{
		return go_on<fields<Rest...>>(function, done, std::make_tuple(to_number<Type>(from)), left...);
	}
};

struct pointer {
};
template <typename... Rest> struct fields<pointer, Rest...> {
	template <typename Function, typename Done, typename From, typename... Left>
	static int take(Function function, const Done &done, const From &from, const Left &...left)
	{
		return go_on<fields<Rest...>>(function, done, std::make_tuple(to_pointer(from)), left...);
	}
};

template <typename Type, std::size_t length> struct elements {
};
template <typename Type, std::size_t length, typename... Rest> struct fields<elements<Type, length>, Rest...> {
	template <typename Function, typename Done, typename From, typename... Left>
	static int take(Function function, const Done &done, const From &from, const Left &...left)
	{
		return go_on<fields<Rest...>>(function, done, std::make_tuple(to_elements<Type, length>(from)),
					      left...);
	}
};

struct text {
};
template <typename... Rest> struct fields<text, Rest...> {
	template <typename Function, typename Done, typename From, typename... Left>
	static int take(Function function, const Done &done, const From &from, const Left &...left)
	{
		const std::string_view view = to_text(from);

		return go_on<fields<Rest...>>(function, done, std::make_tuple(view.data(), view.size()), left...);
	}
};

/* This field takes two arguments, a pointer and a length, or one argument that has both. */
struct sized_text {
};
template <typename... Rest> struct fields<sized_text, Rest...> {
	template <typename Function, typename Done, typename From, typename... Left>
	static int take(Function function, const Done &done, const From &from, const Left &...left)
	{
		if constexpr (std::is_convertible_v<const From &, const char *>)
			return take_length(function, done, from, left...);
		else
			return fields<text, Rest...>::take(function, done, from, left...);
	}
	template <typename Function, typename Done, typename Length, typename... Left>
	static int take_length(Function function, const Done &done, const char *from, const Length &length,
			       const Left &...left)
	{
		return go_on<fields<Rest...>>(function, done, std::make_tuple(from, to_number<std::size_t>(length)),
					      left...);
	}
};

struct sized_bytes {
};
template <typename... Rest> struct fields<sized_bytes, Rest...> {
	template <typename Function, typename Done, typename From, typename... Left>
	static int take(Function function, const Done &done, const From &from, const Left &...left)
	{
		if constexpr (std::is_convertible_v<const From &, const void *>) {
			return take_length(function, done, from, left...);
		} else {
			const void *const data = from.data();

			return go_on<fields<Rest...>>(
				function, done, std::make_tuple(data, from.size() * sizeof(*from.data())), left...);
		}
	}
	template <typename Function, typename Done, typename Length, typename... Left>
	static int take_length(Function function, const Done &done, const void *from, const Length &length,
			       const Left &...left)
	{
		return go_on<fields<Rest...>>(function, done, std::make_tuple(from, to_number<std::size_t>(length)),
					      left...);
	}
};

/* Ends the list of fields that REC_EVENT makes. It is not a field. */
struct end {
};
template <> struct fields<end> : fields<> {
};

/* ---------------------------------------------------------------------------------------------------------- tasks */

inline void write_task(uint64_t id, const char *name)
{
	rec_task_write(id, name);
}

/* A view may lack a NUL at its end. rec_task_write() cuts a long name in the same place. */
inline void write_task(uint64_t id, std::string_view name)
{
	char copied[256];

	copied[name.copy(copied, sizeof(copied) - 1)] = '\0';
	rec_task_write(id, copied);
}

} // namespace rec::detail

/* ------------------------------------------------------------------------------- macros that event.h leaves open */

#undef REC__CONSTANT
#define REC__CONSTANT ::rec::detail::constant
#undef REC__WRITE
#define REC__WRITE(base) rec_plain_##base
#undef REC__TASK_1
#define REC__TASK_1 ::rec::detail::write_task

/* A template needs C++ linkage, and the declaration may be inside a program's extern "C". */
#undef REC__WRAP
#define REC__WRAP(each, base, ...)                                                                                     \
	extern "C++" {                                                                                                 \
	template <typename... Arguments> static inline int rec_write_##base(const Arguments &...arguments)             \
	{                                                                                                              \
		return ::rec::detail::fields<each(REC__TYPES, _##__VA_ARGS__)::rec::detail::end>::take(                \
			rec_plain_##base, ::std::tuple<>(), arguments...);                                             \
	}                                                                                                              \
	}

/* TYPES: which of the types above takes the field's arguments. */
#define REC__TYPES_rec_number(name, type)	 ::rec::detail::number<type>,
#define REC__TYPES_rec_pointer(name)		 ::rec::detail::pointer,
#define REC__TYPES_rec_float(name, type)	 ::rec::detail::number<type>,
#define REC__TYPES_rec_real(name, decimals)	 ::rec::detail::number<double>,
#define REC__TYPES_rec_named(name, type, ...)	 ::rec::detail::number<long long>,
#define REC__TYPES_rec_array(name, type, length) ::rec::detail::elements<type, length>,
#define REC__TYPES_rec_text(name)		 ::rec::detail::text,
#define REC__TYPES_rec_stringn(name)		 ::rec::detail::sized_text,
#define REC__TYPES_rec_bytes(name)		 ::rec::detail::sized_bytes,
#define REC__TYPES_rec_key(...)			 REC__ROWS(REC__TYPES, ~, __VA_ARGS__)
#define REC__TYPES_rec_end(...)
#define REC__TYPES_rec_wrong(what, why)

/* A string is written as a stringn, because its length is known or is counted first. */
#undef REC__KIND_string
#define REC__KIND_string(name)	   _rec_text, name
#define REC__CHECK_rec_text(name)
#define REC__PARAM_rec_text(name)   REC__PARAM_rec_stringn(name)
#define REC__ARG_rec_text(name)	    REC__ARG_rec_stringn(name)
#define REC__SIZE_rec_text(name)    REC__SIZE_rec_stringn(name)
#define REC__COUNT_rec_text(name)
#define REC__NUMBERS_rec_text(name)
#define REC__MEASURE_rec_text(name) REC__MEASURE_rec_stringn(name)
#define REC__PUT_rec_text(name)	    REC__PUT_rec_stringn(name)

#endif
