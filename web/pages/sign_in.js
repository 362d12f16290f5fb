// The key is typed once, kept in this page's memory, and gone with it.
import { h, fill } from "../app/dom.js";
import { logo } from "../app/icons.js";
import { button, field, problem } from "../app/parts.js";
import { get, setKey } from "../app/api.js";

/** Puts the question in place of everything; `done` follows a key that counts. */
export function signIn(done) {
  document.title = "Sign in · Troupe";
  const key = h("input", { type: "password", name: "key", autocomplete: "off", spellcheck: "false", autocapitalize: "off", required: true, placeholder: "troupe_…" });
  const wrong = h("div");
  const go = button("Sign in", { kind: "primary" });
  go.type = "submit";
  const form = h("form", h("div.brand", logo(), h("h1", "Troupe")),
    h("p.soft.small", "This engine asks for an API key. It stays in the memory of this page: not in a cookie, not in storage, and closing or reloading the page forgets it."),
    field("API key", key), wrong, go,
    h("p.soft.tiny", "Make one on the engine's machine: ", h("code", "troupe key create me --scope run,config,admin")));
  form.addEventListener("submit", async (sent) => {
    sent.preventDefault();
    const typed = key.value.trim();
    key.value = "";
    go.disabled = true;
    setKey(typed);
    try {
      await get("/v1/organizations/self");
      await done();
    } catch (why) {
      setKey(null);
      fill(wrong, why.status === 401 ? h("div.problem", { role: "alert" }, h("p", "That key does not count here. It may have been deleted, have ended, or belong to another engine.")) : problem(why));
      key.focus();
    } finally {
      go.disabled = false;
    }
  });
  document.querySelectorAll("dialog[open]").forEach((one) => one.close());
  fill(document.body, h("main.sign-in", form));
  key.focus();
}
