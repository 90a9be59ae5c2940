/* SPDX-License-Identifier: MIT */
/*
 * usage: program ROUNDS [kill|wait]
 *
 * Uses the parts of the library that are compiled into a program: each kind of field, formats, rec_printf, inline
 * reservations, events declared at run time. Prints each event as `recorder report` shows it after the time, so a
 * recording by any version can be compared with what was written. It must compile with the headers of every version in
 * tests/abi. `kill`: it ends by SIGKILL and leaves its buffer; `wait`: it sleeps until a signal ends it.
 */
#include <inttypes.h>
#include <librecorder/event.h>
#include <librecorder/ffi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum state { IDLE, BUSY = 5 };

REC_EVENT(abi, numbers, u8(a), u16(b), u32(c), u64(d), s8(e), s16(f), s32(g), s64(h));
REC_EVENT(abi, kinds, hex32(bits), flag(yes), real(share, 3), named(state, IDLE, BUSY), array(u16, ports, 3));
REC_EVENT(abi, texts, string(path), stringn(part), bytes(raw));
REC_EVENT(abi, nothing);
REC_EVENT_FMT(abi, peer, ("%s:%u", host, port), string(host), u16(port));
REC_EVENT(abi, large, u32(round), string(text));
REC_EVENT(abi, by_hand, u32(round));
REC_EVENT(abi, taken_back, u32(round));

/* An event with this text needs a length word. All events together fill several sub-buffers. */
static char text[600];

static void write_by_hand(uint32_t round, bool discard)
{
	struct rec_event *event = discard ? &rec_event_abi__taken_back : &rec_event_abi__by_hand;
	struct rec_handle *handle = rec_handle_get();
	struct rec_slot slot;
	unsigned char *record;

	if (!rec_event_on(event) || !handle)
		return;
	record = (unsigned char *)rec_reserve(handle, REC_EVENT_COMMON_SIZE + sizeof(round), &slot);
	if (!record)
		return;
	memcpy(rec_put_common(record, handle, rec_event_id(event)), &round, sizeof(round));
	if (discard)
		rec_discard(&slot, record);
	else
		rec_commit(&slot);
}

static void write_round(uint32_t round, struct rec_event *late)
{
	const uint16_t ports[3] = { 1, 2, (uint16_t)round };
	uint8_t fields[8];
	const uint64_t number = round * UINT64_C(3);

	REC(abi, numbers, 255, 65535, round, UINT64_MAX, -128, -32768, -1, INT64_MIN);
	printf("numbers: a=255 b=65535 c=%" PRIu32 " d=18446744073709551615 e=-128 f=-32768 g=-1 h=-9223372036854775808\n", round);
	REC(abi, kinds, 0xbeef, true, 0.25, round % 2 ? BUSY : IDLE, ports);
	printf("kinds: bits=0xbeef yes=1 share=0.250 state=%s ports={1,2,%u}\n", round % 2 ? "BUSY" : "IDLE", round & 0xffff);
	REC(abi, texts, "/etc/hosts", "partial", 4, "\x01\x02", 2);
	printf("texts: path=/etc/hosts part=part raw=0102\n");
	REC(abi, nothing);
	printf("nothing:\n");
	REC(abi, peer, "localhost", 80);
	printf("peer: localhost:80\n");
	REC(abi, large, round, text);
	printf("large: round=%" PRIu32 " text=%s\n", round, text);
	rec_printf("round %u of %s\n", round, "program");
	printf("bprint: write_round: round %" PRIu32 " of program\n", round);
	write_by_hand(round, true);
	write_by_hand(round, false);
	printf("by_hand: round=%" PRIu32 "\n", round);
	memcpy(fields, &number, sizeof(number));
	rec_event_write(late, fields, sizeof(fields));
	printf("late: number=%" PRIu64 "\n", number);
}

int main(int argc, char **argv)
{
	const uint32_t rounds = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1;
	struct rec_event *late;

	memset(text, 'x', sizeof(text) - 1);
	rec_thread_name("abi/main");
	if (rec_event_declare("abi", "late, u64(number)", NULL, 0, &late) < 0)
		return 1;
	for (uint32_t round = 0; round < rounds; round++)
		write_round(round, late);
	fflush(stdout);
	if (argc > 2 && strcmp(argv[2], "kill") == 0)
		raise(SIGKILL);
	if (argc > 2 && strcmp(argv[2], "wait") == 0)
		pause();
	return 0;
}
