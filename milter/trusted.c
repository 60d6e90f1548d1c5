/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads and searches the list of trusted re-injectors. Pure; the list is
 * searched once a connection.
 */
#include "milter/trusted.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reason.h"
#include "milter/client.h"

#define SEPARATORS " \t\r\n,"
#define NON_SMTP "non-smtp"
#define IPV4_PREFIX_BITS 96

static const uint8_t ipv4_prefix[12] = {[10] = 0xff, [11] = 0xff};

/* Returns the number of bits in front of the address proper (96 for IPv4), or
 * -1 when the text is no address. */
static int
address_parse(const char *text, uint8_t address_r[16])
{
	if (inet_pton(AF_INET6, text, address_r) == 1)
		return 0;
	memcpy(address_r, ipv4_prefix, sizeof(ipv4_prefix));
	if (inet_pton(AF_INET, text, address_r + sizeof(ipv4_prefix)) == 1)
		return IPV4_PREFIX_BITS;
	return -1;
}

static bool
same_prefix(const uint8_t *left, const uint8_t *right, unsigned bits)
{
	unsigned whole = bits / 8, rest = bits % 8;

	if (memcmp(left, right, whole) != 0)
		return false;
	return rest == 0 || (left[whole] ^ right[whole]) >> (8 - rest) == 0;
}

static bool
ends_in_zeros(const struct trusted_network *network)
{
	for (unsigned bit = network->prefix_bits; bit < 128; bit++)
		if (network->address[bit / 8] & (0x80 >> bit % 8))
			return false;
	return true;
}

/* Returns 0, or -1 when `length` is no prefix length behind `offset` bits. */
static int
prefix_parse(const char *length, unsigned offset, unsigned *bits_r)
{
	char *end;
	unsigned long bits;

	*bits_r = 128;
	if (length == NULL)
		return 0;
	if (strspn(length, "0123456789") != strlen(length) || *length == '\0')
		return -1;
	bits = strtoul(length, &end, 10);
	if (bits > 128 - offset)
		return -1;
	*bits_r = offset + (unsigned)bits;
	return 0;
}

static int
network_parse(char *item, struct trusted_network *network_r)
{
	char *length = strchr(item, '/');
	size_t size;
	int offset;

	if (length != NULL)
		*length++ = '\0';
	size = strlen(item);
	if (size > 2 && item[0] == '[' && item[size - 1] == ']') {
		item[size - 1] = '\0';
		item++;
	}
	offset = address_parse(item, network_r->address);
	if (offset < 0)
		return -1;
	return prefix_parse(length, (unsigned)offset, &network_r->prefix_bits);
}

static int
item_parse(const char *item, struct trusted *trusted, struct reason *reason)
{
	struct trusted_network *network;
	char copy[64];

	if (strcmp(item, NON_SMTP) == 0) {
		trusted->non_smtp = true;
		return 0;
	}
	if (trusted->count == TRUSTED_NETWORKS_MAX)
		return reason_set(reason, "\"%s\": more than %d networks", item,
		    TRUSTED_NETWORKS_MAX);
	network = &trusted->networks[trusted->count];
	if (strlen(item) >= sizeof(copy) ||
	    network_parse(strcpy(copy, item), network) != 0)
		return reason_set(
		    reason, "\"%s\" is no address or network", item);
	if (!ends_in_zeros(network))
		return reason_set(
		    reason, "\"%s\" has bits beyond its prefix", item);
	trusted->count++;
	return 0;
}

int
trusted_parse(
    const char *text, struct trusted *trusted_r, struct reason *reason)
{
	char *copy = strdup(text), *rest = copy, *item;
	int result = 0;

	*trusted_r = (struct trusted){.count = 0};
	if (copy == NULL)
		return reason_set(reason, "out of memory");
	while (result == 0 && (item = strsep(&rest, SEPARATORS)) != NULL)
		if (*item != '\0')
			result = item_parse(item, trusted_r, reason);
	free(copy);
	return result;
}

bool
trusted_contains(const struct trusted *trusted, const struct client *client)
{
	uint8_t address[16];

	if (client->non_smtp)
		return trusted->non_smtp;
	if (address_parse(client->address, address) < 0)
		return false;
	for (size_t i = 0; i < trusted->count; i++)
		if (same_prefix(address, trusted->networks[i].address,
			trusted->networks[i].prefix_bits))
			return true;
	return false;
}
