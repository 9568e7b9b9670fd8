// The panel of settings: the system message and how words are drawn, of this conversation; the key and the look, of the
// page.
import {element} from "/page/elements.js";
import {textTokens} from "/page/generation.js";
import {key} from "/page/server.js";

const fields = [
  {
    name: "temperature",
    label: "Temperature",
    help: "0 takes the most likely word, more is bolder.",
    min: 0,
    max: 2,
    step: 0.05
  },
  {name: "top_p", label: "Top p", help: "Only words that together are this likely.", min: 0, max: 1, step: 0.01},
  {name: "top_k", label: "Top k", help: "Only this many of the likeliest; 0 for all.", min: 0, step: 1},
  {name: "min_p", label: "Min p", help: "Only words this likely, next to the likeliest.", min: 0, max: 1, step: 0.01},
  {name: "max_tokens", label: "Most tokens", help: "After which an answer is cut.", min: 1, step: 1},
  {name: "seed", label: "Seed", help: "The same seed draws the same words again.", min: 0, step: 1},
];

function rangeOf({min, max, step}) {
  const kind = step === 1 ? "a whole number" : "a number";
  return max === undefined ? `${kind}, ${min} or more` : `${kind} from ${min} to ${max}`;
}

function numberField(field, settings, changed, mode) {
  const id = `setting_${field.name}`;
  const complaint =
      element("p", {class: "complaint", id: `${id}_complaint`, hidden: true}, `Expected ${rangeOf(field)}.`);
  const input = element("input", {
    id,
    type: "number",
    inputmode: "decimal",
    min: field.min,
    max: field.max ?? null,
    step: field.step === 1 ? 1 : "any",
    placeholder: field.name === "max_tokens" && mode === "text" ? textTokens : "default",
    "aria-describedby": `${id}_help ${id}_complaint`,
  });
  if (settings[field.name] !== undefined) input.value = settings[field.name];
  input.addEventListener("input", () => {
    complaint.hidden = input.validity.valid;
    if (!input.validity.valid) return;
    if (input.value === "")
      delete settings[field.name];
    else
      settings[field.name] = Number(input.value);
    changed();
  });
  return element(
      "div",
      {class: "setting"},
      element("div", {class: "setting_row"}, element("label", {for: id}, field.label), input),
      element("p", {class: "help", id: `${id}_help`}, field.help),
      complaint,
  );
}

function systemField(settings, changed) {
  const area = element("textarea", {id: "setting_system", rows: 5, placeholder: "You answer in one sentence."});
  area.value = settings.system ?? "";
  area.addEventListener("input", () => {
    if (area.value)
      settings.system = area.value;
    else
      delete settings.system;
    changed();
  });
  return element(
      "div",
      {class: "setting"},
      element("label", {for: "setting_system"}, "System message"),
      area,
      element("p", {class: "help"}, "Stands before the conversation and says how to answer."),
  );
}

function keyField(keyChanged) {
  const input = element(
      "input", {id: "setting_key", type: "password", autocomplete: "off", spellcheck: "false", placeholder: "none"});
  input.value = key.value;
  input.addEventListener("change", () => {
    key.value = input.value.trim();
    keyChanged();
  });
  return element(
      "div",
      {class: "setting"},
      element("label", {for: "setting_key"}, "API key"),
      input,
      element("p", {class: "help"}, "Where the server asks for one. Forgotten when this tab is closed."),
  );
}

function lookField(theme) {
  const names = {system: "as the system", dark: "dark", light: "light"};
  const select = element(
      "select", {id: "setting_theme"},
      ...Object.entries(names).map(([value, text]) => element("option", {value}, text)));
  select.value = theme.choice;
  select.addEventListener("change", () => (theme.choice = select.value));
  return element(
      "div", {class: "setting"},
      element("div", {class: "setting_row"}, element("label", {for: "setting_theme"}, "Look"), select));
}

// actions: changed(), keyChanged(), keepAsDefault(), reset()
export function showSettings(root, conversation, theme, actions) {
  const {settings, mode} = conversation;
  root.replaceChildren(
      element(
          "section", {}, mode === "chat" && systemField(settings, actions.changed), element("h3", {}, "Sampling"),
          ...fields.map((field) => numberField(field, settings, actions.changed, mode)),
          element(
              "div", {class: "setting_buttons"},
              element(
                  "button", {type: "button", class: "plain", on: {click: actions.keepAsDefault}},
                  "Use for new conversations"),
              element("button", {type: "button", class: "plain", on: {click: actions.reset}}, "Reset"))),
      element("section", {}, element("h3", {}, "This page"), keyField(actions.keyChanged), lookField(theme)),
  );
}
