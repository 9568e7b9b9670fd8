// The page: what is in the markup, brought together with what it does.
import {Chat} from "/page/chat.js";
import {titleOf, toFile} from "/page/conversation.js";
import {byId, drawIcons, element, setIcon, toast} from "/page/elements.js";
import {listenToKeys} from "/page/keyboard.js";
import {Load} from "/page/load.js";
import {showMap} from "/page/map.js";
import {inWords} from "/page/server.js";
import {showSettings} from "/page/settings.js";
import {Sidebar} from "/page/sidebar.js";
import {Transcript} from "/page/transcript.js";

const theme = window.ingotTheme;
const field = byId("message");
const scroller = byId("scroller");
const narrow = matchMedia("(max-width: 860px)");

const chat =
    new Chat({changed: show, grown: (answer) => transcript.grow(answer), listed: () => sidebar.show(), note: toast});

const transcript = new Transcript(
    byId("transcript"),
    {
      again: (answer) => chat.again(answer),
      edit: (message, text) => chat.edit(message, text),
      show: (version) => chat.show(version),
      grown: followEnd,
      suggest: (text) => write(text),
    },
    () => ({conversation: chat.conversation, model: chat.model, isBusy: (message) => chat.isAnswering(message)}),
);

const sidebar = new Sidebar(
    byId("conversations"),
    byId("search"),
    {
      open: (id) => chat.open(id).then(closeSidebar),
      rename: (id, title) => chat.rename(id, title),
      remove,
      save: async (id) => saveFile(await chat.exported(id)),
    },
    () => ({summaries: chat.summaries, shown: chat.conversation.id, isBusy: (id) => chat.isBusy(id)}),
);

const load = new Load({state: byId("load_state"), graph: byId("load_graph"), numbers: byId("load_numbers")});

// --- showing ---------------------------------------------------------------------------------------------------------

let shownId = null;

// Everything that depends on which conversation is shown, and on whether it is being answered.
function show() {
  const {conversation} = chat;
  const isBusy = chat.isBusy(conversation.id);
  const isText = conversation.mode === "text";
  document.body.dataset.mode = conversation.mode;
  document.body.classList.toggle("generating", isBusy);
  document.title = conversation.messages.length > 0 ? `${titleOf(conversation)} \u00b7 Ingot` : "Ingot";
  history.replaceState(null, "", conversation.messages.length > 0 ? `#${conversation.id}` : location.pathname);
  transcript.show();
  sidebar.show();
  setIcon(byId("send"), isBusy ? "stop" : "send");
  byId("send").setAttribute("aria-label", isBusy ? "Stop" : isText ? "Go on with the text" : "Send");
  field.placeholder = isText ?
      (conversation.messages.length > 0 ? "Add words of your own, or send nothing to go on" : "Write a beginning") :
      "Ask something";
  byId("mode").hidden = !isText;
  byId("mode").textContent = "Continue a text";
  byId("mode").title = "This model has no chat template: it goes on with a text.";
  byId("hint").textContent = isBusy ? "Esc stops" : "Enter sends, Shift and Enter begin a new line";
  if (shownId !== conversation.id) {
    shownId = conversation.id;
    isFollowing = true;
    if (!byId("settings").hidden) drawSettings();
  }
  followEnd();
  measureField();
}

function showModels() {
  const select = byId("model");
  select.disabled = chat.models.length === 0;
  const options = chat.models.map(({id}) => element("option", {value: id}, id));
  select.replaceChildren(...(options.length > 0 ? options : [element("option", {}, "no model")]));
  if (chat.model) select.value = chat.model.id;
}

async function findModels() {
  const notice = byId("notice");
  try {
    await chat.findModels();
    notice.hidden = true;
  } catch (error) {
    const {title, text} = inWords(error);
    if (error.status === 401) {
      if (byId("settings").hidden) openPanel("settings");
      byId("setting_key").focus();
    }
    const again = element("button", {type: "button", class: "link", on: {click: findModels}}, "Try again");
    notice.replaceChildren(element("strong", {}, title), element("span", {}, text), again);
    notice.hidden = false;
  }
  showModels();
}

// --- the end of the conversation stays in sight, unless the reader scrolled away from it ---

let isFollowing = true;

function followEnd() {
  if (isFollowing) scroller.scrollTop = scroller.scrollHeight;
  byId("to_end").hidden = isFollowing || scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 80;
}

scroller.addEventListener("scroll", () => {
  isFollowing = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 40;
  byId("to_end").hidden = isFollowing;
});

byId("to_end").addEventListener("click", () => {
  isFollowing = true;
  followEnd();
});

// --- writing ---------------------------------------------------------------------------------------------------------

function measureField() {
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight, innerHeight * 0.4)}px`;
  const isText = chat.conversation.mode === "text" && chat.conversation.messages.length > 0;
  byId("send").disabled = !chat.isBusy(chat.conversation.id) && (!chat.model || (field.value.trim() === "" && !isText));
}

function write(text) {
  field.value = text;
  field.focus();
  measureField();
}

function send() {
  if (byId("send").disabled) return;
  // In a text every space counts; in a message those around it do not.
  const text = chat.conversation.mode === "text" ? field.value : field.value.trim();
  write("");
  isFollowing = true;
  chat.send(text);
}

field.addEventListener("input", measureField);
field.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    if (!chat.isBusy(chat.conversation.id)) send();
  } else if (event.key === "ArrowUp" && field.value === "") {
    const buttons = document.querySelectorAll(".message button[aria-label^=\"Edit\"]");
    if (buttons.length === 0) return;
    event.preventDefault();
    buttons[buttons.length - 1].click();
  }
});
byId("send").addEventListener("click", () => (chat.isBusy(chat.conversation.id) ? chat.stop() : send()));

// --- panels and the list ---------------------------------------------------------------------------------------------

function drawSettings() {
  showSettings(byId("settings_body"), chat.conversation, theme, {
    changed: () => chat.saveShown(),
    keyChanged: () => {
      load.restart();
      findModels();
    },
    keepAsDefault: () => {
      chat.keepAsDefaults();
      toast("New conversations begin with these settings.");
    },
    reset: () => {
      for (const name of Object.keys(chat.conversation.settings)) delete chat.conversation.settings[name];
      chat.saveShown();
      drawSettings();
    },
  });
}

const panels = {
  settings: drawSettings,
  map: () => showMap(byId("map_body"), byId("map_link"), chat.model?.id ?? ""),
};

function closePanels() {
  for (const name of Object.keys(panels)) {
    byId(name).hidden = true;
    byId(`show_${name}`).setAttribute("aria-pressed", "false");
  }
  byId("map_body").replaceChildren();
  delete document.body.dataset.panel;
}

function openPanel(name) {
  closePanels();
  byId(name).hidden = false;
  byId(`show_${name}`).setAttribute("aria-pressed", "true");
  document.body.dataset.panel = name;
  panels[name]();
}

function togglePanel(name) {
  if (!byId(name).hidden) return closePanels();
  openPanel(name);
  byId(name).querySelector("header button").focus();
}

for (const name of Object.keys(panels)) byId(`show_${name}`).addEventListener("click", () => togglePanel(name));
for (const button of document.querySelectorAll("[data-close]")) {
  button.addEventListener("click", () => {
    closePanels();
    byId(`show_${button.dataset.close}`).focus();
  });
}

function openSidebar() {
  document.body.classList.add("listing");
  byId("close_sidebar").focus();
}
function closeSidebar() {
  document.body.classList.remove("listing");
}
byId("open_sidebar").addEventListener("click", openSidebar);
byId("close_sidebar").addEventListener("click", closeSidebar);
byId("shade").addEventListener("click", closeSidebar);

function begin() {
  chat.begin();
  closeSidebar();
  if (!narrow.matches) field.focus();
}
byId("new_conversation").addEventListener("click", begin);

async function remove(id) {
  const removed = await chat.remove(id);
  toast("Deleted.", removed && {label: "Undo", run: () => chat.bringBack(removed)});
}

// --- files -----------------------------------------------------------------------------------------------------------

function saveFile(conversations) {
  const file = URL.createObjectURL(new Blob([toFile(conversations)], {type: "application/json"}));
  const day = new Date().toISOString().slice(0, 10);
  element("a", {href: file, download: `ingot-conversations-${day}.json`}).click();
  setTimeout(() => URL.revokeObjectURL(file), 60000);
}

byId("export").addEventListener("click", async () => saveFile(await chat.exported()));
byId("import").addEventListener("click", () => byId("import_file").click());
byId("import_file").addEventListener("change", async ({target}) => {
  const [file] = target.files;
  target.value = "";
  if (!file) return;
  try {
    const {taken, present} = await chat.take(await file.text());
    toast(`${taken} imported` + (present > 0 ? `, ${present} already here.` : "."));
  } catch (error) {
    toast(`${file.name}: ${error.message}`, null, 15);
  }
});

// --- the rest --------------------------------------------------------------------------------------------------------

function switchTheme() {
  theme.choice = theme.isDark ? "light" : "dark";
  if (!byId("settings").hidden) drawSettings();
}
byId("theme").addEventListener("click", switchTheme);

const shortcuts = byId("shortcuts");
byId("show_shortcuts").addEventListener("click", () => shortcuts.showModal());
byId("close_shortcuts").addEventListener("click", () => shortcuts.close());

listenToKeys({
  "/": () => field.focus(),
  n: begin,
  m: () => togglePanel("map"),
  s: () => togglePanel("settings"),
  d: switchTheme,
  "?": () => shortcuts.showModal(),
  escape: () => {
    if (chat.isBusy(chat.conversation.id))
      chat.stop();
    else if (document.body.classList.contains("listing"))
      closeSidebar();
    else
      closePanels();
  },
});

byId("model").addEventListener("change", ({target}) => {
  chat.choose(target.value);
  if (!byId("map").hidden) panels.map();
});
addEventListener("hashchange", () => chat.open(location.hash.slice(1)));
addEventListener("pagehide", () => chat.saveUnfinished());
addEventListener("resize", measureField);

drawIcons(document);
await chat.start(location.hash.slice(1));
load.restart();
if (!narrow.matches) field.focus();
await findModels();
