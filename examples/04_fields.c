/* SPDX-License-Identifier: MIT */
/*
 * What events can hold: numbers, addresses, reals, names of values, text, bytes, arrays; and an event with a text of
 * its own. See event.h for all kinds.
 *
 *	recorder record ./04_fields
 *	recorder report
 */
#include <librecorder/event.h>
#include <stdbool.h>
#include <string.h>

enum method { METHOD_GET, METHOD_PUT };

REC_EVENT(http, request, named(method, METHOD_GET, METHOD_PUT), string(path), flag(keep_alive), ptr(connection));
REC_EVENT(http, body, u32(size), bytes(start));
REC_EVENT(http, timing, real(ms, 3), array(u32, phase_us, 3));
REC_EVENT_FMT(http, client, ("%s:%u", host, port), stringn(host), u16(port));

int main(void)
{
	static const char client[] = "localhost:8080";
	static const char body[] = "{ \"answer\": 42 }";
	const uint32_t phase_us[3] = { 120, 1800, 75 };
	int connection = 0;

	REC(http, client, client, strcspn(client, ":"), 8080);
	REC(http, request, METHOD_PUT, "/answer", true, &connection);
	REC(http, body, sizeof(body) - 1, body, 8);

	/* Work that is needed only for the event is done inside REC_ON. */
	if (REC_ON(http, timing)) {
		double ms = 0;

		for (int i = 0; i < 3; i++)
			ms += phase_us[i] / 1000.0;
		REC(http, timing, ms, phase_us);
	}
	return 0;
}
