// Runs commands on files, for test_package.py: a file is read by the parts that a command asks for.
import fs from "node:fs";
import path from "node:path";

const job = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const { command } = await import(job.package);

const answers = [];
for (const { path: file, args } of job.cases) {
  const descriptor = fs.openSync(file);
  let bytesRead = 0;
  const source = {
    size: fs.fstatSync(descriptor).size,
    read(offset, into) {
      bytesRead += fs.readSync(descriptor, into, 0, into.length, offset);
    },
  };
  const { exit, out, err, memory } = await command(args, { [path.basename(file)]: source });
  fs.closeSync(descriptor);
  fs.writeFileSync(path.join(job.out, String(answers.length)), out);
  answers.push({ exit, err, memory, read: bytesRead });
}
fs.writeFileSync(path.join(job.out, "answers.json"), JSON.stringify(answers));
