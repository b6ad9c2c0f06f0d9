/* SPDX-License-Identifier: MIT
 *
 * ep_attach.h: lets a node take its rows from a table.
 */
#ifndef GATHER_PLUGIN_ORT_EP_ATTACH_H
#define GATHER_PLUGIN_ORT_EP_ATTACH_H

#include "ep_session.h"

/* Makes a table of the node's data if that is an external initializer that the options want read by the table engine, and gives it to
 * the node. Notes in `taken` what was done and why. Returns NULL, also where the rows come from the host's tensor; or a status: the
 * table cannot be opened although it should be. */
OrtStatus *gather_ort_attach(const ort_registered *state, const OrtKernelInfo *info, ort_node *node, ort_taken *taken);

#endif
