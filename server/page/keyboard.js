// Keys, and the list of them.
import {byId, element} from "/page/elements.js";

const list = [
  ["Enter", "send the message"],
  ["Shift Enter", "a new line in it"],
  ["Esc", "stop the answer; else close what is open"],
  ["\u2191", "edit the last message, from an empty field"],
  ["/", "go to the message field"],
  ["n", "new conversation"],
  ["m", "the model\u2019s map"],
  ["s", "settings"],
  ["d", "dark or light"],
  ["?", "this list"],
];

const isWritten = (target) =>
    target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]") !== null;

// keys: one function for each single key, and escape().
export function listenToKeys(keys) {
  byId("shortcut_list")
      .append(
          ...list.map(([names, text]) => {
            const caps = names.split(" ").map((name) => element("kbd", {}, name));
            return element("div", {}, element("dt", {}, ...caps), element("dd", {}, text));
          }),
      );
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") return keys.escape(event);
    if (isWritten(event.target) || byId("shortcuts").open) return;
    const run = keys[event.key];
    if (!run) return;
    event.preventDefault();
    run();
  });
}
