/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One row per type of option: how it is read, how it is written. Called by
 * config.c and config_print.c, at start and reload.
 */
#include "base/config_value.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/reason.h"

struct unit {
	const char *name;
	int64_t factor;
};

/* Largest first: written in the largest that divides the value. */
static const struct unit duration_units[] = {
    {"d", CLOCK_NS_PER_DAY},
    {"h", 3600 * CLOCK_NS_PER_SECOND},
    {"m", 60 * CLOCK_NS_PER_SECOND},
    {"s", CLOCK_NS_PER_SECOND},
    {"ms", CLOCK_NS_PER_SECOND / 1000},
    {NULL, 0},
};

static const struct unit size_units[] = {
    {"G", INT64_C(1) << 30},
    {"M", INT64_C(1) << 20},
    {"K", INT64_C(1) << 10},
    {"", 1},
    {NULL, 0},
};

static const struct unit integer_units[] = {{"", 1}, {NULL, 0}};

typedef int value_read(const struct config_item *item, const char *text,
    void *member, struct reason *reason);
typedef void value_write(
    const struct config_item *item, const void *member, struct buffer *buffer);

static value_read read_string, read_number, read_boolean, read_choice;
static value_write write_string, write_number, write_boolean, write_choice;

static const struct type {
	value_read *read;
	value_write *write;
	const struct unit *units; /* numbers only */
	const char *syntax;
} types[] = {
    [CONFIG_STRING] = {read_string, write_string, NULL, NULL},
    [CONFIG_INTEGER] = {read_number, write_number, integer_units,
	"a whole number"},
    [CONFIG_BOOLEAN] = {read_boolean, write_boolean, NULL, "yes or no"},
    [CONFIG_DURATION] = {read_number, write_number, duration_units,
	"a duration: 0, or a number with ms, s, m, h or d"},
    [CONFIG_SIZE] = {read_number, write_number, size_units,
	"a size: a number of bytes, or one with K, M or G"},
    [CONFIG_CHOICE] = {read_choice, write_choice, NULL, NULL},
};

static int
read_string(const struct config_item *item, const char *text, void *member,
    struct reason *reason)
{
	char *copy = strdup(text);

	(void)item;
	if (copy == NULL)
		return reason_set(reason, "out of memory");
	free(*(char **)member);
	*(char **)member = copy;
	return 0;
}

static void
write_string(
    const struct config_item *item, const void *member, struct buffer *buffer)
{
	const char *text = *(char *const *)member;

	(void)item;
	buffer_append_string(buffer, text != NULL ? text : "");
}

static void
write_with_unit(const struct unit *unit, int64_t number, struct buffer *buffer)
{
	if (number == 0) {
		buffer_append_string(buffer, "0");
		return;
	}
	while (unit[1].name != NULL && number % unit->factor != 0)
		unit++;
	buffer_append_format(
	    buffer, "%lld%s", (long long)(number / unit->factor), unit->name);
}

/* Digits, at most 18 of them, then exactly one of the unit names. Only 0 may
 * stand without a unit where none is empty. */
static int
parse_with_unit(const struct unit *unit, const char *text, int64_t *number_r)
{
	bool negative = text[0] == '-';
	const char *digits = text + negative;
	size_t size = strspn(digits, "0123456789");
	int64_t number;

	if (size == 0 || size > 18)
		return -1;
	number = strtoll(digits, NULL, 10);
	while (unit->name != NULL && strcmp(unit->name, digits + size) != 0)
		unit++;
	if (unit->name == NULL && (number != 0 || digits[size] != '\0'))
		return -1;
	if (unit->name != NULL &&
	    __builtin_mul_overflow(number, unit->factor, &number))
		return -1;
	*number_r = negative ? -number : number;
	return 0;
}

static int
check_bounds(
    const struct config_item *item, int64_t number, struct reason *reason)
{
	bool below = number < item->minimum;
	struct buffer bound = {.limit = 100};

	if (item->minimum == 0 && item->maximum == 0)
		return 0;
	if (!below && number <= item->maximum)
		return 0;
	write_with_unit(types[item->type].units,
	    below ? item->minimum : item->maximum, &bound);
	reason_set(reason, "is %s %.*s, which is the %s",
	    below ? "below" : "above", (int)bound.size,
	    bound.size > 0 ? (const char *)bound.data : "",
	    below ? "least" : "most");
	buffer_free(&bound);
	return -1;
}

static int
read_number(const struct config_item *item, const char *text, void *member,
    struct reason *reason)
{
	const struct type *type = &types[item->type];
	int64_t number;

	if (parse_with_unit(type->units, text, &number) < 0)
		return reason_set(reason, "is not %s", type->syntax);
	if (check_bounds(item, number, reason) < 0)
		return -1;
	*(int64_t *)member = number;
	return 0;
}

static void
write_number(
    const struct config_item *item, const void *member, struct buffer *buffer)
{
	write_with_unit(
	    types[item->type].units, *(const int64_t *)member, buffer);
}

static int
read_boolean(const struct config_item *item, const char *text, void *member,
    struct reason *reason)
{
	bool yes = strcmp(text, "yes") == 0;

	if (!yes && strcmp(text, "no") != 0)
		return reason_set(
		    reason, "is not %s", types[item->type].syntax);
	*(bool *)member = yes;
	return 0;
}

static void
write_boolean(
    const struct config_item *item, const void *member, struct buffer *buffer)
{
	(void)item;
	buffer_append_string(buffer, *(const bool *)member ? "yes" : "no");
}

/* "a, b or c" */
static void
list_choices(const char *const *choices, struct buffer *buffer)
{
	for (int i = 0; choices[i] != NULL; i++) {
		const char *before = choices[i + 1] != NULL ? ", " : " or ";

		buffer_append_format(
		    buffer, "%s%s", i > 0 ? before : "", choices[i]);
	}
}

static int
read_choice(const struct config_item *item, const char *text, void *member,
    struct reason *reason)
{
	struct buffer list = {.limit = sizeof(reason->text)};

	for (int i = 0; item->choices[i] != NULL; i++) {
		if (strcmp(item->choices[i], text) != 0)
			continue;
		*(int *)member = i;
		return 0;
	}
	list_choices(item->choices, &list);
	reason_set(reason, "is not %.*s", (int)list.size,
	    list.size > 0 ? (const char *)list.data : "");
	buffer_free(&list);
	return -1;
}

static void
write_choice(
    const struct config_item *item, const void *member, struct buffer *buffer)
{
	buffer_append_string(buffer, item->choices[*(const int *)member]);
}

int
config_value_read(const struct config_item *item, const char *text,
    void *settings, struct reason *reason)
{
	return types[item->type].read(
	    item, text, (char *)settings + item->offset, reason);
}

void
config_value_write(
    const struct config_item *item, const void *settings, struct buffer *buffer)
{
	types[item->type].write(
	    item, (const char *)settings + item->offset, buffer);
}

void
config_value_describe(const struct config_item *item, struct buffer *buffer)
{
	const struct unit *units = types[item->type].units;

	if (item->type == CONFIG_CHOICE) {
		buffer_append_string(buffer, " One of ");
		list_choices(item->choices, buffer);
		buffer_append_string(buffer, ".");
	} else if (item->minimum == 0 && item->maximum == 0) {
		return;
	} else if (item->maximum == INT64_MAX) {
		buffer_append_string(buffer, " At least ");
		write_with_unit(units, item->minimum, buffer);
		buffer_append_string(buffer, ".");
	} else {
		buffer_append_string(buffer, " From ");
		write_with_unit(units, item->minimum, buffer);
		buffer_append_string(buffer, " to ");
		write_with_unit(units, item->maximum, buffer);
		buffer_append_string(buffer, ".");
	}
}
