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
    ["docs/embed/ops/", 0.6],
    ["docs/embed/", 1.5],
    ["api/", 1],
    ["docs/extend/", 0.5],
    ["docs/measured/", 0.5],
    ["CHANGELOG", 0.2],
    ["docs/README", 0.3],
    ["index", 0.3],
    ["", 0.4],
  ],
  /* Words that several pages have, and the page that is about them. */
  TOPICS: [
    ["docs/use/failing-model", /out of bounds|model fails|failing model/],
    ["docs/use/buckets", /\bs3\b|credential|hugging ?face/],
    ["docs/use/tables", /safetensors|memmap|out of memory|larger than memory|io_uring/],
    ["docs/use/python", /dataloader|numpy|clamp|negative ind/],
    ["docs/use/chunked", /hdf5|\bh5|h5ad|zarr|netcdf/],
    ["docs/use/install", /install|static (library|link)|compile/],
    ["docs/embed/operators", /gatherelements|gathernd|gathertree|opset/],
    ["docs/use/shuffle", /shuffl/],
    ["docs/embed/scatter", /scatter|gradient|embedding bag/],
    ["docs/embed/guide", /\bplans?\b/],
  ],
  query: () => (new URLSearchParams(location.search).get("q") ?? "").toLowerCase(),
  score([name, title, anchor, description, score, file, kind]) {
    const query = Scorer.query();
    if (kind === "object") return /[_.]/.test(query) ? score + 1000 * (score >= 11) : score * 0.2;
    const topic = Scorer.TOPICS.some(([page, words]) => page === name && words.test(query));
    return score * Scorer.FOLDERS.find(([begin]) => name.startsWith(begin))[1] + (topic ? 100 : 0);
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
