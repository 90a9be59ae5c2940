/* SPDX-License-Identifier: MIT */
/* Addresses: of network cards, of the internet, of sockets; and identifiers of 16 bytes. */
#include "format/print/print_program_private.h"

#include <netinet/in.h>

static void put_bytes(struct print_text *text, const unsigned char *bytes, const char *between)
{
	/* `between` has, for each byte, the character printed before it; a space: none. */
	for (unsigned int i = 0; between[i]; i++) {
		if (between[i] != ' ')
			print_text_putc(text, between[i]);
		print_text_byte(text, bytes[i]);
	}
}

static void put_ip4(struct print_text *text, const unsigned char *bytes)
{
	for (unsigned int i = 0; i < 4; i++) {
		if (i)
			print_text_putc(text, '.');
		print_text_decimal(text, bytes[i], 0, ' ');
	}
}

static unsigned int word_of(const unsigned char *bytes, unsigned int i)
{
	return (unsigned int)bytes[2 * i] << 8 | bytes[2 * i + 1];
}

/* Whether the end of the address is shown as an IPv4 address: in mapped addresses, and in those of ISATAP. */
static bool ends_as_ip4(const unsigned char *bytes)
{
	static const unsigned char zeros[10];

	if (!memcmp(bytes, zeros, 10) && word_of(bytes, 5) == 0xffff)
		return true;
	return (bytes[8] | 2) == 2 && !bytes[9] && word_of(bytes, 5) == 0x5efe;
}

/* The first of the longest runs of at least two words that are zero. Returns its length; 0 if there is no such run. */
static unsigned int find_zeros(const unsigned char *bytes, unsigned int words, unsigned int *ret_first)
{
	unsigned int longest = 1;

	for (unsigned int i = 0; i < words; i++) {
		unsigned int length = 0;

		while (i + length < words && !word_of(bytes, i + length))
			length++;
		if (length > longest) {
			longest = length;
			*ret_first = i;
		}
	}
	return longest > 1 ? longest : 0;
}

static void put_ip6_short(struct print_text *text, const unsigned char *bytes)
{
	const bool has_ip4 = ends_as_ip4(bytes);
	const unsigned int words = has_ip4 ? 6 : 8;
	unsigned int first = 0, zeros = find_zeros(bytes, words, &first);
	bool needs_colon = false;

	for (unsigned int i = 0; i < words; i++) {
		if (zeros && i == first) {
			print_text_puts(text, needs_colon || !i ? "::" : ":");
			needs_colon = false;
			i += zeros - 1;
			continue;
		}
		if (needs_colon)
			print_text_putc(text, ':');
		print_text_hex(text, word_of(bytes, i));
		needs_colon = true;
	}
	if (!has_ip4)
		return;
	if (needs_colon)
		print_text_putc(text, ':');
	put_ip4(text, bytes + 12);
}

/* A socket's address with its port; for other families, no text. */
static void put_socket(struct print_text *text, const unsigned char *bytes)
{
	struct sockaddr_in6 socket;

	memcpy(&socket, bytes, sizeof(socket));
	if (socket.sin6_family == AF_INET) {
		put_ip4(text, bytes + offsetof(struct sockaddr_in, sin_addr));
		print_text_putc(text, ':');
	} else if (socket.sin6_family == AF_INET6) {
		print_text_putc(text, '[');
		put_ip6_short(text, bytes + offsetof(struct sockaddr_in6, sin6_addr));
		print_text_puts(text, "]:");
	} else {
		return;
	}
	/* Both families have the port at the same place. */
	print_text_decimal(text, ntohs(socket.sin6_port), 0, ' ');
}

void print_address(struct print_text *text, char letter, const unsigned char *bytes)
{
	switch (letter) {
	case 'M':
		put_bytes(text, bytes, " :::::");
		return;
	case 'U':
		put_bytes(text, bytes, "    - - - -     ");
		return;
	case 'I':
		put_ip4(text, bytes);
		return;
	case 'S':
		put_socket(text, bytes);
		return;
	case '6':
		put_bytes(text, bytes, "  : : : : : : : ");
		return;
	default:
		put_ip6_short(text, bytes);
	}
}
