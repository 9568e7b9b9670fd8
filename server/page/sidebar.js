// The list of conversations, by day, with what can be done to each.
import {element, iconButton} from "/page/elements.js";

const day = 24 * 60 * 60 * 1000;

function ageOf(changed) {
  const midnight = new Date().setHours(0, 0, 0, 0);
  if (changed >= midnight) return "Today";
  if (changed >= midnight - day) return "Yesterday";
  if (changed >= midnight - 7 * day) return "Last seven days";
  return new Date(changed).toLocaleDateString("en", {month: "long", year: "numeric"});
}

export class Sidebar {
  #renamed = null;

  // actions: open(id), rename(id, title), remove(id), save(id); state(): {summaries, shown, isBusy(id)}
  constructor(root, search, actions, state) {
    Object.assign(this, {root, search, actions, state});
    search.addEventListener("input", () => this.show());
  }

  show() {
    const {summaries} = this.state();
    const sought = this.search.value.trim().toLowerCase();
    const found =
        summaries.filter(({title}) => title.toLowerCase().includes(sought)).sort((a, b) => b.changed - a.changed);
    const nodes = [];
    let list = null;
    let age = null;
    for (const summary of found) {
      if (ageOf(summary.changed) !== age) {
        age = ageOf(summary.changed);
        list = element("ul", {"aria-label": age});
        nodes.push(element("h2", {}, age), list);
      }
      list.append(this.#item(summary));
    }
    if (nodes.length === 0)
      nodes.push(
          element("p", {class: "none"}, sought ? "No title has these words." : "Conversations will be listed here."));
    this.root.replaceChildren(...nodes);
    this.root.querySelector(".rename")?.select();
  }

  #item(summary) {
    const {shown, isBusy} = this.state();
    if (this.#renamed === summary.id) return element("li", {class: "shown"}, this.#renaming(summary));
    const isShown = summary.id === shown;
    const title = element(
        "button",
        {
          type: "button",
          class: "title",
          title: summary.title,
          "aria-current": isShown ? "true" : null,
          on: {click: () => this.actions.open(summary.id)}
        },
        summary.title,
    );
    const rename = () => {
      this.#renamed = summary.id;
      this.show();
    };
    const buttons = element(
        "span",
        {class: "item_buttons"},
        iconButton("edit", `Rename ${summary.title}`, rename),
        iconButton("export", `Export ${summary.title}`, () => this.actions.save(summary.id)),
        iconButton("delete", `Delete ${summary.title}`, () => this.actions.remove(summary.id)),
    );
    return element(
        "li", {class: [isShown && "shown", isBusy(summary.id) && "busy"].filter(Boolean).join(" ")}, title, buttons);
  }

  #renaming(summary) {
    const field = element("input", {class: "rename", "aria-label": "New title", maxlength: 200});
    field.value = summary.title;
    const end = (isKept) => {
      if (this.#renamed !== summary.id) return;  // the field loses the focus when it is taken away, too
      this.#renamed = null;
      const title = field.value.trim();
      if (isKept && title && title !== summary.title)
        this.actions.rename(summary.id, title);
      else
        this.show();
    };
    field.addEventListener("blur", () => end(true));
    field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter" && !event.isComposing)
        end(true);
      else if (event.key === "Escape")
        end(false);
    });
    return field;
  }
}
