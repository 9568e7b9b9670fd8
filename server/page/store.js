// Conversations in this browser's IndexedDB: summaries for the list, and each conversation by itself, so that the list
// costs little however much was said. Where the browser keeps nothing, they last as long as the page.
import {titleOf} from "/page/conversation.js";

const asked = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

const done = (transaction) => new Promise((resolve, reject) => {
  transaction.oncomplete = () => resolve();
  transaction.onerror = transaction.onabort = () => reject(transaction.error);
});

function openDatabase() {
  const request = indexedDB.open("ingot", 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore("summaries", {keyPath: "id"});
    request.result.createObjectStore("conversations", {keyPath: "id"});
  };
  return asked(request);
}

export const summaryOf = (conversation) => ({
  id: conversation.id,
  title: titleOf(conversation),
  mode: conversation.mode,
  created: conversation.created,
  changed: conversation.changed,
});

class Kept {
  constructor(database) {
    this.database = database;
  }
  summaries() {
    return asked(this.database.transaction("summaries").objectStore("summaries").getAll());
  }
  load(id) {
    return asked(this.database.transaction("conversations").objectStore("conversations").get(id));
  }
  all() {
    return asked(this.database.transaction("conversations").objectStore("conversations").getAll());
  }
  save(conversation) {
    const transaction = this.database.transaction(["summaries", "conversations"], "readwrite");
    transaction.objectStore("summaries").put(summaryOf(conversation));
    transaction.objectStore("conversations").put(conversation);
    return done(transaction);
  }
  remove(id) {
    const transaction = this.database.transaction(["summaries", "conversations"], "readwrite");
    transaction.objectStore("summaries").delete(id);
    transaction.objectStore("conversations").delete(id);
    return done(transaction);
  }
}

class InMemory {
  constructor() {
    this.conversations = new Map();
  }
  async summaries() {
    return [...this.conversations.values()].map(summaryOf);
  }
  async load(id) {
    return this.conversations.get(id);
  }
  async all() {
    return [...this.conversations.values()];
  }
  async save(conversation) {
    this.conversations.set(conversation.id, conversation);
  }
  async remove(id) {
    this.conversations.delete(id);
  }
}

// {store, warning}: the warning says why nothing is kept, where nothing is.
export async function openStore() {
  try {
    return {store: new Kept(await openDatabase()), warning: null};
  } catch (error) {
    return {store: new InMemory(), warning: `This browser keeps no history for this page: ${error?.message ?? error}`};
  }
}
