// The functions of the npm package. Usage: node test_package.mjs SOURCE
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";

const source = process.argv[2];
const { command, inspect, plan, solve, StowageError, view } = await import(
  path.join(source, "build/browser/package/node.js")
);
const model = fs.readFileSync(path.join(source, "examples/encoder.onnx"));
const bind = { batch: 1, length: 32 };

const planned = await plan(model, { bind });
assert.equal(planned.stowage_plan, 1);
assert.ok(planned.arena_size >= planned.lower_bound && planned.lower_bound > 0);
const tight = await plan(model, { bind, args: ["--capacity", "1KiB"] });
assert.equal(tight.fit.fits, false);

assert.deepEqual(
  (await inspect(model)).bind.map((b) => b.symbol),
  ["batch", "length"],
);
const text = fs.readFileSync(path.join(source, "examples/transformer.stow"), "utf8");
assert.ok((await plan(text)).arena_size > 0);
await assert.rejects(plan(text, { capacity: "1KiB" }), /unknown option "capacity"/);
assert.match(await view(model, { bind, format: "svg" }), /^<svg/);
const placed = await solve("id,lower,upper,size\na,0,3,8\nb,2,5,16\n");
assert.equal(placed.height, 24);

await assert.rejects(plan(model), (error) => {
  assert.ok(error instanceof StowageError);
  assert.match(error.message, /symbols without a value: batch, length/);
  return error.exit === 3;
});
await assert.rejects(plan("no graph"), (error) => error.exit === 3);

// Files that it writes; one that fails while it is read.
const written = await command(["fmt", "a.stow", "-o", "b.stow"], {
  "a.stow": fs.readFileSync(path.join(source, "examples/transformer.stow")),
});
assert.deepEqual([...written.files.keys()], ["b.stow"]);
const broken = {
  size: 1000,
  read: () => {
    throw new Error("gone");
  },
};
assert.equal((await command(["plan", "a.onnx"], { "a.onnx": broken })).exit, 5);
// Mistakes of the caller.
const later = { size: model.length, read: async () => {} };
for (const input of [{}, null, undefined, 3, [1], new Blob(["x"]), { size: "1", read() {} }]) {
  await assert.rejects(plan(input), { name: "TypeError", message: /expected text, bytes, or/ });
}
await assert.rejects(plan(later), { name: "TypeError", message: /read returned a promise/ });
for (const args of [["--format", "csv"], ["-o", "x.json"], ["--help"]]) {
  await assert.rejects(plan(model, { bind, args }), { name: "TypeError", message: /command\(\)/ });
}
for (const options of [null, "x", { args: "-h" }, { bind: "batch=1" }, { name: "-" }, { name: 3 }]) {
  await assert.rejects(plan(model, options), { name: "TypeError", message: /expected/ });
}
await assert.rejects(command("plan"), { name: "TypeError", message: /array of words/ });
assert.equal((await plan(new DataView(model.buffer, model.byteOffset, model.length), { bind })).graph, planned.graph);

for (const word of ["run", "export"]) {
  const { exit, err } = await command([word, "a.onnx"]);
  assert.equal(exit, 2);
  assert.match(err, new RegExp(`plans only: it has no command '${word}'`));
}
for (const words of [["help"], []]) {
  const { out, err } = await command(words);
  assert.doesNotMatch(new TextDecoder().decode(out) + err, /\bexport\b|and runs/);
}
console.log("ok    the functions of the package");
