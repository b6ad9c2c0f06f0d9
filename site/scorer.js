/* SPDX-License-Identifier: MIT
 *
 * scorer.js: how the search ranks what it finds (Sphinx's html_search_scorer): what people do with a table before what authors of runtimes
 * embed, and that before measurements, changes and the inside. A function is found first by its name.
 */
"use strict";

var Scorer = {
  /* By the beginning of a page's name; the first that fits counts. */
  FOLDERS: [
    ["docs/use/", 3],
    ["docs/embed/ops/", 0.8],
    ["docs/embed/", 1.5],
    ["api/", 1],
    ["docs/extend/", 0.5],
    ["docs/measured/", 0.5],
    ["CHANGELOG", 0.2],
    ["docs/README", 0.3],
    ["index", 0.3],
    ["", 0.4],
  ],
  score([name, title, anchor, description, score, file, kind]) {
    if (kind === "object") return score + 1000 * (score >= 11);
    return score * Scorer.FOLDERS.find(([begin]) => name.startsWith(begin))[1];
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
