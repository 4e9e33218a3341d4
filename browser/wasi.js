// The system that the command sees in a browser or in Node: the calls of WASI preview 1 that it
// imports, over one folder of files in memory. https://github.com/WebAssembly/WASI
//
// A file is {size, read(offset, bytes)}: read fills |bytes|, so that a large file is never held as
// a whole. What the command writes is kept as parts and joined at the end.

const OK = 0;
const BADF = 8;
const EXIST = 20;
const IO = 29;
const NOENT = 44;
const NOTSUP = 58;
const SPIPE = 70;
const FOLDER = 3; // file types, and the descriptor of the only folder
const REGULAR = 4;
const CREATE = 1;
const EXCLUSIVE = 4;
const TRUNCATE = 8;

class Exit {
  constructor(code) {
    this.code = code;
  }
}

/** A file of bytes at hand. */
export function fileOf(bytes) {
  return {
    size: bytes.length,
    read: (offset, into) => into.set(bytes.subarray(offset, offset + into.length)),
  };
}

/** A file that is written from its start to its end. */
class Written {
  constructor() {
    this.size = 0;
    this.parts = [];
  }
  append(bytes) {
    this.parts.push(bytes.slice());
    this.size += bytes.length;
  }
  bytes() {
    const all = new Uint8Array(this.size);
    let at = 0;
    for (const part of this.parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }
  read(offset, into) {
    into.set(this.bytes().subarray(offset, offset + into.length));
  }
}

class System {
  constructor(args, files) {
    const encoder = new TextEncoder();
    this.args = args.map((text) => encoder.encode(text + "\0"));
    this.files = new Map(files);
    this.numbers = new Map(); // inodes, by file
    this.out = new Written();
    this.err = new Written();
    this.open = [{ file: fileOf(new Uint8Array()), at: 0 }, { file: this.out }, { file: this.err }];
    this.open[FOLDER] = { isFolder: true };
    this.memory = null;
  }

  get view() {
    return new DataView(this.memory.buffer);
  }
  bytes(at, size) {
    return new Uint8Array(this.memory.buffer, at, size);
  }
  path(at, size) {
    return new TextDecoder().decode(this.bytes(at, size)).replace(/^(\.?\/)+/, "");
  }
  *vectors(at, count) {
    for (let i = 0; i < count; ++i) {
      yield this.bytes(
        this.view.getUint32(at + 8 * i, true),
        this.view.getUint32(at + 8 * i + 4, true),
      );
    }
  }
  put32(at, number) {
    this.view.setUint32(at, number, true);
    return OK;
  }
  put64(at, number) {
    this.view.setBigUint64(at, BigInt(number), true);
    return OK;
  }
  putFacts(at, type, file) {
    if (file && !this.numbers.has(file)) this.numbers.set(file, this.numbers.size + 1);
    this.bytes(at, 64).fill(0);
    this.put64(at + 8, file ? this.numbers.get(file) : 0);
    this.view.setUint8(at + 16, type);
    this.put64(at + 24, 1);
    return this.put64(at + 32, file ? file.size : 0);
  }
  readAt(file, vectors, count, offset, out) {
    let total = 0;
    try {
      for (const into of this.vectors(vectors, count)) {
        const size = Math.max(0, Math.min(into.length, file.size - offset - total));
        if (size > 0) file.read(offset + total, into.subarray(0, size));
        total += size;
      }
    } catch {
      return [IO, 0]; // a file that changed or went away
    }
    return [this.put32(out, total), total];
  }

  /** The imports: names and arguments are those of WASI. */
  imports() {
    const refuse = () => NOTSUP;
    const at = (number) => this.open[number];
    return {
      args_sizes_get: (count, size) => {
        this.put32(count, this.args.length);
        return this.put32(
          size,
          this.args.reduce((sum, text) => sum + text.length, 0),
        );
      },
      args_get: (list, text) => {
        this.args.forEach((bytes, i) => {
          this.put32(list + 4 * i, text);
          this.bytes(text, bytes.length).set(bytes);
          text += bytes.length;
        });
        return OK;
      },
      environ_sizes_get: (count, size) => this.put32(count, 0) || this.put32(size, 0),
      environ_get: () => OK,
      clock_time_get: (id, precision, out) =>
        this.put64(out, Math.round((id === 0 ? Date.now() : performance.now()) * 1e6)),
      proc_exit: (code) => {
        throw new Exit(code);
      },

      fd_prestat_get: (fd, out) =>
        fd === FOLDER ? this.put32(out, 0) || this.put32(out + 4, 1) : BADF,
      fd_prestat_dir_name: (fd, out) => {
        this.bytes(out, 1)[0] = "/".charCodeAt(0);
        return OK;
      },
      fd_fdstat_get: (fd, out) => {
        if (!at(fd)) return BADF;
        this.bytes(out, 24).fill(0);
        this.view.setUint8(out, at(fd).isFolder ? FOLDER : fd < FOLDER ? 0 : REGULAR);
        this.put64(out + 8, -1n & 0xffffffffffffffffn);
        return this.put64(out + 16, -1n & 0xffffffffffffffffn);
      },
      fd_fdstat_set_flags: () => OK,
      fd_filestat_get: (fd, out) =>
        !at(fd)
          ? BADF
          : this.putFacts(out, at(fd).isFolder ? FOLDER : fd < FOLDER ? 0 : REGULAR, at(fd).file),
      fd_close: (fd) => {
        if (!at(fd)) return BADF;
        this.open[fd] = undefined;
        return OK;
      },
      fd_pread: (fd, vectors, count, offset, out) =>
        at(fd)?.file ? this.readAt(at(fd).file, vectors, count, Number(offset), out)[0] : BADF,
      fd_read: (fd, vectors, count, out) => {
        const open = at(fd);
        if (open?.at === undefined) return BADF;
        const [error, size] = this.readAt(open.file, vectors, count, open.at, out);
        open.at += size;
        return error;
      },
      fd_write: (fd, vectors, count, out) => {
        const file = at(fd)?.file;
        if (!(file instanceof Written)) return BADF;
        const before = file.size;
        for (const bytes of this.vectors(vectors, count)) file.append(bytes);
        return this.put32(out, file.size - before);
      },
      fd_seek: (fd, offset, whence, out) => {
        const open = at(fd);
        if (open?.at === undefined) return open ? SPIPE : BADF;
        open.at = [0, open.at, open.file.size][whence] + Number(offset);
        return this.put64(out, open.at);
      },

      path_open: (fd, follow, path, size, how, rights, more, flags, out) => {
        const name = this.path(path, size);
        let file = this.files.get(name);
        if (file && how & CREATE && how & EXCLUSIVE) return EXIST;
        if (!file && !(how & CREATE)) return name === "" || name === "." ? NOTSUP : NOENT;
        if (!file || how & TRUNCATE) this.files.set(name, (file = new Written()));
        let free = FOLDER + 1;
        while (this.open[free]) ++free;
        this.open[free] = { file, at: 0 };
        return this.put32(out, free);
      },
      path_filestat_get: (fd, flags, path, size, out) => {
        const name = this.path(path, size);
        if (name === "" || name === ".") return this.putFacts(out, FOLDER);
        const file = this.files.get(name);
        return file ? this.putFacts(out, REGULAR, file) : NOENT;
      },
      path_rename: (fd, from, fromSize, to, toPath, toSize) => {
        const name = this.path(from, fromSize);
        if (!this.files.has(name)) return NOENT;
        this.files.set(this.path(toPath, toSize), this.files.get(name));
        this.files.delete(name);
        return OK;
      },
      path_unlink_file: (fd, path, size) => (this.files.delete(this.path(path, size)) ? OK : NOENT),
      path_create_directory: refuse,
      path_remove_directory: refuse,
    };
  }
}

/**
 * Runs the command |module| with |args|, the words after its name, on |files|, pairs of a name and
 * a file. Returns its exit code, what it printed, the files it wrote, and the bytes of its memory.
 */
export function run(module, args, files) {
  const system = new System(["stowage", ...args], files);
  const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: system.imports() });
  system.memory = instance.exports.memory;
  let exit = 0;
  try {
    instance.exports._start();
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
    exit = error.code;
  }
  const written = [...system.files].filter(([, file]) => file instanceof Written);
  return {
    exit,
    out: system.out.bytes(),
    err: new TextDecoder().decode(system.err.bytes()),
    files: new Map(written.map(([name, file]) => [name, file.bytes()])),
    memory: system.memory.buffer.byteLength,
  };
}
