/* SPDX-License-Identifier: MIT */
/*
 * See view_serve.h. It answers two requests, each with the token that only the printed address has: for the page, and
 * for the present data. It accepts no other requests, changes no state, and listens only on the loopback interface. A
 * page of another origin cannot make a request, because it does not know the token; and a DNS name that leads here is
 * not the expected Host.
 *
 * One thread: connections are few, and a picture is made for each request. No call waits for one client: one that sends
 * its request slowly, or reads its answer slowly, does not delay others. If there are too many, the oldest is dropped.
 */
#include "cli/view/view_serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/common/opts.h"
#include "cli/view/view_page.h"

#define COMMAND	      "view"
#define CLIENTS_MAX   16u
#define REQUEST_MAX   8192u
#define DEFAULT_PORT  80u /* of http */

struct client {
	int fd;
	struct blob answer; /* empty until the request is complete */
	size_t sent;	    /* bytes of the answer that were sent */
	size_t size;
	char request[REQUEST_MAX + 1];
};

struct server {
	struct view_live *live;
	int fd;
	char host[80];	/* as in an address: 127.0.0.1:1234, or 127.0.0.1 for port 80, as clients send it */
	char token[33];
	struct client clients[CLIENTS_MAX];
	unsigned int nr;
};

static volatile sig_atomic_t ended;

static void end(int number)
{
	(void)number;
	ended = 1;
}

/* ------------------------------------------------------------------------------------------------------- answers */

static void answer(struct client *client, const char *status, const char *type, const struct blob *body)
{
	struct blob *out = &client->answer;

	blob_printf(
		out,
		"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nCache-Control: no-store\r\n"
		"X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: "
		"same-origin\r\n"
		"Content-Security-Policy: ",
		status, type, body ? body->size : 0);
	view_page_policy(out, 1);
	blob_printf(out, "; frame-ancestors 'none'\r\nConnection: close\r\n\r\n");
	if (body)
		blob_put(out, body->data, body->size);
}

static void answer_page(struct client *client)
{
	struct blob page = BLOB_INIT;

	view_page_begin(&page, 1);
	view_page_finish(&page);
	if (page.error)
		answer(client, "503 Service Unavailable", "text/plain", NULL);
	else
		answer(client, "200 OK", "text/html; charset=utf-8", &page);
	blob_free(&page);
}

static void answer_data(const struct server *server, struct client *client)
{
	struct blob blocks = BLOB_INIT;
	const int err = view_live_take(server->live, &blocks);

	if (err == -ENODATA)
		answer(client, "204 No Content", "application/octet-stream", NULL);
	else if (err || blocks.error)
		answer(client, "503 Service Unavailable", "text/plain", NULL);
	else
		answer(client, "200 OK", "application/octet-stream", &blocks);
	blob_free(&blocks);
}

/* Whether the header occurs exactly once, with this value. */
static bool has_host(const char *request, const char *host)
{
	const char *at = strcasestr(request, "\r\nhost:");
	size_t size;

	if (!at || strcasestr(at + 2, "\r\nhost:"))
		return false;
	at += strlen("\r\nhost:");
	at += strspn(at, " \t");
	size = strcspn(at, "\r\n");
	return size == strlen(host) && !memcmp(at, host, size);
}

static void answer_request(const struct server *server, struct client *client)
{
	char page[64], data[64];
	const char *path = client->request + strlen("GET ");
	size_t size;

	if (strncmp(client->request, "GET ", strlen("GET "))) {
		answer(client, "405 Method Not Allowed", "text/plain", NULL);
		return;
	}
	size = strcspn(path, " \r\n");
	snprintf(page, sizeof(page), "/%s/", server->token);
	snprintf(data, sizeof(data), "/%s/data", server->token);
	if (!has_host(client->request, server->host))
		answer(client, "421 Misdirected Request", "text/plain", NULL);
	else if (size == strlen(page) && !memcmp(path, page, size))
		answer_page(client);
	else if (size == strlen(data) && !memcmp(path, data, size))
		answer_data(server, client);
	else
		answer(client, "404 Not Found", "text/plain", NULL);
}

/* --------------------------------------------------------------------------------------------------- connections */

static void drop(struct server *server, unsigned int number)
{
	close(server->clients[number].fd);
	blob_free(&server->clients[number].answer);
	server->nr--;
	memmove(&server->clients[number], &server->clients[number + 1],
		(server->nr - number) * sizeof(server->clients[0]));
}

static void take_client(struct server *server)
{
	const int fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (server->nr == CLIENTS_MAX)
		drop(server, 0);
	server->clients[server->nr++] = (struct client){ .fd = fd };
}

/* Send the next part of the answer. True: keep the client. */
static bool send_answer(struct client *client)
{
	const ssize_t sent = send(client->fd, client->answer.data + client->sent, client->answer.size - client->sent,
				  MSG_NOSIGNAL | MSG_DONTWAIT);

	if (sent < 0)
		return errno == EAGAIN || errno == EINTR;
	client->sent += (size_t)sent;
	return client->sent < client->answer.size;
}

/* Receive the next part of the request. True: keep the client. */
static bool read_client(const struct server *server, struct client *client)
{
	const ssize_t got = recv(client->fd, client->request + client->size, REQUEST_MAX - client->size, MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (got <= 0)
		return false;
	client->size += (size_t)got;
	client->request[client->size] = '\0';
	if (strstr(client->request, "\r\n\r\n")) {
		answer_request(server, client);
		return !client->answer.error && send_answer(client);
	}
	return client->size < REQUEST_MAX;
}

static bool serve_client(const struct server *server, struct client *client)
{
	return client->answer.size ? send_answer(client) : read_client(server, client);
}

static void serve(struct server *server, const sigset_t *waiting)
{
	struct pollfd fds[CLIENTS_MAX + 1];

	while (!ended) {
		const unsigned int nr = server->nr;

		for (unsigned int i = 0; i < nr; i++)
			fds[i] = (struct pollfd){ .fd = server->clients[i].fd,
						  .events = server->clients[i].answer.size ? POLLOUT : POLLIN };
		fds[nr] = (struct pollfd){ .fd = server->fd, .events = POLLIN };
		if (ppoll(fds, nr + 1, NULL, waiting) < 0)
			continue;
		for (unsigned int i = nr; i-- > 0 && !ended;)
			if (fds[i].revents && !serve_client(server, &server->clients[i]))
				drop(server, i);
		if (fds[nr].revents)
			take_client(server);
	}
}

/* -------------------------------------------------------------------------------------------------------- address */

/* Read ADDR:PORT, where ADDR is an address of the loopback interface. */
static bool read_address(const char *text, struct sockaddr_storage *ret_address)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)ret_address;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret_address;
	const char *colon = strrchr(text, ':');
	char host[64], *last;
	unsigned long port;

	memset(ret_address, 0, sizeof(*ret_address));
	if (!colon || (size_t)(colon - text) >= sizeof(host) || colon[1] < '0' || colon[1] > '9')
		return false;
	port = strtoul(colon + 1, &last, 10);
	snprintf(host, sizeof(host), "%.*s", (int)(colon - text), text);
	if (*last || port > 65535)
		return false;
	if (!strcmp(host, "[::1]")) {
		*v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6,
					     .sin6_port = htons((uint16_t)port),
					     .sin6_addr = in6addr_loopback };
		return true;
	}
	if (!strcmp(host, "localhost") || !*host)
		snprintf(host, sizeof(host), "127.0.0.1");
	*v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	return inet_pton(AF_INET, host, &v4->sin_addr) == 1 && ntohl(v4->sin_addr.s_addr) >> 24 == 127;
}

/* Store the real address, with the port that the kernel has chosen. */
static void write_host(struct server *server)
{
	struct sockaddr_storage address;
	socklen_t size = sizeof(address);
	char text[INET6_ADDRSTRLEN], number[8] = "";
	in_port_t port;

	getsockname(server->fd, (struct sockaddr *)&address, &size);
	if (address.ss_family == AF_INET6) {
		const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&address;

		port = ntohs(v6->sin6_port);
		snprintf(server->host, sizeof(server->host), "[%s]",
			 inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof(text)));
	} else {
		const struct sockaddr_in *v4 = (const struct sockaddr_in *)&address;

		port = ntohs(v4->sin_port);
		snprintf(server->host, sizeof(server->host), "%s",
			 inet_ntop(AF_INET, &v4->sin_addr, text, sizeof(text)));
	}
	if (port != DEFAULT_PORT)
		snprintf(number, sizeof(number), ":%u", port);
	strcat(server->host, number);
}

static int start(struct server *server, const char *text)
{
	struct sockaddr_storage address;
	unsigned char random[16];
	const int on = 1;

	if (!read_address(text, &address)) {
		complain(COMMAND,
			 "'%s' is not ADDR:PORT with an address of the loopback interface, such as 127.0.0.1:8080",
			 text);
		return EXIT_USAGE;
	}
	server->fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (server->fd >= 0)
		setsockopt(server->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (server->fd < 0 || bind(server->fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(server->fd, 16) < 0 || getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
		complain(COMMAND, "cannot serve at '%s': %s", text, strerror(errno));
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(server->token + 2 * i, 3, "%02x", random[i]);
	write_host(server);
	return EXIT_SUCCESS;
}

int view_serve(struct view_live *live, const char *address)
{
	const struct sigaction action = { .sa_handler = end };
	struct server *server = calloc(1, sizeof(*server));
	sigset_t set, waiting;
	int status;

	if (!server) {
		complain(COMMAND, "not enough memory");
		return EXIT_FAILURE;
	}
	server->live = live;
	server->fd = -1;
	/* Signals are delivered only during the wait, so that no temporary file is left. */
	sigemptyset(&set);
	for (const int *number = (const int[]){ SIGINT, SIGTERM, SIGHUP, 0 }; *number; number++) {
		sigaddset(&set, *number);
		sigaction(*number, &action, NULL);
	}
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &set, &waiting);
	status = start(server, address ? address : "127.0.0.1:0");
	if (!status && !view_live_open(live))
		status = EXIT_FAILURE;
	if (!status) {
		printf("http://%s/%s/\n", server->host, server->token);
		if (fflush(stdout)) {
			complain(COMMAND, "cannot write the address: %s", strerror(errno));
			status = EXIT_FAILURE;
		} else {
			serve(server, &waiting);
		}
	}
	view_live_close(live);
	while (server->nr)
		drop(server, 0);
	if (server->fd >= 0)
		close(server->fd);
	free(server);
	sigprocmask(SIG_SETMASK, &waiting, NULL);
	return status;
}
