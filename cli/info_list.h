/* SPDX-License-Identifier: MIT
 *
 * info_list.h: gather info of a folder of a bucket or of a repository.
 */
#ifndef GATHER_CLI_INFO_LIST_H
#define GATHER_CLI_INFO_LIST_H

#include "args.h"

/* Lists the files and folders at the URL of the line. Returns the errors of gather_remote_listing_read. */
GATHER_CHECKED gather_status gather_cli_info_list(const gather_cli_args *args, gather_error *error);

#endif
