// Making elements. Texts become text nodes: nothing that a model, a server or a file says is ever read as HTML.
import {paths} from "/page/icons.js";

const svgSpace = "http://www.w3.org/2000/svg";

// element("button", {class: "quiet", on: {click: f}}, "text", other): attributes that are null or false are left out.
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  const {on: listeners = {}, ...plain} = attributes;
  for (const [key, value] of Object.entries(plain)) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  for (const [event, listener] of Object.entries(listeners)) made.addEventListener(event, listener);
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export function svg(name, attributes, ...children) {
  const made = document.createElementNS(svgSpace, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function icon(name) {
  return svg(
      "svg", {viewBox: "0 0 24 24", class: `icon icon_${name}`, "aria-hidden": "true"}, svg("path", {d: paths[name]}));
}

// A button that shows an icon alone, and says in words what it does.
export function iconButton(name, label, click, attributes = {}) {
  return element(
      "button", {type: "button", class: "quiet", "aria-label": label, title: label, on: {click}, ...attributes},
      icon(name));
}

export function setIcon(button, name) {
  button.querySelector(".icon")?.remove();
  button.prepend(icon(name));
}

// Elements of the markup name their icons; one table draws them all.
export function drawIcons(root) {
  for (const each of root.querySelectorAll("[data-icon]")) setIcon(each, each.dataset.icon);
}

export const byId = (id) => document.getElementById(id);

// For those who hear the page.
export function announce(text) {
  byId("status").textContent = text;
}

// A note that goes by itself, with at most one thing to do about it.
export function toast(text, action = null, seconds = 7) {
  const note = element("div", {class: "toast"}, element("span", {}, text));
  const remove = () => note.remove();
  if (action) {
    const click = () => {
      remove();
      action.run();
    };
    note.append(element("button", {type: "button", class: "link", on: {click}}, action.label));
  }
  byId("toasts").append(note);
  setTimeout(remove, seconds * 1000);
}

// The clipboard's interface is there for secure pages only; a server in the house has no certificate.
export async function copyText(text) {
  if (navigator.clipboard && isSecureContext) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Refused, as where the page is not in front: the other way may do.
    }
  }
  const holder = element("textarea", {class: "unseen", "aria-hidden": "true"});
  holder.value = text;
  document.body.append(holder);
  holder.select();
  const copied = document.execCommand("copy");
  holder.remove();
  return copied;
}

export function copyButton(label, text) {
  const button = iconButton("copy", label, async () => {
    const copied = await copyText(text());
    announce(copied ? "Copied" : "The browser did not allow copying");
    setIcon(button, copied ? "check" : "alert");
    setTimeout(() => setIcon(button, "copy"), 1600);
  });
  return button;
}
