/* SPDX-License-Identifier: MIT */
/*
 * Writes events of every kind of field, hostile texts among them, and 20000 from each of two threads. Prints their
 * tids.
 */
#include <librecorder/event.h>
#include <librecorder/lane.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { READ, WRITE };

REC_EVENT(kinds, numbers, u8(a), s8(b), u16(c), s16(d), u32(e), s32(f), u64(g), s64(h), hex32(i), flag(j), ptr(k));
REC_EVENT(kinds, texts, string(s), stringn(n), bytes(b));
REC_EVENT(kinds, others, real(ratio, 3), named(mode, READ, WRITE), array(s16, list, 3));
REC_EVENT(load, tick, u64(n));

static void *work(void *name)
{
	rec_thread_name(name);
	for (uint64_t i = 0; i < 20000; i++)
		REC(load, tick, i);
	printf("%s %d\n", (char *)name, (int)gettid());
	return NULL;
}

int main(void)
{
	const int16_t list[3] = { -1, 0, 32767 };
	pthread_t threads[2];

	printf("main %d\n", (int)getpid());
	REC(kinds, numbers, 255, -128, 65535, -32768, 4294967295u, -2147483647 - 1, UINT64_MAX, INT64_MIN, 0xabc, 1,
	    (void *)0x1234);
	REC(kinds, texts, "\"</script>\\ \x01 \xc3\xa4 \xff", "cut here", 3, "\x00\xff\x10", 3);
	REC(kinds, texts, "", "", 0, "", 0);
	REC(kinds, others, -0.125, WRITE, list);
	REC(kinds, others, 2.5, 7, list);
	rec_printf("%s has %d", "text", 42);
	pthread_create(&threads[0], NULL, work, "one");
	pthread_create(&threads[1], NULL, work, "two");
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
