/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose lines those of a syslog name are. */
#include "exporter/maillog/log_instances.h"

#include <string.h>

#include "tests/lib/unit.h"

#include "base/reason.h"

static struct log_instances *
instances_of(const char *text)
{
	struct reason reason;
	struct log_instances *instances =
	    log_instances_new(text, "mx.example.test", &reason);

	assert_non_null(instances);
	return instances;
}

static const char *
instance_of(struct log_instances *instances, const char *syslog_name)
{
	return log_instances_find(instances, maillog_view_of(syslog_name));
}

static void
the_first_part_of_a_syslog_name_tells_the_instance(void **state)
{
	struct log_instances *instances =
	    instances_of(" postfix-out = out.example.test ,");
	const char *out = instance_of(instances, "postfix-out/smtp");

	assert_string_equal(instance_of(instances, "postfix/submission/smtpd"),
	    "mx.example.test");
	assert_string_equal(out, "out.example.test");
	assert_ptr_equal(
	    log_instances_find_instance(instances, "out.example.test"), out);
	assert_string_equal(instance_of(instances, "postfix-mx"), "postfix-mx");
	log_instances_free(&instances);
}

static void
a_gap_is_of_no_instance(void **state)
{
	struct log_instances *instances = instances_of("");

	assert_null(
	    log_instances_find(instances, (struct maillog_view){NULL, 0}));
	assert_null(log_instances_find_instance(instances, ""));
	log_instances_free(&instances);
}

static void
a_list_that_names_nobody_is_refused(void **state)
{
	static const char *const lists[] = {
	    "postfix", "=mx", "postfix=", "a=b, c"};
	struct reason reason;

	for (size_t i = 0; i < COUNT(lists); i++)
		assert_null(log_instances_new(lists[i], "mx", &reason));
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		the_first_part_of_a_syslog_name_tells_the_instance),
	    cmocka_unit_test(a_gap_is_of_no_instance),
	    cmocka_unit_test(a_list_that_names_nobody_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
