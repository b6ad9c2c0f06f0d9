/* SPDX-License-Identifier: MIT
 *
 * table_remote.h: what is different with tables of files on other machines.
 */
#ifndef GATHER_TABLE_TABLE_REMOTE_H
#define GATHER_TABLE_TABLE_REMOTE_H

#include "io/remote/remote_client.h"
#include "table/table_internal.h"

extern const gather_table_network gather_table_remote;

#endif
