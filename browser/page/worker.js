// The command, in a worker: one run per message. A file is read in the slices that the command asks
// for, so that a model's weights stay on the disk. wasi.js comes before this.

const reader = new FileReaderSync();
let module = null;

function fileOfBlob(blob) {
  return {
    size: blob.size,
    read: (offset, into) =>
      into.set(new Uint8Array(reader.readAsArrayBuffer(blob.slice(offset, offset + into.length)))),
  };
}

onmessage = async ({ data }) => {
  if (data.wasm) {
    module = WebAssembly.compile(data.wasm);
    return;
  }
  try {
    const begun = performance.now();
    const result = run(await module, data.args, [[data.name, fileOfBlob(data.file)]]);
    const time = performance.now() - begun;
    const { exit, out, err, memory } = result;
    postMessage({ id: data.id, exit, out, err, time, memory }, [out.buffer]);
  } catch (error) {
    postMessage({
      id: data.id,
      exit: 5,
      out: new Uint8Array(),
      err: "the planner stopped: " + error.message,
    });
  }
};
