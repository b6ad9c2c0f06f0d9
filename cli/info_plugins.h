/* SPDX-License-Identifier: MIT
 *
 * info_plugins.h: `gather info --plugins`: the plug-ins for other runtimes, and where each is.
 */
#ifndef GATHER_CLI_INFO_PLUGINS_H
#define GATHER_CLI_INFO_PLUGINS_H

#include <stdbool.h>

void gather_cli_info_plugins(bool json);

#endif
