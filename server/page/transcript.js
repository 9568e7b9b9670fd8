// The conversation as it is read: messages, their feet, and what stands there before the first one.
import {shownBranch, textOf, versionsOf} from "/page/conversation.js";
import {copyButton, element, icon, iconButton} from "/page/elements.js";
import {emptyState} from "/page/empty.js";
import {MarkdownView} from "/page/markdown.js";
import {inWords} from "/page/server.js";

const count = (number) => number.toLocaleString("en");
const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;
const rateText = (rate) => `${rate < 100 ? rate.toFixed(1) : count(Math.round(rate))} tokens/s`;
const secondsText = (seconds) =>
    (seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`);
const endings = {
  length: "cut at the limit",
  stopped: "stopped",
  content_filter: "withheld"
};

// What is known of an answer, as short phrases.
function phrases({numbers, finish}) {
  const all = [];
  if (numbers?.tokens) all.push(plural(numbers.tokens, "token"));
  if (numbers?.rate > 0) all.push(rateText(numbers.rate));
  if (numbers?.firstToken > 0) all.push(`first after ${secondsText(numbers.firstToken)}`);
  if (numbers?.promptTokens)
    all.push(
        `prompt ${count(numbers.promptTokens)}` +
        (numbers.cachedTokens ? `, ${count(numbers.cachedTokens)} cached` : ""));
  if (numbers?.tokens === 0 && finish === "stop") all.push("ended without a word");
  if (endings[finish]) all.push(endings[finish]);
  return all;
}

// Thinking comes apart from the answer, or in front of it in tags of its own.
function thinkingAndAnswer({content, reasoning}) {
  if (reasoning) return [reasoning, content];
  const open = /^\s*<think>\s*/.exec(content);
  if (!open) return ["", content];
  const close = content.indexOf("</think>");
  return close < 0 ? [content.slice(open[0].length), ""] :
                     [content.slice(open[0].length, close), content.slice(close + 8).trimStart()];
}

export class Transcript {
  #views = new Map();
  #waiting = new Set();  // answers that changed since they were drawn
  #isDue = false;

  // actions: again(answer), edit(message, text), show(version), suggest(text); state(): {conversation, model,
  // isBusy(message)}
  constructor(root, actions, state) {
    Object.assign(this, {root, actions, state});
  }

  show() {
    const {conversation, model} = this.state();
    this.#views.clear();
    this.#waiting.clear();
    const branch = conversation ? shownBranch(conversation) : [];
    if (branch.length === 0)
      this.root.replaceChildren(emptyState(conversation.mode, model, this.actions.suggest));
    else if (conversation.mode === "text")
      this.root.replaceChildren(this.#flow(conversation, branch));
    else
      this.root.replaceChildren(
          ...branch.map((message) => (message.role === "user" ? this.#question(message) : this.#answer(message))));
  }

  // A piece came: drawn with the next frame, once for all pieces until then. Hidden pages have no frames.
  grow(message) {
    this.#waiting.add(message);
    if (this.#isDue) return;
    this.#isDue = true;
    const draw = () => {
      this.#isDue = false;
      for (const each of this.#waiting) this.#views.get(each.id)?.();
      this.#waiting.clear();
      this.actions.grown();
    };
    if (document.visibilityState === "visible")
      requestAnimationFrame(draw);
    else
      setTimeout(draw, 250);
  }

  #question(message) {
    const root = element("article", {class: "message user", "aria-label": "You"});
    const bubble = element("div", {class: "bubble"}, message.content);
    const edit = iconButton("edit", "Edit and send again", () => this.#edit(message, root, [...root.children]));
    root.append(
        bubble,
        element(
            "div", {class: "foot"}, this.#versions(message), copyButton("Copy the message", () => message.content),
            edit));
    return root;
  }

  #answer(message) {
    const thinking = element("div", {class: "thinking_text"});
    const details = element("details", {class: "thinking", hidden: true}, element("summary", {}, "Thinking"), thinking);
    const text = element("div", {class: "text"});
    const trouble = element("div");
    const foot = element("div", {class: "foot"});
    const by = element(
        "div", {class: "by"}, element("img", {src: "/page/ingot.svg", alt: "", width: 18, height: 18}),
        message.model || "Model");
    const root =
        element("article", {class: "message assistant", "aria-label": "Answer"}, by, details, text, trouble, foot);
    const markdown = new MarkdownView(text);
    let wasThinking = false;
    const draw = () => {
      const isBusy = this.state().isBusy(message);
      const [thought, answer] = thinkingAndAnswer(message);
      details.hidden = !thought;
      if (thinking.textContent !== thought) thinking.textContent = thought;
      const isThinking = isBusy && thought !== "" && answer === "";
      if (isThinking !== wasThinking) details.open = isThinking;
      wasThinking = isThinking;
      markdown.update(answer);
      root.classList.toggle("busy", isBusy);
      root.setAttribute("aria-busy", isBusy);
      trouble.replaceChildren(...this.#trouble(message));
      foot.replaceChildren(...this.#foot(message, isBusy, () => answer));
    };
    this.#views.set(message.id, draw);
    draw();
    return root;
  }

  // A text that the model goes on with has no turns: one flow, the reader's words and the model's told apart by ink.
  #flow(conversation, branch) {
    const last = branch.at(-1);
    const parts = branch.map((message) => element("span", {class: `part ${message.role}`}, message.content));
    parts[0].textContent = branch[0].content.trimStart();
    const text = element("div", {class: "flow"}, ...parts);
    const trouble = element("div");
    const foot = element("div", {class: "foot"});
    const root = element("article", {class: "message assistant", "aria-label": "Text"}, text, trouble, foot);
    const own = branch.findLast((message) => message.role === "user");
    const draw = () => {
      const isBusy = this.state().isBusy(last);
      if (parts.length > 1) parts.at(-1).textContent = last.content;
      root.classList.toggle("busy", isBusy);
      root.setAttribute("aria-busy", isBusy);
      trouble.replaceChildren(...this.#trouble(last));
      const edit = iconButton("edit", "Edit your last words and go on from there", () => this.#edit(own, root, [foot]));
      foot.replaceChildren(...this.#foot(last, isBusy, () => textOf(conversation, last.id), own ? [edit] : []));
    };
    this.#views.set(last.id, draw);
    draw();
    return root;
  }

  #foot(message, isBusy, text, more = []) {
    const numbers =
        element("span", {class: "numbers"}, ...phrases(message).map((phrase) => element("span", {}, phrase)));
    if (isBusy) return [numbers];
    const again = iconButton("retry", "Answer again", () => this.actions.again(message));
    return [
      this.#versions(message), message.content ? copyButton("Copy the answer", text) : "", again, ...more, numbers
    ];
  }

  #versions(message) {
    const versions = versionsOf(this.state().conversation, message);
    if (versions.length < 2) return "";
    const at = versions.indexOf(message);
    const go = (step) => () => this.actions.show(versions[at + step]);
    return element(
        "span",
        {class: "versions"},
        iconButton("left", "Version before", go(-1), {disabled: at === 0}),
        element("span", {}, `${at + 1}/${versions.length}`),
        iconButton("right", "Next version", go(1), {disabled: at === versions.length - 1}),
    );
  }

  #trouble({error}) {
    if (!error) return [];
    const {title, text, hint} = inWords(error);
    return [element(
        "div",
        {class: "trouble", role: "alert"},
        icon("alert"),
        element(
            "div", {}, element("strong", {}, title), element("p", {}, text),
            hint && element("p", {class: "soft"}, hint)),
        )];
  }

  // In place of some parts of the message, until it is sent or given up.
  #edit(message, root, replaced) {
    const area = element("textarea", {class: "editor", "aria-label": "Edited message", rows: 3});
    area.value = message.content;
    const close = () => {
      editor.remove();
      for (const part of replaced) part.hidden = false;
      root.classList.remove("edited");
    };
    const send = () => {
      if (area.value.trim()) this.actions.edit(message, area.value);
    };
    const key = (event) => {
      if (event.key === "Escape")
        close();
      else if (event.key === "Enter" && !event.shiftKey && !event.isComposing)
        send();
      else
        return;
      event.preventDefault();
      event.stopPropagation();
    };
    area.addEventListener("keydown", key);
    const buttons = element(
        "div",
        {class: "editor_buttons"},
        element("button", {type: "button", class: "plain", on: {click: close}}, "Cancel"),
        element("button", {type: "button", class: "primary", on: {click: send}}, "Send"),
    );
    const editor = element("div", {class: "editing"}, area, buttons);
    for (const part of replaced) part.hidden = true;
    root.classList.add("edited");
    root.append(editor);
    area.focus();
    area.setSelectionRange(area.value.length, area.value.length);
  }
}
