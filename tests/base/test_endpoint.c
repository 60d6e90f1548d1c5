/* SPDX-License-Identifier: BSD-2-Clause */
/* Where sockets are: text, locality, listening. */
#include "base/endpoint.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <netinet/in.h>

#include "base/reason.h"
#include "tests/lib/unit.h"

static char directory[] = "/tmp/endpoint-XXXXXX";

static void
every_form_is_read_and_written(void **state)
{
	static const struct {
		const char *text, *wanted;
		bool is_unix, local;
	} rows[] = {
	    {"unix:/run/x.sock", "unix:/run/x.sock", true, true},
	    {"inet:127.0.0.1:24", "inet:127.0.0.1:24", false, true},
	    {"127.0.0.1:0", "inet:127.0.0.1:0", false, true},
	    {"inet:127.255.0.9:65535", "inet:127.255.0.9:65535", false, true},
	    {"inet:[::1]:24", "inet:[::1]:24", false, true},
	    {"[::1]:24", "inet:[::1]:24", false, true},
	    {"[2001:DB8:0::1]:24", "inet:[2001:db8::1]:24", false, false},
	    {"[::]:24", "inet:[::]:24", false, false},
	    {"0.0.0.0:24", "inet:0.0.0.0:24", false, false},
	    {"192.0.2.1:24", "inet:192.0.2.1:24", false, false},
	    {"128.0.0.1:24", "inet:128.0.0.1:24", false, false},
	    {"[::ffff:127.0.0.1]:24", "inet:[::ffff:127.0.0.1]:24", false,
		true},
	    {"[::ffff:192.0.2.1]:24", "inet:[::ffff:192.0.2.1]:24", false,
		false},
	    {"127.0.0.1:smtp", "inet:127.0.0.1:25", false, true},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct endpoint endpoint;
		struct reason reason = {""};
		char text[200];

		if (endpoint_parse(rows[i].text, &endpoint, &reason) < 0)
			fail_msg("row %zu: %s", i, reason.text);
		endpoint_format(&endpoint, text, sizeof(text));
		assert_row_string(i, text, rows[i].wanted);
		assert_row(i, endpoint_is_unix(&endpoint) == rows[i].is_unix);
		assert_row(i, endpoint_is_local(&endpoint) == rows[i].local);
	}
}

static void
a_name_is_looked_up(void **state)
{
	struct endpoint endpoint;

	assert_int_equal(endpoint_parse("localhost:24", &endpoint, NULL), 0);
	assert_true(endpoint_is_local(&endpoint));
	assert_false(endpoint_is_unix(&endpoint));
}

static void
a_bad_form_is_refused_with_a_reason(void **state)
{
	static const struct {
		const char *text, *reason;
	} rows[] = {
	    {"", "\"\" is not unix:/path, host:port or [address]:port"},
	    {"127.0.0.1", "\"127.0.0.1\" is not unix:/path, host:port or "
			  "[address]:port"},
	    {"127.0.0.1:", "\"127.0.0.1:\" is not unix:/path, host:port or "
			   "[address]:port"},
	    {"inet::24", "\"inet::24\" is not unix:/path, host:port or "
			 "[address]:port"},
	    {"::1:24", "\"::1:24\": an IPv6 address stands in brackets"},
	    {"[::1]", "\"[::1]\": an IPv6 address stands in brackets"},
	    {"[]:24", "\"[]:24\": the host is empty or too long"},
	    {"127.0.0.1:65536",
		"\"127.0.0.1:65536\": the port is not within 0 to 65535"},
	    {"127.0.0.1:4294967320",
		"\"127.0.0.1:4294967320\": the port is not within 0 to "
		"65535"},
	    {"127.0.0.1:-1",
		"\"127.0.0.1:-1\": Servname not supported for ai_socktype"},
	    {"[localhost]:24", "\"[localhost]:24\": Name or service not known"},
	    {"unix:run/x",
		"\"unix:run/x\": a socket's path begins with a slash"},
	    {"unix:", "\"unix:\": a socket's path begins with a slash"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct endpoint endpoint;
		struct reason reason;

		assert_row(
		    i, endpoint_parse(rows[i].text, &endpoint, &reason) == -1);
		assert_row_string(i, reason.text, rows[i].reason);
	}
}

static void
the_path_fits_the_address_or_is_refused(void **state)
{
	struct endpoint endpoint;
	struct reason reason;
	char text[200], back[200];

	memset(text, 'x', sizeof(text));
	memcpy(text, "unix:/", 6);
	text[5 + 107] = '\0';
	assert_int_equal(endpoint_parse(text, &endpoint, &reason), 0);
	endpoint_format(&endpoint, back, sizeof(back));
	assert_string_equal(back, text);
	endpoint_format(&endpoint, back, 10);
	assert_string_equal(back, "unix:/xxx");
	text[5 + 107] = 'x';
	text[5 + 108] = '\0';
	assert_int_equal(endpoint_parse(text, &endpoint, &reason), -1);
	assert_non_null(
	    strstr(reason.text, "a socket's path has at most 107 bytes"));
}

static void
assert_listening(int fd)
{
	int flag = 0;
	socklen_t size = sizeof(flag);

	assert_true(fd >= 0);
	getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &flag, &size);
	assert_int_equal(flag, 1);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

static void
inet_sockets_listen_and_refuse_a_second_listener(void **state)
{
	struct endpoint endpoint;
	struct reason reason;
	char text[100], wanted[200];
	int fd;

	endpoint_parse("127.0.0.1:0", &endpoint, NULL);
	fd = endpoint_listen(&endpoint, 0, &reason);
	assert_listening(fd);
	getsockname(fd, (struct sockaddr *)&endpoint.address, &endpoint.size);
	endpoint_format(&endpoint, text, sizeof(text));
	assert_int_equal(endpoint_listen(&endpoint, 0, &reason), -1);
	snprintf(wanted, sizeof(wanted),
	    "cannot listen on %s: Address already in use", text);
	assert_string_equal(reason.text, wanted);
	close(fd);
	fd = endpoint_listen(&endpoint, 0, &reason);
	assert_listening(fd);
	close(fd);
}

static void
ipv6_and_ipv4_wildcards_listen_side_by_side(void **state)
{
	struct endpoint six, four;
	int fds[2];

	endpoint_parse("[::]:0", &six, NULL);
	fds[0] = endpoint_listen(&six, 0, NULL);
	if (fds[0] < 0)
		skip(); /* no IPv6 here */
	getsockname(fds[0], (struct sockaddr *)&six.address, &six.size);
	endpoint_parse("0.0.0.0:0", &four, NULL);
	((struct sockaddr_in *)&four.address)->sin_port =
	    ((struct sockaddr_in6 *)&six.address)->sin6_port;
	fds[1] = endpoint_listen(&four, 0, NULL);
	assert_listening(fds[1]);
	close(fds[0]);
	close(fds[1]);
}

static void
in_directory(const char *name, struct endpoint *endpoint_r, char path_r[64])
{
	char text[70];

	snprintf(path_r, 64, "%s/%s", directory, name);
	snprintf(text, sizeof(text), "unix:%s", path_r);
	assert_int_equal(endpoint_parse(text, endpoint_r, NULL), 0);
}

static void
a_unix_socket_gets_its_mode(void **state)
{
	struct endpoint endpoint;
	struct stat status;
	char path[64];
	int fd;

	in_directory("mode", &endpoint, path);
	umask(0077);
	fd = endpoint_listen(&endpoint, 0666, NULL);
	assert_listening(fd);
	stat(path, &status);
	assert_int_equal(status.st_mode & 07777, 0666);
	close(fd);
	unlink(path);
}

static void
a_dead_socket_is_replaced_a_live_one_is_not(void **state)
{
	struct endpoint endpoint;
	struct reason reason;
	char path[64];
	int first, second;

	in_directory("socket", &endpoint, path);
	first = endpoint_listen(&endpoint, 0600, NULL);
	assert_int_equal(endpoint_listen(&endpoint, 0600, &reason), -1);
	assert_non_null(strstr(reason.text, "Address already in use"));
	close(first);
	second = endpoint_listen(&endpoint, 0600, &reason);
	assert_listening(second);
	close(second);
	unlink(path);
}

static void
a_busy_listener_counts_as_live(void **state)
{
	struct endpoint endpoint;
	char path[64];
	int listener, clients[3];

	in_directory("busy", &endpoint, path);
	listener = endpoint_listen(&endpoint, 0600, NULL);
	listen(listener, 0);
	for (size_t i = 0; i < COUNT(clients); i++) {
		clients[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(clients[i], (struct sockaddr *)&endpoint.address,
		    endpoint.size);
	}
	assert_int_equal(endpoint_listen(&endpoint, 0600, NULL), -1);
	for (size_t i = 0; i < COUNT(clients); i++)
		close(clients[i]);
	close(listener);
	unlink(path);
}

static void
a_file_that_is_no_socket_is_left_alone(void **state)
{
	struct endpoint endpoint;
	struct stat status;
	char path[64];

	in_directory("file", &endpoint, path);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(endpoint_listen(&endpoint, 0600, NULL), -1);
	assert_int_equal(stat(path, &status), 0);
	assert_true(S_ISREG(status.st_mode));
	unlink(path);
}

static void
a_missing_directory_is_named(void **state)
{
	struct endpoint endpoint;
	struct reason reason;

	endpoint_parse("unix:/nonexistent/x", &endpoint, NULL);
	assert_int_equal(endpoint_listen(&endpoint, 0600, &reason), -1);
	assert_string_equal(reason.text,
	    "cannot listen on unix:/nonexistent/x: No such file or directory");
}

static int
make_directory(void **state)
{
	return mkdtemp(directory) == NULL;
}

static int
remove_directory(void **state)
{
	return rmdir(directory);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_form_is_read_and_written),
	    cmocka_unit_test(a_name_is_looked_up),
	    cmocka_unit_test(a_bad_form_is_refused_with_a_reason),
	    cmocka_unit_test(the_path_fits_the_address_or_is_refused),
	    cmocka_unit_test(inet_sockets_listen_and_refuse_a_second_listener),
	    cmocka_unit_test(ipv6_and_ipv4_wildcards_listen_side_by_side),
	    cmocka_unit_test(a_unix_socket_gets_its_mode),
	    cmocka_unit_test(a_dead_socket_is_replaced_a_live_one_is_not),
	    cmocka_unit_test(a_busy_listener_counts_as_live),
	    cmocka_unit_test(a_file_that_is_no_socket_is_left_alone),
	    cmocka_unit_test(a_missing_directory_is_named),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
