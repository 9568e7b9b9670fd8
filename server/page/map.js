// The model's map, which the server draws (/explain), in a frame beside the conversation.
import {element} from "/page/elements.js";
import {ask, errorOf, inWords, key} from "/page/server.js";

function words(error) {
  const {title, text, hint} = inWords(error);
  return element(
      "div", {class: "map_note"}, element("strong", {}, title), element("p", {}, text),
      hint && element("p", {class: "soft"}, hint));
}

// A frame cannot send a key, and a page made of a blob would live under this page's policy, which forbids its script.
// So with a key the map is a file to keep.
function offerFile(root, address, model) {
  const note = element("div", {class: "map_note"});
  const save = async () => {
    try {
      const file = URL.createObjectURL(await (await ask(address)).blob());
      element("a", {href: file, download: `${model.replace(/[^\w.-]+/g, "_")}.map.html`}).click();
      setTimeout(() => URL.revokeObjectURL(file), 60000);
    } catch (error) {
      note.replaceChildren(words(error));
    }
  };
  note.append(
      element(
          "p", {}, "This server asks for a key, which a frame cannot send. The map can be saved as a file instead."),
      element("button", {type: "button", class: "primary", on: {click: save}}, "Save the map"),
  );
  root.replaceChildren(note);
}

export function showMap(root, link, model) {
  const address = `/explain?model=${encodeURIComponent(model)}`;
  link.hidden = Boolean(key.value);
  link.href = address;
  if (key.value) return offerFile(root, address, model);
  const frame = element("iframe", {src: address, title: `Map of ${model}`});
  const wait = element("p", {class: "map_note soft"}, "The server draws the map. This may take some seconds.");
  frame.addEventListener("load", () => {
    wait.remove();
    // An error comes as JSON, which a reader should not have to look at.
    const document = frame.contentDocument;
    if (!document || document.contentType === "text/html") return;
    const status = frame.contentWindow.performance.getEntriesByType("navigation")[0]?.responseStatus || 500;
    root.replaceChildren(words(errorOf(status, document.body?.textContent ?? "")));
  });
  root.replaceChildren(wait, frame);
}
