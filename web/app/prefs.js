// What this browser remembers: how things look. Nothing of the engine's.
const allowed = { theme: ["", "light", "dark"], density: ["", "compact"], keys: ["", "off"] };

function read(name) {
  try {
    const value = localStorage.getItem(`troupe.${name}`) ?? "";
    return allowed[name].includes(value) ? value : "";
  } catch { return ""; }
}

export const pref = (name) => read(name);

export function setPref(name, value) {
  if (!allowed[name].includes(value)) return;
  try {
    if (value) localStorage.setItem(`troupe.${name}`, value);
    else localStorage.removeItem(`troupe.${name}`);
  } catch { /* private windows: it lasts as long as the page */ }
  apply(name, value);
}

function apply(name, value) {
  if (name === "keys") return;
  if (value) document.documentElement.dataset[name] = value;
  else delete document.documentElement.dataset[name];
}
for (const name of ["theme", "density"]) apply(name, read(name));
