/* SPDX-License-Identifier: BSD-2-Clause */
/* SQL by which addresses are forgotten. Data. */
#include "store/schema_forget.h"

/* A part takes so many rows. */
#define ROWS " LIMIT 1000"

#define READ(key, column, table)                                               \
	"SELECT " key ", 0, " column " FROM " table " WHERE " key              \
	" > ?1 AND ?2 IS NOT NULL ORDER BY " key ROWS
#define CHANGE(key, table)                                                     \
	"UPDATE " table " SET packed = ?1 WHERE " key " = ?2 AND ?3 IS NOT "   \
						      "NULL"
#define CHANGE_TEXT(table)                                                     \
	"UPDATE " table                                                        \
	" SET text = ?1, hash = ?4 WHERE id = ?2 AND ?3 IS NOT NULL"

const char *const forget_sql[FORGET_STATEMENTS] = {
    [SQL_FORGET_READ + FORGET_RECIPIENTS] = READ("key", "packed", "recipient"),
    [SQL_FORGET_READ + FORGET_LEGS] = READ("row", "packed", "leg"),
    [SQL_FORGET_READ + FORGET_LEG_PARTS] =
	"SELECT leg, part, packed FROM leg_part"
	" WHERE (leg, part) > (?1, ?2) ORDER BY leg, part" ROWS,
    [SQL_FORGET_READ + FORGET_ATTEMPTS] = READ("key", "packed", "attempt"),
    [SQL_FORGET_READ + FORGET_TEXTS] = READ("id", "text", "text"),
    [SQL_FORGET_READ + FORGET_HOSTS] = READ("id", "text", "host"),
    [SQL_FORGET_CHANGE + FORGET_RECIPIENTS] = CHANGE("key", "recipient"),
    [SQL_FORGET_CHANGE + FORGET_LEGS] = CHANGE("row", "leg"),
    [SQL_FORGET_CHANGE + FORGET_LEG_PARTS] =
	"UPDATE leg_part SET packed = ?1 WHERE leg = ?2 AND part = ?3",
    [SQL_FORGET_CHANGE + FORGET_ATTEMPTS] = CHANGE("key", "attempt"),
    [SQL_FORGET_CHANGE + FORGET_TEXTS] = CHANGE_TEXT("text"),
    [SQL_FORGET_CHANGE + FORGET_HOSTS] = CHANGE_TEXT("host"),
    [SQL_FORGET_ADDRESSES] =
	"SELECT address.id, address.local, domain.text FROM address"
	" LEFT JOIN domain ON domain.id = address.domain"
	" WHERE address.hash = ?1 AND address.domain IN"
	" (SELECT id FROM domain WHERE hash = ?2 UNION ALL SELECT 0)",
    [SQL_FORGET_MESSAGES] =
	"SELECT count(*) FROM (SELECT key >> 20 FROM recipient"
	" WHERE address = ?1 UNION SELECT key >> 20 FROM original"
	" WHERE address = ?1 UNION SELECT row FROM message WHERE sender = ?1)",
    [SQL_FORGET_MARK] = "UPDATE address SET local = ?, hash = ? WHERE id = ?",
};
