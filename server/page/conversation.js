// A conversation is a tree of messages: editing one or asking again adds a sibling, and nothing that was said is lost.
// `head` is the last message of the branch that is shown.

export const settingNames = ["temperature", "top_p", "top_k", "min_p", "max_tokens", "seed"];

// Not crypto.randomUUID, which pages without a certificate do not have.
export function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function newConversation(mode, settings) {
  const now = Date.now();
  return {id: newId(), title: "", mode, created: now, changed: now, settings: {...settings}, messages: [], head: null};
}

export function addMessage(conversation, parent, role, content) {
  const message = {id: newId(), parent, role, content, created: Date.now()};
  conversation.messages.push(message);
  conversation.head = message.id;
  conversation.changed = message.created;
  return message;
}

// From the first message to the one with this id.
export function branchTo(conversation, id) {
  const known = new Map(conversation.messages.map((message) => [message.id, message]));
  const branch = [];
  for (let at = known.get(id); at; at = known.get(at.parent)) {
    branch.push(at);
    known.delete(at.id);
  }
  return branch.reverse();
}

export const shownBranch = (conversation) => branchTo(conversation, conversation.head);

export const versionsOf = (conversation, message) =>
    conversation.messages.filter((other) => other.parent === message.parent && other.role === message.role);

// Shows the branch through this message, as far as it went last.
export function showVersion(conversation, message) {
  let at = message;
  for (let next = at; next; next = conversation.messages.findLast((other) => other.parent === at.id)) at = next;
  conversation.head = at.id;
}

// What the list calls it.
export function titleOf(conversation) {
  if (conversation.title) return conversation.title;
  const first = conversation.messages.find((message) => message.role === "user" && message.content.trim());
  if (!first) return "New conversation";
  const line = first.content.trim().split("\n", 1)[0];
  return line.length > 60 ? line.slice(0, 58).trimEnd() + "\u2026" : line;
}

export const textOf = (conversation, id) => branchTo(conversation, id).map((message) => message.content).join("");

// Roles take turns: templates may insist. An answer that brought nothing is left out, and what the user said before and
// after it becomes one message.
export function turnsOf(conversation, id) {
  const turns = [];
  const system = conversation.settings.system?.trim();
  if (system) turns.push({role: "system", content: system});
  for (const {role, content} of branchTo(conversation, id)) {
    const last = turns.at(-1);
    if (role === "assistant" && !content) continue;
    if (last?.role === role)
      last.content += "\n\n" + content;
    else
      turns.push({role, content});
  }
  return turns;
}

// --- files -----------------------------------------------------------------------------------------------------------

export const fileFormat = "ingot-conversations-1";

export const toFile = (conversations) => JSON.stringify({format: fileFormat, conversations}, null, 1);

const isText = (value) => typeof value === "string";
const timeOf = (value) => (Number.isFinite(value) ? value : Date.now());

function readError({status, message, code, param, retryAfter}) {
  const orNull = (text) => (isText(text) ? text : null);
  return {
    status: Number.isFinite(status) ? status : "cut",
    message,
    code: orNull(code),
    param: orNull(param),
    retryAfter: orNull(retryAfter)
  };
}

function readMessage(value, place) {
  if (!isText(value?.id) || !isText(value.content) || !["user", "assistant"].includes(value.role)) {
    throw new Error(`${place}: expected a message with id, role and content`);
  }
  const message =
      {id: value.id, parent: isText(value.parent) ? value.parent : null, role: value.role, content: value.content};
  message.created = timeOf(value.created);
  for (const name of ["model", "reasoning", "finish"])
    if (isText(value[name])) message[name] = value[name];
  if (isText(value.error?.message)) message.error = readError(value.error);
  if (value.numbers && typeof value.numbers === "object") {
    message.numbers = Object.fromEntries(Object.entries(value.numbers).filter(([, number]) => Number.isFinite(number)));
  }
  return message;
}

function readSettings(value) {
  const settings = {};
  if (isText(value?.system)) settings.system = value.system;
  for (const name of settingNames)
    if (Number.isFinite(value?.[name])) settings[name] = value[name];
  return settings;
}

// A tree stands in its file as it grew. One that came back to itself would be followed for ever.
function checkTree(messages, place) {
  const all = new Set(messages.map((message) => message.id));
  const before = new Set();
  for (const {id, parent} of messages) {
    if (before.has(id) || (all.has(parent) && !before.has(parent)))
      throw new Error(`${place}: expected messages of different ids, each behind its parent, found ${id}`);
    before.add(id);
  }
}

function readConversation(value, place) {
  if (!isText(value?.id) || !Array.isArray(value.messages))
    throw new Error(`${place}: expected a conversation with id and messages`);
  const messages = value.messages.map((message, i) => readMessage(message, `${place}.messages[${i}]`));
  checkTree(messages, place);
  const head = messages.some((message) => message.id === value.head) ? value.head : (messages.at(-1)?.id ?? null);
  return {
    id: value.id,
    title: isText(value.title) ? value.title.slice(0, 200) : "",
    mode: value.mode === "text" ? "text" : "chat",
    created: timeOf(value.created),
    changed: timeOf(value.changed),
    settings: readSettings(value.settings),
    messages,
    head,
  };
}

// Takes what toFile wrote, and of that only what a conversation has: a file may come from anywhere.
export function fromFile(text) {
  const file = JSON.parse(text);
  if (file?.format !== fileFormat)
    throw new Error(`expected a file of format ${fileFormat}, found ${JSON.stringify(file?.format ?? null)}`);
  if (!Array.isArray(file.conversations)) throw new Error("expected a list of conversations, found none");
  return file.conversations.map((value, i) => readConversation(value, `conversations[${i}]`));
}
