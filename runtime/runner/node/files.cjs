"use strict";
// Files that a run finds, and those that it leaves and are asked for; as
// python/troupe_runner/files.py, which says why this happens here.

const fs = require("fs");
const os = require("os");
const path = require("path");

const { ToolFailure } = require("./failure.cjs");

const MAX_SEEN = 50000; // entries of directories that are looked at
const MAX_DEPTH = 32; // directories below each other, for **
const MAX_NOTES = 10;
const { O_RDONLY, O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = fs.constants;

/** A pattern for one name as a regular expression: *, ? and [...]. */
function expression(pattern) {
  const text = pattern.replace(/\[(!?)([^\]]+)\]|[*?]|[\\^$.|+(){}\[\]]/g, (c, not, set) => {
    if (c === "*") return ".*";
    if (c === "?") return ".";
    return set ? `[${not ? "^" : ""}${set.replace(/[\\^]/g, "\\$&")}]` : `\\${c}`;
  });
  try {
    return new RegExp(`^${text}$`, "su");
  } catch {
    return /[]/; // a set of nothing
  }
}

class Folder {
  constructor(head) {
    this.patterns = head.outputs || [];
    this.most = head.max_files || 0;
    this.left = head.max_file_bytes || 0;
    this.seen = 0;
    this.notes = [];
    if (head.keep_env) {
      this.before = process.cwd();
      this.own = fs.mkdtempSync(path.join(os.tmpdir(), "troupe-"));
      process.chdir(this.own);
    }
    this.path = process.cwd();
  }

  write(entries, data) {
    let at = 0;
    for (const [name, size] of entries) {
      try {
        const directory = path.dirname(name);
        if (directory !== ".") fs.mkdirSync(directory, { recursive: true });
        const fd = fs.openSync(name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o644);
        try {
          for (let done = 0; done < size; ) done += fs.writeSync(fd, data, at + done, size - done);
        } finally {
          fs.closeSync(fd);
        }
      } catch (e) {
        throw new ToolFailure("FileError", `cannot write '${name}': ${e.code || e.message}`);
      }
      at += size;
    }
  }

  /** {files: [name, size] of each, data, notes}. Never fails. */
  collect() {
    const files = [];
    const pieces = [];
    try {
      for (const name of this.matches()) {
        if (files.length >= this.most) {
          this.note(`more than ${this.most} files match outputs; the rest is left out`);
          break;
        }
        const data = this.read(name);
        if (!data) continue;
        files.push([name, data.length]);
        pieces.push(data);
      }
    } catch (e) {
      this.note(`outputs: ${e && e.message}`.slice(0, 500));
    }
    return { files, data: Buffer.concat(pieces), notes: this.notes };
  }

  close() {
    if (!this.own) return;
    process.chdir(this.before);
    fs.rmSync(this.own, { recursive: true, force: true });
  }

  note(text) {
    if (this.notes.length < MAX_NOTES && !this.notes.includes(text)) this.notes.push(text);
  }

  *matches() {
    const known = new Set();
    for (const pattern of this.patterns)
      for (const name of this.below("", pattern.split("/"), 0))
        if (!known.has(name)) {
          known.add(name);
          yield name;
        }
  }

  /** What is in a directory, in order; links are not followed. */
  entries(directory) {
    const made = [];
    let open;
    try {
      open = fs.opendirSync(path.join(this.path, directory));
      for (let entry; (entry = open.readSync()); made.push(entry))
        if (++this.seen > MAX_SEEN) {
          this.note(`outputs: only ${MAX_SEEN} entries of directories were looked at`);
          break;
        }
    } catch {
      // gone, or not a directory
    } finally {
      if (open) open.closeSync();
    }
    return made.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  *below(directory, [first, ...rest], depth) {
    if (first === "**" && depth < MAX_DEPTH) {
      yield* this.below(directory, rest.length ? rest : ["*"], depth);
      for (const entry of this.entries(directory))
        if (entry.isDirectory() && !entry.name.startsWith("."))
          yield* this.below(path.join(directory, entry.name), [first, ...rest], depth + 1);
      return;
    }
    const wanted = expression(first);
    for (const entry of this.entries(directory)) {
      if ((entry.name.startsWith(".") && !first.startsWith(".")) || !wanted.test(entry.name)) continue;
      const inner = path.join(directory, entry.name);
      if (rest.length && entry.isDirectory()) yield* this.below(inner, rest, depth + 1);
      else if (!rest.length && !entry.isDirectory()) yield inner;
    }
  }

  /** The bytes of a regular file, or undefined with a note that says why not. */
  read(name) {
    const leave = (why) => this.note(`'${name}' is left out: ${why}`);
    let fd;
    try {
      fd = fs.openSync(path.join(this.path, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
      const about = fs.fstatSync(fd);
      if (!about.isFile()) return leave("not a regular file");
      const most = this.left;
      const tooLarge = `the files of a run may have ${most} more bytes`;
      if (about.size > most) return leave(tooLarge);
      const pieces = [];
      let size = 0;
      for (;;) {
        const piece = Buffer.alloc(Math.min(1 << 20, most + 1 - size));
        const n = fs.readSync(fd, piece, 0, piece.length, null);
        if (n === 0) break;
        pieces.push(piece.subarray(0, n));
        size += n;
        if (size > most) return leave(tooLarge); // it grows while it is read
      }
      this.left -= size;
      return Buffer.concat(pieces);
    } catch (e) {
      return leave(e.code === "ELOOP" ? "a symbolic link" : e.code || e.message);
    } finally {
      if (fd !== undefined) fs.closeSync(fd);
    }
  }
}

module.exports = { Folder };
