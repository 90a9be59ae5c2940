/* SPDX-License-Identifier: MIT */
/* Events in C++, for tests/compile/cpp.sh: every kind of field with the types that event.hpp adds. */
#include <librecorder/event.hpp>

#include <array>
#include <memory>
#include <string>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

extern "C" {
REC_EVENT(cpp, in_c, u32(n));
}

namespace storage::inner {

enum class op : unsigned char { get, put };
enum plain { FIRST, SECOND };
constexpr plain in_range[] = { FIRST, SECOND };

REC_EVENT(cpp, none);
REC_EVENT(cpp, floats, f32(a), f64(b));
REC_EVENT(cpp, numbers, u8(a), s64(b), named(kind, op::get, op::put), named(u8, p, FIRST, SECOND), flag(f), real(r, 2));
REC_EVENT(cpp, texts, string(path), string(view), string(empty), string(null), stringn(one), stringn(two));
REC_EVENT(cpp, blocks, bytes(a), bytes(b), bytes(c), array(u32, d, 3), array(s8, e, 2), array(u32, f, 2));
REC_EVENT(cpp, pointers, ptr(a), ptr(b), ptr(c), ptr(d));
REC_EVENT_FMT(cpp, shown, ("%s is %s", path, kind), string(path), named(kind, op::get, op::put));

REC_SPAN(cpp, span, string(path), end(named(kind, op::get, op::put), string(why)));
REC_SPAN(cpp, scope, string(path));
REC_SPAN_KEYED(cpp, keyed, key(u64(id), named(kind, op::get, op::put)), flow(cause), end(array(u32, d, 3)));
REC_TIMED(cpp, timed, string(path));
REC_COUNTER(cpp, counter, s64(bytes));
REC_STATE(cpp, state, key(u8(id)), named(kind, op::get, op::put));

static void leave_by_exception(const std::string &path)
{
	REC_SCOPE(cpp, scope, path);
	throw 1;
}

static void write_meanings()
{
	const std::string path = "/a/path";
	const std::array<uint32_t, 3> array = { 1, 2, 3 };
	const uint64_t start = REC_TIMED_START(cpp, timed);

	REC_BEGIN(cpp, span, path);
	try {
		leave_by_exception(path);
	} catch (int) {
	}
	REC_BEGIN(cpp, keyed, 7, op::put, 9);
	REC_END(cpp, keyed, 7, op::put, array);
	REC_END(cpp, span, op::put, std::string_view(path).substr(0, 2));
	if (start)
		REC_TIMED_END(cpp, timed, start, path);
	REC(cpp, counter, -1);
	REC(cpp, state, op::put, op::get);
	REC_TASK(3, "three");
	REC_TASK(4, path);
	REC_TASK(5, std::string_view(path).substr(0, 2));
	REC_TASK(6, nullptr);
	REC_TASK(7, std::string(300, 'x'));
}

static void write()
{
	const std::string path = "/a/path";
	const std::unique_ptr<int> none;
	const std::shared_ptr<int> shared;
	const std::array<uint32_t, 3> array = { 1, 2, 3 };
	const std::vector<short> shorts = { 1, 2 };
	const signed char chars[2] = { -1, 1 };
	const char *const null = nullptr;

	REC(cpp, none);
	REC(cpp, floats, 0.5, op::put);
	REC(cpp, numbers, 1, -2, op::put, SECOND, true, 1.25);
	for (const plain value : in_range)
		REC(cpp, numbers, op::put, value, value, value, value == SECOND, value);
	REC(cpp, texts, path, std::string_view(path).substr(1, 4), std::string_view(), null, path, "abcdef", 3);
	REC(cpp, texts, path, std::string_view(), nullptr, nullptr, path, "abcdef", 3);
	REC(cpp, blocks, shorts, path, "xyz", 2, array, chars, array.data());
#if __cplusplus >= 202002L
	REC(cpp, blocks, std::span(shorts), path, "xyz", 2U, std::span<const uint32_t, 3>(array), chars, array);
#else
	REC(cpp, blocks, shorts, path, "xyz", 2U, array, chars, array);
#endif
	REC(cpp, pointers, none, shared, nullptr, null);
	if (REC_ON(cpp, shown))
		REC(cpp, shown, path, op::get);
	write_meanings();
}

} // namespace storage::inner

int main()
{
	storage::inner::write();
	REC(cpp, in_c, 7);
	return 0;
}
