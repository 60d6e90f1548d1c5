/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the join asks of the store and how legs come together: parts, waiting
 * legs and their settlement, open messages, generations of queue ids.
 */
#include "tests/store/store_fixture.h"

#include "store/store_private.h"

static struct message_key
add_message(
    struct fixture *fixture, uint64_t number, struct fixture_message *message)
{
	struct message_key key;

	if (fixture_add_message(fixture, number, message, &key) != 0)
		fail_msg("%s", fixture->reason.text);
	return key;
}

/* One part with one recipient of the delivery. */
static int64_t
add_part(struct fixture *fixture, const struct fixture_delivery *delivery,
    uint32_t part, const struct message_key *key, enum leg_state state)
{
	struct delivery_event event = delivery->event;
	struct leg_verdict verdict = {state, state == LEG_STAMPED ? key : NULL};
	int64_t row;

	event.part = part;
	event.recipients = event.recipients + part;
	event.recipient_count = 1;
	event.ending =
	    part == 2 ? DELIVERY_ENDING_COMPLETED : DELIVERY_ENDING_NONE;
	if (store_add_leg(key->file, &event, &fixture_segment, &verdict, &row,
		&fixture->reason) != 0)
		fail_msg("%s", fixture->reason.text);
	return row;
}

static void
parts_of_a_delivery_are_one_leg(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct fixture_delivery delivery;
	const struct message_record *record;
	const struct delivery_event *event;
	struct message_key key = add_message(fixture, 2, &message);
	int64_t row;

	fixture_fill_delivery(&delivery, &message, 2);
	row = add_part(fixture, &delivery, 0, &key, LEG_STAMPED);
	assert_int_equal(
	    add_part(fixture, &delivery, 1, &key, LEG_STAMPED), row);
	fixture_must_commit(fixture, 1);
	assert_int_equal(
	    add_part(fixture, &delivery, 2, &key, LEG_STAMPED), row);
	fixture_must_commit(fixture, 2);
	record = fixture_find_one(fixture, message.queue_id);
	assert_int_equal(record->leg_count, 1);
	event = &record->legs[0].event;
	assert_int_equal(event->ending, DELIVERY_ENDING_COMPLETED);
	assert_int_equal(event->part, 2);
	assert_string_equal(event->queue_id, message.queue_id);
	assert_int_equal(event->recipient_count, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(event->recipients[i].position, i);
		assert_string_equal(
		    event->recipients[i].final.text, delivery.texts[i]);
	}
	for (uint32_t part = 0; part < 3; part++)
		assert_int_equal(store_has_leg(fixture->store,
				     &delivery.event.id, part, NULL, NULL),
		    1);
	assert_int_equal(
	    store_has_leg(fixture->store, &delivery.event.id, 3, NULL, NULL),
	    0);
}

static int
count_waiting(void *context, const struct waiting_leg *leg)
{
	struct waiting_leg *last = context;

	last->key = leg->key;
	last->event.sequence++;
	last->event.recipient_count = leg->event.recipient_count;
	assert_string_equal(leg->instance, fixture_segment.instance);
	assert_memory_equal(leg->boot_id, fixture_segment.boot_id, 16);
	return 0;
}

static void
a_waiting_leg_is_kept_whole_until_it_is_settled(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct fixture_delivery delivery;
	const struct message_record *record;
	struct waiting_leg last = {0};
	struct leg_verdict verdict = {LEG_STAMPED, NULL};
	struct message_key key;
	int64_t row;

	fixture_fill_message(&message, 2);
	fixture_fill_delivery(&delivery, &message, 2);
	key.file = store_file(fixture->store, fixture_message_ns(2), NULL);
	row = add_part(fixture, &delivery, 0, &key, LEG_WAITING);
	add_part(fixture, &delivery, 1, &key, LEG_WAITING);
	fixture_must_commit(fixture, 1);
	/* Without its message it is a record of its own. */
	record = fixture_find_one(fixture, message.queue_id);
	assert_false(uuid_is_set(&record->event.id));
	assert_int_equal(record->leg_count, 1);
	assert_int_equal(record->legs[0].state, LEG_WAITING);
	assert_int_equal(record->recipient_count, 2);
	assert_int_equal(record->recipients[0].state, RECIPIENT_DELIVERED);
	record = fixture_find_one(fixture, message.message_id);
	assert_false(uuid_is_set(&record->event.id));

	fixture_reopen(fixture);
	assert_int_equal(
	    store_each_waiting(fixture->store, count_waiting, &last, NULL), 0);
	assert_int_equal(last.event.sequence, 1);
	assert_int_equal(last.event.recipient_count, 2);
	assert_int_equal(last.key.row, row);

	key = add_message(fixture, 2, &message);
	verdict.message = &key;
	assert_int_equal(
	    store_settle_leg(last.key.file, row, &verdict, NULL), 0);
	add_part(fixture, &delivery, 2, &key, LEG_STAMPED);
	fixture_must_commit(fixture, 2);
	record = fixture_find_one(fixture, message.queue_id);
	assert_true(uuid_equal(&record->event.id, &message.event.id));
	assert_int_equal(record->leg_count, 1);
	assert_int_equal(record->legs[0].state, LEG_STAMPED);
	assert_int_equal(record->legs[0].event.recipient_count, 3);
	memset(&last, 0, sizeof(last));
	assert_int_equal(
	    store_each_waiting(fixture->store, count_waiting, &last, NULL), 0);
	assert_int_equal(last.event.sequence, 0);
}

static void
several_legs_are_told_in_the_order_they_began(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct fixture_delivery delivery;
	const struct message_record *record;
	struct message_key key = add_message(fixture, 2, &message);
	struct leg_verdict verdict = {LEG_QUEUE_ID, &key};
	struct recipient_change change = {.number = 1,
	    .state = RECIPIENT_DELIVERED,
	    .attempts = 2,
	    .leg_position = 1};
	int64_t row, begin_ns = fixture_delivery_ns(2);

	/* The second attempt comes a day later, at an earlier time of day. */
	for (int attempt = 1; attempt >= 0; attempt--) {
		int64_t at_ns = begin_ns + attempt * (DAY_NS - 60 * SECOND_NS);

		fixture_fill_delivery(&delivery, &message, 2);
		delivery.event.id = fixture_id(at_ns, (uint64_t)attempt + 5);
		delivery.event.mail_at = fixture_stamp(at_ns);
		delivery.event.queue_id = attempt == 1 ? "OTHER1" : NULL;
		assert_int_equal(store_add_leg(key.file, &delivery.event,
				     &fixture_segment, &verdict, &row, NULL),
		    0);
		if (attempt == 1)
			change.leg_row = row;
	}
	assert_int_equal(store_change_recipient(&key, &change, NULL), 0);
	fixture_must_commit(fixture, 1);
	record = fixture_find_one(fixture, "OTHER1");
	assert_true(uuid_equal(&record->event.id, &message.event.id));
	assert_int_equal(record->leg_count, 2);
	assert_null(record->legs[0].event.queue_id);
	assert_string_equal(record->legs[1].event.queue_id, "OTHER1");
	assert_int_equal(record->recipients[0].leg, -1);
	assert_int_equal(record->recipients[1].leg, 1);
	assert_int_equal(record->recipients[1].leg_recipient, 1);
	assert_int_equal(record->recipients[1].attempts, 2);
}

static void
a_leg_whose_decision_is_revised_is_still_told(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct fixture_delivery delivery;
	const struct message_record *record;
	struct message_key key = add_message(fixture, 3, &message);
	struct leg_verdict verdict = {LEG_STAMPED, &key};
	struct recipient_change change = {
	    .state = RECIPIENT_BOUNCED, .attempts = 1};

	for (uint64_t attempt = 0; attempt < 2; attempt++) {
		fixture_fill_delivery(&delivery, &message, 3);
		delivery.event.id =
		    fixture_id(fixture_delivery_ns(3 + attempt), attempt);
		assert_int_equal(
		    store_add_leg(key.file, &delivery.event, &fixture_segment,
			&verdict, &change.leg_row, NULL),
		    0);
		assert_int_equal(
		    store_change_recipient(&key, &change, NULL), 0);
		fixture_must_commit(fixture, attempt + 1);
	}
	record = fixture_find_one(fixture, message.queue_id);
	assert_int_equal(record->leg_count, 2);
	assert_int_equal(record->recipients[0].leg, 1);
}

static int
count_open(void *context, const struct open_message *message)
{
	unsigned *count = context;
	struct fixture_message wanted;

	fixture_fill_message(&wanted, 10 + *count);
	assert_true(uuid_equal(&message->id, &wanted.event.id));
	assert_string_equal(message->queue_id, wanted.queue_id);
	assert_string_equal(message->instance, fixture_segment.instance);
	assert_memory_equal(message->boot_id, fixture_segment.boot_id, 16);
	assert_int_equal(message->ending, MESSAGE_ENDING_ACCEPTED);
	assert_int_equal(
	    message->mail_at.wall_ns, wanted.event.mail_at.wall_ns);
	assert_int_equal(
	    message->ended_at.monotonic_ns, wanted.event.eom_at.monotonic_ns);
	assert_int_equal(
	    message->recipient_count, wanted.event.recipient_count);
	assert_string_equal(
	    message->recipients[0].address, wanted.addresses[0]);
	++*count;
	return *count == 7 ? 42 : 0;
}

static void
what_was_open_is_told_after_a_restart(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	unsigned count = 0;

	for (uint64_t number = 0; number < 10; number++)
		fixture_add_both(fixture, number);
	for (uint64_t number = 10; number < 17; number++)
		add_message(fixture, number, &message);
	for (uint64_t number = 17; number < 30; number++)
		fixture_add_both(fixture, number);
	fixture_must_commit(fixture, 1);
	fixture_reopen(fixture);
	assert_int_equal(
	    store_each_open(fixture->store, count_open, &count, NULL), 42);
	assert_int_equal(count, 7);
}

static void
a_generation_of_a_queue_id_is_chosen_by_time_and_instance(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct open_message open;
	struct message_key key;
	struct queue_id_key wanted = {"mx.example.com", "4F00", 0};

	for (uint64_t number = 1; number < 5; number++) {
		fixture_fill_message(&message, number);
		message.event.queue_id = "4F00";
		key.file = store_file(
		    fixture->store, message.event.mail_at.wall_ns, NULL);
		assert_int_equal(
		    store_add_message(key.file, &message.event,
			&fixture_segment, &message.verdict, &key, NULL),
		    0);
	}
	for (uint64_t number = 1; number < 5; number++) {
		wanted.before_wall_ns = fixture_message_ns(number);
		assert_int_equal(store_find_queue_id(fixture->store, &wanted,
				     fixture->arena, &open, NULL),
		    1);
		assert_int_equal(
		    open.mail_at.wall_ns, fixture_message_ns(number));
	}
	wanted.before_wall_ns = fixture_message_ns(1) - 1;
	assert_int_equal(store_find_queue_id(fixture->store, &wanted,
			     fixture->arena, &open, NULL),
	    0);
	wanted.before_wall_ns = NOW_NS;
	wanted.instance = "other.example.com";
	assert_int_equal(store_find_queue_id(fixture->store, &wanted,
			     fixture->arena, &open, NULL),
	    0);
}

static void
nothing_of_a_rolled_back_batch_is_left(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct open_message open;

	fixture_add_both(fixture, 1);
	fixture_must_commit(fixture, 1);
	fixture_add_both(fixture, 2);
	store_rollback(fixture->store);
	fixture_fill_message(&message, 2);
	assert_int_equal(store_find_message(fixture->store, &message.event.id,
			     fixture->arena, &open, NULL),
	    0);
	assert_int_equal(fixture_counted(fixture, COUNTER_MESSAGES), 1);
	fixture_add_both(fixture, 2);
	fixture_must_commit(fixture, 2);
	assert_int_equal(fixture_counted(fixture, COUNTER_MESSAGES), 2);
	assert_int_equal(fixture_counted(fixture, COUNTER_DELIVERIES), 5);
}

static void
a_message_as_old_as_its_file_is_found_and_written(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct open_message open;
	struct message_key key = add_message(fixture, 1, &message);
	struct recipient_change change = {
	    .state = RECIPIENT_BOUNCED, .attempts = 1};

	fixture_must_commit(fixture, 1);
	fixture_now_ns += 30 * DAY_NS;
	/* Lets the store see that the window moved. */
	assert_non_null(store_file(fixture->store, fixture_now_ns, NULL));
	assert_int_equal(store_find_message(fixture->store, &message.event.id,
			     fixture->arena, &open, NULL),
	    1);
	assert_ptr_equal(open.key.file, key.file);
	assert_true(day_file_has(
	    open.key.file, SOURCE, (struct journal_position){1, 1}));
	assert_int_equal(store_change_recipient(&open.key, &change, NULL), 0);
	fixture_must_commit(fixture, 2);
	assert_int_equal(
	    fixture_find_one(fixture, message.queue_id)->recipients[0].state,
	    RECIPIENT_BOUNCED);
}

/* Anybody can send mail with a stamp whose id nobody made (I8). */
static void
ids_of_days_without_files_leave_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct open_message open;
	size_t before;

	fixture_add_both(fixture, 1);
	fixture_must_commit(fixture, 1);
	before = fixture->store->file_count;
	for (int64_t day = 1; day < 30000; day += 7) {
		struct uuid id = fixture_id(day * DAY_NS, 1);

		assert_int_equal(store_find_message(fixture->store, &id,
				     fixture->arena, &open, &fixture->reason),
		    0);
	}
	assert_int_equal(fixture->store->file_count, before);
}

/* What was read in a batch does not keep it from writing. */
static void
a_file_is_read_and_written_in_turn(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct open_message open;
	struct message_key key = add_message(fixture, 1, &message);
	const struct recipient_change change = {.state = RECIPIENT_HELD};
	const struct queue_id_key wanted = {
	    "mx.example.com", message.queue_id, NOW_NS};

	fixture_must_commit(fixture, 1);
	for (uint64_t i = 2; i < 5; i++) {
		assert_int_equal(store_find_queue_id(fixture->store, &wanted,
				     fixture->arena, &open, &fixture->reason),
		    1);
		if (i == 3)
			store_rollback(fixture->store);
		assert_int_equal(
		    store_change_recipient(&key, &change, &fixture->reason), 0);
		assert_int_equal(store_find_queue_id(fixture->store, &wanted,
				     fixture->arena, &open, &fixture->reason),
		    1);
		assert_int_equal(open.recipients[0].state, RECIPIENT_HELD);
		fixture_must_commit(fixture, i);
	}
}

/* A log is named by its path. */
static void
a_source_with_a_long_name_is_found_again(void **state)
{
	struct fixture *fixture = *state;
	char name[4000];
	const struct source_position position = {name, {7, 100}};
	struct day_file *file;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	fixture_add_both(fixture, 1);
	assert_int_equal(store_commit(fixture->store, &position, 1, NULL), 0);
	fixture_reopen(fixture);
	assert_int_equal(store_lower_bound(fixture->store, name).offset, 100);
	file = store_file(fixture->store, fixture_message_ns(1), NULL);
	assert_true(day_file_has(file, name, position.position));
}

static void
lower_bounds_and_positions_are_each_sources_own(void **state)
{
	struct fixture *fixture = *state;
	struct source_position positions[] = {
	    {"milter", {7, 100}}, {"lmtp", {UINT64_MAX, UINT64_MAX}}};
	struct day_file *file;

	fixture_add_both(fixture, 1);
	assert_int_equal(store_commit(fixture->store, positions, 2, NULL), 0);
	fixture_reopen(fixture);
	assert_int_equal(
	    store_lower_bound(fixture->store, "milter").segment, 7);
	assert_int_equal(
	    store_lower_bound(fixture->store, "milter").offset, 100);
	assert_true(
	    store_lower_bound(fixture->store, "lmtp").segment == UINT64_MAX);
	assert_int_equal(store_lower_bound(fixture->store, "log").segment, 0);
	file = store_file(fixture->store, fixture_message_ns(1), NULL);
	assert_true(
	    day_file_has(file, "milter", (struct journal_position){6, 500}));
	assert_false(
	    day_file_has(file, "milter", (struct journal_position){7, 101}));
	assert_false(
	    day_file_has(file, "log", (struct journal_position){0, 1}));
}

static void
a_batch_that_ends_earlier_takes_no_position_back(void **state)
{
	struct fixture *fixture = *state;
	struct fixture_message message;
	struct day_file *file;

	add_message(fixture, 1, &message);
	fixture_must_commit(fixture, 9);
	fixture_reopen(fixture);
	add_message(fixture, 2, &message);
	fixture_must_commit(fixture, 4);
	fixture_reopen(fixture);
	file = store_file(fixture->store, fixture_message_ns(1), NULL);
	assert_true(
	    day_file_has(file, SOURCE, (struct journal_position){1, 9}));
	assert_true(store_is_replay(
	    fixture->store, SOURCE, (struct journal_position){1, 9}));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	    TEST(parts_of_a_delivery_are_one_leg),
	    TEST(a_waiting_leg_is_kept_whole_until_it_is_settled),
	    TEST(several_legs_are_told_in_the_order_they_began),
	    TEST(a_leg_whose_decision_is_revised_is_still_told),
	    TEST(what_was_open_is_told_after_a_restart),
	    TEST(a_generation_of_a_queue_id_is_chosen_by_time_and_instance),
	    TEST(nothing_of_a_rolled_back_batch_is_left),
	    TEST(a_message_as_old_as_its_file_is_found_and_written),
	    TEST(ids_of_days_without_files_leave_nothing),
	    TEST(a_file_is_read_and_written_in_turn),
	    TEST(lower_bounds_and_positions_are_each_sources_own),
	    TEST(a_source_with_a_long_name_is_found_again),
	    TEST(a_batch_that_ends_earlier_takes_no_position_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
