/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A scanner of two languages, as far as it must. Called by logger_conf.c at
 * start.
 */
#include "exporter/read/rsyslog_conf.h"

#include <ctype.h>

/* A name in lower case, cut: longer ones have no meaning here. */
struct name {
	char text[32];
};

static bool
is_name(int character)
{
	return isalnum(character) || character == '.' || character == '_' ||
	       character == '$' || character == '-';
}

static struct name
lower(struct maillog_view view)
{
	struct name name = {""};

	for (size_t i = 0; i < view.size && i < sizeof(name.text) - 1; i++)
		name.text[i] = (char)tolower((unsigned char)view.at[i]);
	return name;
}

static bool
is(struct maillog_view view, const char *text)
{
	return view.size < sizeof(struct name) &&
	       strcmp(lower(view).text, text) == 0;
}

static void
skip(struct maillog_view *text, size_t size)
{
	*text =
	    maillog_view_behind(*text, size < text->size ? size : text->size);
}

static void
skip_line(struct maillog_view *text)
{
	const char *end =
	    text->size > 0 ? memchr(text->at, '\n', text->size) : NULL;

	skip(text, end != NULL ? (size_t)(end - text->at) : text->size);
}

/* Blanks and comments. */
static void
skip_blank(struct maillog_view *text)
{
	static const struct maillog_view open = MAILLOG_LITERAL("/*");
	static const struct maillog_view close = MAILLOG_LITERAL("*/");
	size_t end;

	for (;;) {
		while (text->size > 0 && isspace((unsigned char)*text->at))
			skip(text, 1);
		if (text->size > 0 && *text->at == '#') {
			skip_line(text);
		} else if (maillog_view_begins(*text, open)) {
			end = maillog_view_find(*text, close);
			skip(text, end == SIZE_MAX ? text->size : end + 2);
		} else {
			return;
		}
	}
}

static struct maillog_view
take_name(struct maillog_view *text)
{
	struct maillog_view name = {text->at, 0};

	while (name.size < text->size &&
	       is_name((unsigned char)text->at[name.size]))
		name.size++;
	skip(text, name.size);
	return name;
}

/* In quotes, which are taken off, or up to a blank or parenthesis. */
static struct maillog_view
take_value(struct maillog_view *text)
{
	struct maillog_view value = *text;
	char quote = text->size > 0 ? *text->at : '\0';
	size_t size = 0;

	if (quote == '"' || quote == '\'') {
		skip(text, 1);
		value = *text;
		while (size < value.size && value.at[size] != quote)
			size += value.at[size] == '\\' ? 2 : 1;
		size = size < value.size ? size : value.size;
		value.size = size;
		skip(text, size + 1);
		return value;
	}
	while (size < value.size && !isspace((unsigned char)value.at[size]) &&
	       value.at[size] != ')')
		size++;
	value.size = size;
	skip(text, size);
	return value;
}

struct meaning {
	const char *name;
	enum rsyslog_setting_kind kind;
};

static const struct meaning legacy_meanings[] = {
    {"$modload", RSYSLOG_LOADS},
    {"$includeconfig", RSYSLOG_INCLUDES},
    {"$systemlogratelimitinterval", RSYSLOG_SOCKET_INTERVAL},
    {"$systemlogratelimitburst", RSYSLOG_SOCKET_BURST},
    {"$imuxsockratelimitinterval", RSYSLOG_SOCKET_INTERVAL},
    {"$imuxsockratelimitburst", RSYSLOG_SOCKET_BURST},
    {"$imjournalratelimitinterval", RSYSLOG_JOURNAL_INTERVAL},
    {"$imjournalratelimitburst", RSYSLOG_JOURNAL_BURST},
    {NULL, RSYSLOG_LOADS},
};

static const struct meaning socket_meanings[] = {
    {"syssock.ratelimit.interval", RSYSLOG_SOCKET_INTERVAL},
    {"syssock.ratelimit.burst", RSYSLOG_SOCKET_BURST},
    {"ratelimit.interval", RSYSLOG_SOCKET_INTERVAL},
    {"ratelimit.burst", RSYSLOG_SOCKET_BURST},
    {NULL, RSYSLOG_LOADS},
};

static const struct meaning journal_meanings[] = {
    {"ratelimit.interval", RSYSLOG_JOURNAL_INTERVAL},
    {"ratelimit.burst", RSYSLOG_JOURNAL_BURST},
    {NULL, RSYSLOG_LOADS},
};

/* Returns whether the name has a meaning, and a number where it must. */
static bool
find_meaning(const struct meaning *meanings, struct maillog_view name,
    struct rsyslog_setting *setting)
{
	while (meanings->name != NULL && !is(name, meanings->name))
		meanings++;
	if (meanings->name == NULL)
		return false;
	setting->kind = meanings->kind;
	setting->number = 0;
	return setting->kind == RSYSLOG_LOADS ||
	       setting->kind == RSYSLOG_INCLUDES ||
	       maillog_view_number(setting->value, &setting->number) == 0;
}

/* The module's name without ".so" and what is in front of it. */
static struct maillog_view
module_name(struct maillog_view value)
{
	static const struct maillog_view ending = MAILLOG_LITERAL(".so");
	size_t slash = maillog_view_find_last(
	    value, (struct maillog_view)MAILLOG_LITERAL("/"));

	if (slash != SIZE_MAX)
		value = maillog_view_behind(value, slash + 1);
	if (value.size >= ending.size &&
	    maillog_view_equal(
		maillog_view_behind(value, value.size - ending.size), ending))
		value.size -= ending.size;
	return value;
}

static bool
read_parameter(struct rsyslog_conf *conf, struct maillog_view name,
    struct rsyslog_setting *setting)
{
	if (conf->is_include) {
		setting->kind = RSYSLOG_INCLUDES;
		return is(name, "file");
	}
	if (is(name, conf->is_input ? "type" : "load")) {
		conf->module = module_name(setting->value);
		setting->kind = RSYSLOG_LOADS;
		setting->value = conf->module;
		return true;
	}
	if (is(conf->module, "imuxsock"))
		return find_meaning(socket_meanings, name, setting);
	if (is(conf->module, "imjournal"))
		return find_meaning(journal_meanings, name, setting);
	return false;
}

/* Between the parentheses. Returns whether a setting was found; false at their
 * end, too. */
static bool
next_parameter(struct rsyslog_conf *conf, struct rsyslog_setting *setting_r)
{
	struct maillog_view name;

	skip_blank(&conf->text);
	if (conf->text.size == 0 || *conf->text.at == ')') {
		skip(&conf->text, 1);
		conf->in_object = false;
		return false;
	}
	name = take_name(&conf->text);
	skip_blank(&conf->text);
	if (name.size == 0 || conf->text.size == 0 || *conf->text.at != '=') {
		skip(&conf->text, name.size == 0);
		return false;
	}
	skip(&conf->text, 1);
	skip_blank(&conf->text);
	setting_r->value = take_value(&conf->text);
	return read_parameter(conf, name, setting_r);
}

static bool
next_statement(struct rsyslog_conf *conf, struct rsyslog_setting *setting_r)
{
	struct maillog_view name;

	skip_blank(&conf->text);
	name = take_name(&conf->text);
	if (name.size > 0 && *name.at == '$') {
		while (conf->text.size > 0 &&
		       (*conf->text.at == ' ' || *conf->text.at == '\t'))
			skip(&conf->text, 1);
		setting_r->value = take_value(&conf->text);
		skip_line(&conf->text);
		if (is(name, "$modload"))
			setting_r->value = module_name(setting_r->value);
		return find_meaning(legacy_meanings, name, setting_r);
	}
	conf->is_input = is(name, "input");
	conf->is_include = is(name, "include");
	if (conf->is_input || conf->is_include || is(name, "module")) {
		skip_blank(&conf->text);
		conf->in_object = conf->text.size > 0 && *conf->text.at == '(';
		conf->module = (struct maillog_view){0};
	}
	if (conf->in_object)
		skip(&conf->text, 1);
	else
		skip_line(&conf->text);
	return false;
}

bool
rsyslog_conf_next(struct rsyslog_conf *conf, struct rsyslog_setting *setting_r)
{
	while (conf->text.size > 0)
		if (conf->in_object ? next_parameter(conf, setting_r)
				    : next_statement(conf, setting_r))
			return true;
	return false;
}

/* Whether a path ends or goes on with this character. */
static bool
is_of_path(int character)
{
	return isalnum(character) || character == '.' || character == '_' ||
	       character == '/';
}

/* Comments begin behind a blank: a pattern may hold what looks like one. */
bool
rsyslog_conf_names(struct maillog_view text, struct maillog_view path)
{
	unsigned char before = ' ';

	for (;;) {
		if (isspace(before))
			skip_blank(&text);
		if (text.size == 0)
			return false;
		if (maillog_view_begins(text, path) && !is_of_path(before) &&
		    (text.size == path.size ||
			!is_of_path((unsigned char)text.at[path.size])))
			return true;
		before = (unsigned char)*text.at;
		skip(&text, 1);
	}
}
