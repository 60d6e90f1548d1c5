#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Who may include whom (DESIGN: base < proto < milter | lmtp | store; store <
exporter | cli), and where borrowed headers stay."""

import os
import re
import sys

sys.path.insert(0, "tests/lib")
import lint  # noqa: E402

BELOW = {
    "base": (),
    "proto": ("base",),
    "milter": ("proto", "base"),
    "lmtp": ("proto", "base"),
    "store": ("proto", "base"),
    "exporter": ("store", "proto", "base"),
    "cli": ("store", "proto", "base"),
}

# The exporter's parts, likewise; what lies in no part sees them all.
PARTS_BELOW = {
    "maillog": (),
    "web": (),
    "queue": ("maillog",),
    "metrics": ("queue", "maillog"),
    "read": ("metrics", "maillog"),
    "privacy": ("read", "metrics", "maillog"),
    "join": ("queue", "read", "metrics", "maillog"),
    "serve": ("join", "metrics", "web"),
}

# The command line reads: of the store it sees the queries.
CLI_SEES_OF_STORE = {"store/query.h", "store/query_drain.h",
                     "store/query_forget.h",
                     "store/progress.h", "store/query_feed.h",
                     "store/query_open.h", "store/query_note.h",
                     "store/query_search.h", "store/search.h",
                     "store/search_json.h", "store/search_match.h",
                     "store/search_pseudonym.h",
                     "store/query_latency.h", "store/query_labels.h",
                     "store/latency_json.h", "store/series.h",
                     "store/timeline.h", "store/record.h", "store/reach.h",
                     "store/settings.h"}

# A borrowed header: the files that may include it, and how many may.
BORROWED = (
    (r"ini\.h", r"base/config\.c", 1),
    (r"syslog\.h", r"base/log\.c", 1),
    (r"xxhash\.h", r"(proto|store)/", 2),
    (r"proto/event\.pb-c\.h", r"proto/event_codec\.c", 1),
    (r"exporter/serve/metrics\.pb-c\.h",
     r"exporter/serve/exposition_protobuf\.c", 1),
    (r"protobuf-c/.*", r"proto/wire_struct\.h", 1),
    (r"libmilter/.*", r"milter/", 1),
    (r"event2/.*", r"lmtp/", 3),
    (r"sodium\.h", r"store/pseudonym\.c", 1),
    (r"sqlite3\.h", r"store/database_private\.h", 1),
    (r"jansson\.h", r"(store|exporter|cli)/", 3),
    (r"microhttpd\.h", r"exporter/serve/", 1),
    (r"ut(hash|list|array)\.h", r"(store|exporter|lmtp)/", 8),
    (r"zlib\.h", r"exporter/(read|serve)/", 2),
    (r"systemd/sd-(journal|id128)\.h", r"exporter/read/log_journald\.c", 1),
)

# The C library's and the kernel's: free to all.
SYSTEM = r"""(arpa|linux|net|netinet|sys)/[a-z0-9_]+\.h|(assert|ctype|dirent|
    endian|errno|fcntl|fnmatch|getopt|glob|grp|inttypes|langinfo|limits|locale|
    math|netdb|poll|pthread|pwd|sched|signal|spawn|stdalign|stdarg|stdatomic|stdbool|
    stddef|stdint|stdio|stdlib|stdnoreturn|string|strings|termios|time|
    unistd)\.h"""


def includes():
    """(file, line number, "<" or a quote, header) of the whole product."""
    for path in lint.product_files():
        for number, line in enumerate(lint.read_lines(path), 1):
            found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if found:
                yield path, number, found[1], found[2]


def exporter_part(path):
    """None for what lies in no part."""
    return path.split("/")[1] if path.count("/") == 2 else None


def part_findings(path, header):
    part, other = exporter_part(path), exporter_part(header)
    if part is not None and part != other and other not in PARTS_BELOW[part]:
        yield f"exporter/{part} may not see {header}"


def layer_findings(path, header):
    layer, other = path.split("/")[0], header.split("/")[0]
    if other not in lint.LAYERS:
        yield f"{header} is not written from the root"
    elif other != layer and other not in BELOW[layer]:
        yield f"{layer} may not see {header}"
    elif layer == "cli" and other == "store" \
            and header not in CLI_SEES_OF_STORE:
        yield f"cli sees the store through its queries, not {header}"
    elif not os.path.exists(header.replace(".pb-c.h", ".proto")):
        yield f"{header} does not exist"
    elif layer == other == "exporter":
        yield from part_findings(path, header)


def direction(all_includes):
    for path, number, kind, header in all_includes:
        if kind == '"':
            for finding in layer_findings(path, header):
                yield f"{path}:{number}: {finding}"


def borrowed(all_includes):
    users = {}
    for path, number, kind, header in all_includes:
        row = next((row for row in BORROWED
                    if re.fullmatch(row[0], header)), None)
        if row is None:
            if kind == "<" and not re.fullmatch(SYSTEM, header, re.VERBOSE):
                yield f"{path}:{number}: {header} is borrowed by nobody"
        elif not re.match(row[1], path):
            yield f"{path}:{number}: {header} does not belong here"
        else:
            users.setdefault(row, set()).add(path)
    for (header, _, most), paths in users.items():
        if len(paths) > most:
            yield f"{header} in {len(paths)} files, not at most {most}: " \
                  + " ".join(sorted(paths))


def own_header_first():
    """A .c file that includes its own header does so first: then the header is
    seen to need nothing before it."""
    for path in lint.product_files((".c",)):
        headers = [header for name, _, _, header in ALL if name == path]
        own = path[:-1] + "h"
        if own in headers[1:]:
            yield f"{path}: {own} is not the first include"


ALL = list(includes())
report = lint.Report()
report.check("includes point down the layers", direction(ALL))
report.check("borrowed headers stay where they belong", borrowed(ALL))
report.check("a file's own header comes first", own_header_first())
report.end()
