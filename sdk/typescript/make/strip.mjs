// Types are only erased: by Node itself where it can, else by the transpiler that
// the engine's build made for its own runs. Neither needs a registry.
import fs from "node:fs";
import module, { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const source = path.join(path.dirname(fileURLToPath(import.meta.url)), "../src");

/** A function that takes the types out of a source; undefined where none is here. */
export function stripper(transpiler) {
  if (module.stripTypeScriptTypes) return (text) => module.stripTypeScriptTypes(text);
  // A build without a registry has a short note in its place.
  if (!transpiler || !fs.existsSync(transpiler) || fs.statSync(transpiler).size < 1000) return undefined;
  const { transform } = createRequire(import.meta.url)(transpiler);
  return (text) => transform(text, { transforms: ["typescript"], disableESTransforms: true }).code;
}

/** All sources, as modules that any Node runs. */
export function stripAll(to, strip) {
  for (const name of fs.readdirSync(source, { recursive: true })) {
    const from = path.join(source, String(name));
    if (!String(name).endsWith(".ts")) continue;
    const target = path.join(to, String(name).replace(/\.ts$/, ".js"));
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.writeFileSync(target, strip(fs.readFileSync(from, "utf8")).replace(/(from "\.[^"]*)\.ts"/g, '$1.js"'));
  }
  fs.writeFileSync(path.join(to, "package.json"), '{"type": "module"}\n');
}
