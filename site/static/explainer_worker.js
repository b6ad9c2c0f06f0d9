/* SPDX-License-Identifier: MIT
 *
 * explainer_worker.js: runs one command line per message in a fresh instance of the program, as a shell does with a fresh process. It
 * stands behind the program (gatherProgram) in one script.
 */
"use strict";

async function gatherRun(args) {
  const streams = [[], []];
  const into = (stream) => (byte) => {
    if (byte !== null) stream.push(byte);
  };
  let code = 0;
  const program = await gatherProgram({
    noInitialRun: true,
    thisProgram: "gather",
    quit: () => {},
    preRun: [(module) => module.FS.init(() => null, into(streams[0]), into(streams[1]))],
  });
  try {
    code = program.callMain(args);
  } catch (failure) {
    if (failure.status === undefined) throw failure;
    code = failure.status;
  }
  const [out, err] = streams.map((bytes) => new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte & 255)));
  return { code, out, err };
}

if (typeof WorkerGlobalScope !== "undefined") {
  onmessage = async ({ data }) => {
    try {
      postMessage({ id: data.id, ...(await gatherRun(data.args)) });
    } catch (failure) {
      postMessage({ id: data.id, code: 3, out: "", err: `gather: error: the program stopped: ${failure}\n` });
    }
  };
} else {
  module.exports = gatherRun;
}
