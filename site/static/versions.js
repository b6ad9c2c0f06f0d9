/* SPDX-License-Identifier: MIT
 *
 * versions.js: the list of versions. versions.js of the folder above this version's says which there are; without it there is only this one.
 */
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const select = document.getElementById("gather-version");
  if (!select) return;
  const root = select.dataset.root.replace(/#$/, "");
  const list = document.createElement("script");
  list.src = `${root}../versions.js`;
  list.onload = () => {
    const here = select.dataset.here;
    for (const name of window.gatherVersions || []) {
      if (name !== here) select.add(new Option(name, name));
    }
    select.onchange = () => {
      location.href = `${root}../${encodeURIComponent(select.value)}/index.html`;
    };
  };
  document.head.append(list);
});
