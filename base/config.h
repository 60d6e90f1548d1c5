/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * config: typed tables over an INI file.
 *
 * A program describes its options once, in a table next to the struct they
 * fill: name, type, default, bounds, help. From the table come the parser,
 * `-t`, `-p`, and the reference in the documentation. All programs share one
 * file; each reads its own sections and knows the names of the others
 * (config_sections), so that a misspelt section is an error everywhere, and an
 * unknown key in a section one reads is an error naming file and line.
 */
#ifndef BASE_CONFIG_H
#define BASE_CONFIG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct reason;

/* Where programs look unless told otherwise. */
#define CONFIG_DEFAULT_PATH "/etc/postlag/postlag.conf"

enum config_type {
	CONFIG_STRING,   /* char *; owned by the settings */
	CONFIG_INTEGER,  /* int64_t */
	CONFIG_BOOLEAN,  /* bool; yes or no */
	CONFIG_DURATION, /* int64_t nanoseconds; 0, or a number with ms s m h d
			  */
	CONFIG_SIZE, /* int64_t bytes; a number, with K M G as powers of 1024 */
	CONFIG_CHOICE /* int; index into the choices */
};

struct config_item {
	const char *name;
	enum config_type type;
	size_t offset;             /* of the member in the settings struct */
	const char *default_value; /* in the file's own syntax */
	int64_t minimum, maximum;  /* in the member's unit; both 0: no bounds */
	const char *const *choices; /* CONFIG_CHOICE: NULL-terminated */
	const char *help;           /* one sentence, for the reference */
};

/* One section of the file and the struct that it fills. */
struct config_section {
	const char *name;
	const struct config_item *items;
	size_t item_count;
	void *settings;
};

/* The names a section of the file may have, NULL-terminated. */
extern const char *const config_sections[];

/* Fills the settings of all `count` sections: defaults first, then what the
 * file at `path` says. Strings the settings held before are freed, so that
 * members must be NULL or from here. Returns 0; -1 with the reason "FILE:LINE:
 * ..." on the first error, settings then being usable but unspecified. */
int config_load(const char *path, const struct config_section *sections,
    size_t count, struct reason *reason);

/* The same from text in memory; `name` stands for the file in reasons. */
int config_parse(const char *name, const char *text,
    const struct config_section *sections, size_t count, struct reason *reason);

/* Frees the strings and sets them to NULL. */
void config_free(const struct config_section *sections, size_t count);

/* Writes the effective values as a file that config_load() accepts. */
void config_print(
    FILE *out, const struct config_section *sections, size_t count);

/* Writes the reference of one section as a Markdown table: option, default,
 * meaning. */
void config_print_reference(FILE *out, const struct config_section *section);

#endif
