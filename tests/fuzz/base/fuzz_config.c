/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The configuration parser. What it accepts, printed, must be accepted again
 * and print the same.
 */
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/daemon.h"
#include "base/reason.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct settings {
	struct daemon_settings daemon;
	char *listen;
	int64_t timeout_ns;
	int64_t limit_bytes;
	int64_t recipients;
	bool enabled;
};

static const struct config_item items[] = {
    DAEMON_CONFIG_ITEMS(struct settings, daemon, "nobody"),
    {"listen", CONFIG_STRING, offsetof(struct settings, listen), "", 0, 0, NULL,
	"Where."},
    {"timeout", CONFIG_DURATION, offsetof(struct settings, timeout_ns), "10s",
	INT64_C(1000000), INT64_MAX, NULL, "How long."},
    {"limit", CONFIG_SIZE, offsetof(struct settings, limit_bytes), "512M", 0, 0,
	NULL, "How much."},
    {"recipients", CONFIG_INTEGER, offsetof(struct settings, recipients), "10",
	-5, 1000, NULL, "How many."},
    {"enabled", CONFIG_BOOLEAN, offsetof(struct settings, enabled), "yes", 0, 0,
	NULL, "Whether."},
};

static char *
print(const struct config_section *section)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert(out != NULL);
	config_print(out, section, 1);
	fclose(out);
	return text;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct settings settings = {.enabled = false};
	struct config_section section = {
	    "milter",
	    items,
	    sizeof(items) / sizeof(items[0]),
	    &settings,
	};
	char *text = strndup((const char *)data, size);
	struct reason reason;
	char *first, *second;

	assert(text != NULL);
	if (config_parse("fuzz", text, &section, 1, &reason) == 0) {
		first = print(&section);
		if (config_parse("fuzz", first, &section, 1, &reason) < 0) {
			fprintf(stderr, "%s\n%s", reason.text, first);
			abort();
		}
		second = print(&section);
		assert(strcmp(first, second) == 0);
		free(first);
		free(second);
	}
	config_free(&section, 1);
	free(text);
	return 0;
}
