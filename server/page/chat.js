// The conversations of this page: which is shown, what is being answered, what is kept.
import {addMessage, fromFile, newConversation, newId, shownBranch, showVersion} from "/page/conversation.js";
import {announce} from "/page/elements.js";
import {Generation} from "/page/generation.js";
import {models} from "/page/server.js";
import {openStore, summaryOf} from "/page/store.js";

const saveEvery = 1500;  // milliseconds, while an answer grows

// Of the browser; where it keeps nothing for us, it throws.
function kept(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}
function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // It lasts as long as the page.
  }
}

const lacksTemplate = ({code, message}) =>
    code === "no_chat_template" || /no chat template|chat template, found none/i.test(message);

export class Chat {
  models = [];
  summaries = [];
  conversation = newConversation("chat", {});
  #generations = new Map();
  #withoutTemplate = new Set();
  #removed = new Set();
  #tabs = new BroadcastChannel("ingot.conversations");

  // on: changed() when something else is shown, grown(answer), listed(), note(text)
  constructor(on) {
    this.on = on;
    this.#tabs.onmessage = ({data}) => this.#changedElsewhere(data);
  }

  async start(shown) {
    const {store, warning} = await openStore();
    this.store = store;
    if (warning) this.on.note(warning);
    this.summaries = await store.summaries();
    if (!(await this.open(shown))) this.begin();
  }

  // --- models ---

  async findModels() {
    this.models = await models();
    const wanted = kept("ingot.model");
    const known = this.models.find(({id}) => id === (this.model?.id ?? wanted));
    this.model = known ?? this.models[0] ?? null;
    this.#adaptMode();
  }

  choose(id) {
    this.model = this.models.find((model) => model.id === id) ?? this.model;
    keep("ingot.model", id);
    this.#adaptMode();
  }

  get answersMessages() {
    return !this.model || (this.model.meta?.has_chat_template !== false && !this.#withoutTemplate.has(this.model.id));
  }

  // A conversation is of the kind that its model can do, until something is in it.
  #adaptMode() {
    if (this.conversation.messages.length === 0) this.conversation.mode = this.answersMessages ? "chat" : "text";
    this.on.changed();
  }

  // --- what is shown ---

  defaults() {
    try {
      return JSON.parse(kept("ingot.settings") ?? "{}");
    } catch {
      return {};
    }
  }

  keepAsDefaults() {
    keep("ingot.settings", JSON.stringify(this.conversation.settings));
  }

  begin() {
    this.conversation = newConversation(this.answersMessages ? "chat" : "text", this.defaults());
    this.on.changed();
  }

  async open(id) {
    const found = id && (this.#generations.get(id)?.conversation ?? (await this.store.load(id)));
    if (!found) return false;
    // An answer that the page did not live to see the end of.
    for (const message of found.messages) {
      if (message.role === "assistant" && !message.finish && !message.error && !this.isAnswering(message))
        message.finish = "stopped";
    }
    this.conversation = found;
    this.on.changed();
    return true;
  }

  show(version) {
    showVersion(this.conversation, version);
    this.#save(this.conversation);
    this.on.changed();
  }

  // --- asking ---

  isBusy(id) {
    return this.#generations.has(id);
  }

  isAnswering(message) {
    return [...this.#generations.values()].some(({answer}) => answer === message);
  }

  send(text) {
    const {conversation} = this;
    if (this.isBusy(conversation.id)) return;
    let {head} = conversation;
    if (text !== "") head = addMessage(conversation, head, "user", text).id;
    this.#answer(conversation, head);
  }

  // Of an answer, or of words of the user's that a file brought without one.
  again(message) {
    if (!this.isBusy(this.conversation.id))
      this.#answer(this.conversation, message.role === "user" ? message.id : message.parent);
  }

  // What was said before stays as another version.
  edit(message, text) {
    const {conversation} = this;
    if (this.isBusy(conversation.id)) return;
    this.#answer(conversation, addMessage(conversation, message.parent, "user", text).id);
  }

  stop() {
    this.#generations.get(this.conversation.id)?.stop();
  }

  async #answer(conversation, parent) {
    const answer = addMessage(conversation, parent, "assistant", "");
    answer.model = this.model?.id ?? "";
    const generation = new Generation(conversation, answer, this.model?.meta?.n_ctx);
    this.#generations.set(conversation.id, generation);
    this.#save(conversation);
    this.on.changed();
    announce("An answer is being written");
    let saved = performance.now();
    await generation.run(() => {
      if (conversation === this.conversation) this.on.grown(answer);
      if (performance.now() - saved < saveEvery) return;
      saved = performance.now();
      this.#save(conversation);
    });
    this.#generations.delete(conversation.id);
    if (answer.error && lacksTemplate(answer.error) && this.#goOnAsText(conversation, answer)) return;
    conversation.changed = Date.now();
    this.#save(conversation);
    if (conversation === this.conversation) this.on.changed();
    announce(answer.error ? "The answer failed" : answer.finish === "stopped" ? "Stopped" : "The answer is complete");
  }

  // The model cannot answer messages. Where nothing but the question was said, it becomes the beginning of a text.
  #goOnAsText(conversation, answer) {
    this.#withoutTemplate.add(answer.model);
    if (conversation.mode === "text" || shownBranch(conversation).length > 2) return false;
    conversation.mode = "text";
    conversation.messages = conversation.messages.filter((message) => message !== answer);
    this.on.note("This model has no chat template: it goes on with your text instead of answering.");
    this.#answer(conversation, answer.parent);
    return true;
  }

  // --- keeping ---

  async #save(conversation) {
    if (this.#removed.has(conversation.id)) return;  // its answer came to an end afterwards
    this.summaries = [summaryOf(conversation), ...this.summaries.filter(({id}) => id !== conversation.id)];
    this.on.listed();
    try {
      await this.store.save(conversation);
      this.#tabs.postMessage(conversation.id);
    } catch (error) {
      this.on.note(`This conversation could not be kept: ${error?.message ?? error}`);
    }
  }

  saveShown() {
    if (this.conversation.messages.length > 0) this.#save(this.conversation);
  }

  // Before the page goes.
  saveUnfinished() {
    for (const {conversation} of this.#generations.values()) this.#save(conversation);
  }

  async #changedElsewhere(id) {
    this.summaries = await this.store.summaries();
    this.on.listed();
    if (id === this.conversation.id && !this.isBusy(id) && !(await this.open(id))) this.begin();
  }

  async rename(id, title) {
    const conversation = id === this.conversation.id ? this.conversation : await this.store.load(id);
    if (!conversation) return;
    conversation.title = title;
    await this.#save(conversation);
  }

  // Returns what was removed, so that it can be brought back.
  async remove(id) {
    this.#generations.get(id)?.stop();
    this.#removed.add(id);
    const removed = await this.store.load(id);
    await this.store.remove(id);
    this.summaries = this.summaries.filter((summary) => summary.id !== id);
    this.#tabs.postMessage(id);
    if (id === this.conversation.id) this.begin();
    this.on.listed();
    return removed;
  }

  async bringBack(conversation) {
    this.#removed.delete(conversation.id);
    await this.#save(conversation);
    await this.open(conversation.id);
  }

  // --- files ---

  async exported(id = null) {
    return id ? [await this.store.load(id)] : this.store.all();
  }

  // How many were new: one that is here already, and as it was, is not taken twice; one that differs comes beside ours.
  async take(text) {
    const read = fromFile(text);
    const known = new Map(this.summaries.map((summary) => [summary.id, summary]));
    let taken = 0;
    for (const conversation of read) {
      const ours = known.get(conversation.id);
      if (ours?.changed === conversation.changed) continue;
      if (ours) conversation.id = newId();
      await this.#save(conversation);
      ++taken;
    }
    return {taken, present: read.length - taken};
  }
}
