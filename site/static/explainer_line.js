/* SPDX-License-Identifier: MIT
 *
 * explainer_line.js: the fields of the explainer as a command line, as text for a shell, and as the hash of the page's address.
 */
"use strict";

const explainerLine = {
  CHARACTERS: 20000,

  /* "1, 2" is [1, 2]; "(4, 3)", "4, 3" and "[4, 3]" are 4x3. Other text stays. */
  indices(text) {
    const plain = text.trim();
    return /^[-+]?\d[-+\d\s]*,[-+\d\s,]*$/.test(plain) ? `[${plain.replace(/[,\s]+$/, "")}]` : plain;
  },
  shape(text) {
    const plain = text.trim().replace(/^([([])(.*)[)\]]$/, "$2").trim();
    return /^\d+(\s*[,x×\s]\s*\d+)*\s*,?$/.test(plain) ? plain.match(/\d+/g).join("x") : text.trim();
  },

  /* What the command says, with the names of the page's fields for its options. */
  LABELS: {
    "on-bad": "Index out of range", negative: "Index below 0", axis: "Axis", "batch-dims": "Batch dims", rules: "Rules", data: "Shape of data",
    elements: "Operator: GatherElements", nd: "Operator: GatherND",
  },
  said(line) {
    if (/^hint: (.*'gather help|gather \w+ --help)/.test(line)) return "";
    return line
      .replace(/--on-bad clamp, wrap, zero or fill=V repairs indices out of range/, "clamp, wrap, zero or fill in the field “Index out of range” repairs it")
      .replace(/--([a-z]+(?:-[a-z]+)*)/g, (option, name) => (explainerLine.LABELS[name] ? `“${explainerLine.LABELS[name]}”` : option));
  },

  /* The arguments of `gather` for the fields; without -o. */
  args(fields) {
    const given = ["explain", "--data", explainerLine.shape(fields.data)];
    if (fields.op === "GatherElements") given.push("--elements");
    if (fields.op === "GatherND") given.push("--nd");
    if (fields.rules && fields.rules !== "onnx-13") given.push("--rules", fields.rules);
    if (fields.axis.trim()) given.push("--axis", fields.axis.trim());
    if (fields.batch.trim()) given.push("--batch-dims", fields.batch.trim());
    if (fields.bad) given.push("--on-bad", fields.bad === "fill" ? `fill=${fields.fill.trim()}` : fields.bad);
    if (fields.negative) given.push("--negative", fields.negative);
    const indices = explainerLine.indices(fields.indices);
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
