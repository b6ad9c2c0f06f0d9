/* SPDX-License-Identifier: MIT
 *
 * explainer_line.js: the fields of the explainer as a command line, as text for a shell, and as the hash of the page's address.
 */
"use strict";

const explainerLine = {
  CHARACTERS: 20000,

  /* The arguments of `gather` for the fields; without -o. */
  args(fields) {
    const given = ["explain", "--data", fields.data.trim()];
    if (fields.op === "GatherElements") given.push("--elements");
    if (fields.op === "GatherND") given.push("--nd");
    if (fields.rules && fields.rules !== "onnx-13") given.push("--rules", fields.rules);
    if (fields.axis.trim()) given.push("--axis", fields.axis.trim());
    if (fields.batch.trim()) given.push("--batch-dims", fields.batch.trim());
    if (fields.bad) given.push("--on-bad", fields.bad === "fill" ? `fill=${fields.fill.trim()}` : fields.bad);
    if (fields.negative) given.push("--negative", fields.negative);
    const indices = fields.indices.trim();
    if (indices.startsWith("-")) given.push("--");
    return [...given, indices];
  },

  /* What is wrong with the fields before any program runs; or "". */
  fault(fields) {
    if (fields.indices.length > explainerLine.CHARACTERS)
      return `the indices have ${fields.indices.length} characters; this page takes up to ${explainerLine.CHARACTERS}`;
    if (!/^\s*(\[|[-+]?\d)/.test(fields.indices)) return "indices are numbers in brackets, such as [1, 7, -4], or one number";
    return "";
  },

  quoted(word) {
    return /^[\w./=:,+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
  },

  /* The line for a shell; where the picture goes stands before "--". */
  shell(fields) {
    const words = explainerLine.args(fields).map(explainerLine.quoted);
    const at = words.includes("--") ? words.indexOf("--") : words.length;
    return ["gather", ...words.slice(0, at), "-o", "picture.svg", ...words.slice(at)].join(" ");
  },

  hash(fields, defaults) {
    const set = Object.entries(fields).filter(([name, value]) => value !== defaults[name]);
    return new URLSearchParams(set).toString();
  },

  fields(hash, defaults) {
    const given = new URLSearchParams(hash.replace(/^#/, ""));
    return Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, given.get(name) ?? value]));
  },
};

if (typeof module !== "undefined") module.exports = explainerLine;
