/* SPDX-License-Identifier: MIT
 *
 * explainer.js: the page of the explainer: fields in, picture or error out. The program runs beside the page, so that the page answers
 * whatever is typed; what takes too long is stopped.
 */
"use strict";

(() => {
  const SECONDS = 5;
  const DEFAULTS = { op: "Gather", rules: "onnx-13", data: "4x3", axis: "", indices: "[1, 7, -4]", batch: "", bad: "", fill: "", negative: "" };
  const EXAMPLES = [
    ["Rows", { data: "4x3", indices: "[2, 0, -1]" }],
    ["An index out of range", {}],
    ["Clamped", { bad: "clamp" }],
    ["Columns", { data: "3x5", axis: "1", indices: "[[0, 2], [4, 4]]" }],
    ["Batches", { data: "2x3x2", rules: "openvino-8", axis: "1", batch: "1", indices: "[[0, 2], [1, 1]]" }],
    ["GatherElements", { op: "GatherElements", data: "3x3", indices: "[[0, 2, 1], [1, 1, 0]]" }],
    ["GatherND", { op: "GatherND", data: "3x4", indices: "[[2, 0], [1, 3]]" }],
  ];
  const at = (id) => document.getElementById(`ex-${id}`);
  const form = document.getElementById("explainer-form");
  const picture = at("picture");
  let ops = [];

  /* ---- the program ---- */

  let worker = null;
  let waiting = null; /* what is to run when the worker is free */
  let running = null;

  function begin() {
    const text = window.gatherProgramText;
    worker = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
    worker.onmessage = ({ data }) => finish(data);
    worker.onerror = (failure) => finish({ code: 3, out: "", err: `gather: error: ${failure.message}\n` });
  }

  function finish(answer) {
    const done = running;
    clearTimeout(done.timer);
    running = null;
    if (!waiting) done.then(answer);
    next();
  }

  function stop() {
    worker.terminate();
    worker = null;
    finish({ code: 3, out: "", err: `gather: error: drawing takes longer than ${SECONDS} seconds and was stopped\n` });
  }

  function next() {
    if (running || !waiting) return;
    if (!worker) begin();
    running = waiting;
    waiting = null;
    running.timer = setTimeout(stop, SECONDS * 1000);
    worker.postMessage({ id: 0, args: running.args });
  }

  /* Runs a line; of lines that come while another runs only the last one counts. */
  function run(args, then) {
    waiting = { args, then };
    next();
  }

  /* ---- the fields ---- */

  const fields = () => Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, form.elements[name].value]));

  function fillIn(values) {
    form.elements.op.value = values.op;
    listRules(form.elements.op.value);
    for (const [name, value] of Object.entries(values)) form.elements[name].value = value;
    if (!form.elements.op.value) form.elements.op.value = DEFAULTS.op;
    if (!form.elements.rules.value) form.elements.rules.value = DEFAULTS.rules;
    draw();
  }

  function listOperators(answer) {
    ops = JSON.parse(answer.out).ops.filter((op) => ["Gather", "GatherElements", "GatherND"].includes(op.op));
    form.elements.op.replaceChildren(...[...new Set(ops.map((op) => op.op))].map((name) => new Option(name, name)));
    fillIn(explainerLine.fields(location.hash, DEFAULTS));
  }

  function listRules(name) {
    const before = form.elements.rules.value;
    const known = ops.filter((op) => op.op === name);
    form.elements.rules.replaceChildren(...known.map((op) => new Option(op.rules, op.rules)));
    form.elements.rules.value = known.some((op) => op.rules === before) ? before : DEFAULTS.rules;
  }

  function saidOfRules() {
    const op = ops.find((each) => each.op === form.elements.op.value && each.rules === form.elements.rules.value);
    if (!op) return "";
    const negative = op.negative ? "an index below 0 counts from the end" : "an index below 0 is out of range";
    const bad = { error: "is an error", zero: "gives zeros" }[op.on_bad] ?? op.on_bad;
    return `${op.document}: ${negative}; an index out of range ${bad}; ${op.batch_dims ? "has" : "has no"} batch dims.`;
  }

  /* ---- the answer ---- */

  /* The lines of stderr, without the name of the program, in the words of this page. */
  function tell(err) {
    const lines = err.split("\n").filter(Boolean).map((line) => explainerLine.said(line.replace(/^gather: /, ""))).filter(Boolean);
    at("message").hidden = lines.length === 0;
    at("message").replaceChildren(...lines.map((line) => Object.assign(document.createElement("p"), { textContent: line, className: line.split(":")[0] })));
  }

  /* The picture as an image: so it follows the page's theme. Its description is the picture's. */
  function drawn(svg) {
    const root = new DOMParser().parseFromString(svg, "image/svg+xml");
    const alt = ["title", "desc"].map((name) => root.querySelector(name)?.textContent ?? "").join(". ");
    const image = Object.assign(new Image(), { alt, width: Number(root.documentElement.getAttribute("width")) });
    URL.revokeObjectURL(at("save").href);
    at("save").href = image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    picture.replaceChildren(image);
  }

  /* Without a picture the last one stays, dimmed. */
  function show({ out, err }) {
    tell(err);
    picture.setAttribute("aria-busy", "false");
    picture.dataset.svg = out; /* the bytes of the command's picture */
    picture.classList.toggle("explainer-last", out === "");
    if (out) drawn(out);
    picture.hidden = !picture.querySelector("img");
    at("save").hidden = out === "";
  }

  function draw() {
    const values = fields();
    const fault = explainerLine.fault(values);
    const hash = explainerLine.hash(values, DEFAULTS);
    at("fill-field").hidden = values.bad !== "fill";
    at("rules-said").textContent = saidOfRules();
    at("command").textContent = fault ? "" : explainerLine.shell(values);
    history.replaceState(null, "", hash.length < 8000 ? `#${hash}` : "#");
    if (fault) return show({ out: "", err: `gather: error: ${fault}\n` });
    const args = explainerLine.args(values);
    const end = args.includes("--") ? args.indexOf("--") : args.length - 1;
    return run([...args.slice(0, end), "-o", "-", ...args.slice(end)], show);
  }

  /* ---- events ---- */

  let delay = 0;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", (event) => {
    if (event.target.name === "op") listRules(event.target.value);
    clearTimeout(delay);
    delay = setTimeout(draw, 120);
  });
  at("copy").addEventListener("click", async () => {
    await navigator.clipboard.writeText(at("command").textContent);
    at("copy").textContent = "Copied";
    setTimeout(() => (at("copy").textContent = "Copy"), 1500);
  });
  addEventListener("hashchange", () => fillIn(explainerLine.fields(location.hash, DEFAULTS)));
  for (const [name, values] of EXAMPLES) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: name });
    button.addEventListener("click", () => fillIn({ ...DEFAULTS, ...values }));
    at("examples").append(button);
  }
  run(["ops", "--json"], listOperators);
})();
