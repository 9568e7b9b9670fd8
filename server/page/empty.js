// What stands where nothing was said yet: the model, and how to begin.
import {element} from "/page/elements.js";

const beginnings = {
  chat: [
    "Explain how a blast furnace works, in three short paragraphs.",
    "Write a C++ function that reverses a singly linked list, and say why it is right.",
    "Make a table of five metals with density and melting point.",
    "What should I ask a model that runs on my own machine?",
  ],
  // A line's end before it is how some models know that nothing came before.
  text:
      ["\nOnce there was a thoughtful cook named Ralf.", "The old smith put down the hammer and said", "Iron melts at"],
};

function scaled(number, units) {
  let unit = 0;
  while (number >= 1000 && unit < units.length - 1) {
    number /= 1000;
    ++unit;
  }
  return `${number >= 100 || unit === 0 ? Math.round(number) : number.toPrecision(2)} ${units[unit]}`;
}

// What the list of models tells, where it tells it.
function facts(model) {
  const {n_params: parameters, n_ctx: context, n_ctx_train: trained, size} = model?.meta ?? {};
  const all = [];
  if (parameters > 0) all.push(`${scaled(parameters, ["", "thousand", "million", "billion", "trillion"])} parameters`);
  if (size > 0) all.push(scaled(size, ["B", "kB", "MB", "GB", "TB"]));
  if ((context ?? trained) > 0) all.push(`${(context ?? trained).toLocaleString("en")} tokens of context`);
  return all.join(", ");
}

export function emptyState(mode, model, suggest) {
  const buttons = beginnings[mode].map(
      (text) => element("button", {type: "button", on: {click: () => suggest(text)}}, text.trim()));
  return element(
      "section",
      {class: "empty"},
      element("img", {src: "/page/ingot.svg", alt: "", width: 84, height: 84}),
      element("h1", {}, mode === "chat" ? "What shall we talk about?" : "Begin a text"),
      mode === "text" &&
          element(
              "p", {},
              "This model has no chat template: it answers no messages, it goes on with a text. Write a beginning."),
      model && element("p", {class: "soft"}, facts(model) || model.id),
      element("div", {class: "beginnings"}, ...buttons),
      element(
          "p", {class: "promise"},
          "The model runs on this server and conversations stay in this browser. Nothing is sent anywhere else."),
  );
}
