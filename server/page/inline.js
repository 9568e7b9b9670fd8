// Markdown inside of a paragraph: code, emphasis, links, line breaks. Made as nodes; HTML in the text stays text.
// Every loop moves forward and every search is remembered, so that no text takes more than about linear time.
import {element} from "/page/elements.js";

const entities = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: "\"",
  apos: "'",
  nbsp: "\u00a0"
};
const linkable = /^(https?:\/\/|mailto:)/i;
const isSpace = (character) => character === undefined || /\s/.test(character);
const isWord = (character) => character !== undefined && /[\p{L}\p{N}]/u.test(character);

// A link leaves the page, and tells nobody where it came from. Other schemes could run code: they stay text.
function link(address, children) {
  return element("a", {href: address, target: "_blank", rel: "noopener noreferrer nofollow"}, ...children);
}

class Inline {
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.plain = "";
    this.parts = [];            // nodes, and runs of * _ ~ that may open or close an emphasis
    this.unclosed = new Set();  // lengths of runs of backticks that nothing closes
    this.brackets = this.#matchBrackets();
  }

  #matchBrackets() {
    const match = new Map();
    const open = [];
    for (let i = 0; i < this.text.length; ++i) {
      if (this.text[i] === "\\")
        ++i;
      else if (this.text[i] === "[")
        open.push(i);
      else if (this.text[i] === "]" && open.length > 0)
        match.set(open.pop(), i);
    }
    return match;
  }

  #flush() {
    if (this.plain) this.parts.push(document.createTextNode(this.plain));
    this.plain = "";
  }

  #add(node, end) {
    this.#flush();
    this.parts.push(node);
    this.at = end;
  }

  nodes(depth) {
    this.depth = depth;
    while (this.at < this.text.length) {
      const start = this.at;
      const read = this.#readers[this.text[start]];
      if (!read || !read.call(this)) {
        this.plain += this.text[start];
        this.at = start + 1;
      }
    }
    this.#flush();
    this.#emphasize();
    return this.parts.map((part) => (part.run === undefined ? part : document.createTextNode(part.run)));
  }

  #matched(pattern) {
    pattern.lastIndex = this.at;
    return pattern.exec(this.text);
  }

  #readers = {
    "\\": this.#escape,
    "`": this.#code,
    "*": this.#delimiter,
    _: this.#delimiter,
    "~": this.#delimiter,
    "[": this.#link,
    "!": this.#image,
    "<": this.#angle,
    "&": this.#entity,
    "\n": this.#lineBreak,
    h: this.#address,
  };

  // Round and square brackets keep their backslash: they begin formulas more often than they escape links.
  #escape() {
    const next = this.text[this.at + 1];
    if (next === "\n") return this.#add(element("br"), this.at + 2), true;
    if (next === undefined || !/[!"#$%&'*+,\-./:;<=>?@\\^_`{|}~]/.test(next)) return false;
    this.plain += next;
    this.at += 2;
    return true;
  }

  #code() {
    const [fence] = this.#matched(/`+/y);
    const start = this.at + fence.length;
    if (!this.unclosed.has(fence.length)) {
      const runs = /`+/g;
      runs.lastIndex = start;
      for (let run = runs.exec(this.text); run; run = runs.exec(this.text)) {
        if (run[0].length !== fence.length) continue;
        const code = this.text.slice(start, run.index).replaceAll("\n", " ");
        const padded = code.length > 2 && code.startsWith(" ") && code.endsWith(" ") && code.trim();
        return this.#add(element("code", {}, padded ? code.slice(1, -1) : code), runs.lastIndex), true;
      }
      this.unclosed.add(fence.length);
    }
    this.plain += fence;
    this.at = start;
    return true;
  }

  #delimiter() {
    const character = this.text[this.at];
    const start = this.at;
    while (this.text[this.at] === character) ++this.at;
    const run = this.text.slice(start, this.at);
    const before = this.text[start - 1];
    const after = this.text[this.at];
    const inWord = character === "_" && isWord(before) && isWord(after);
    if (character === "~" && run.length !== 2) {
      this.plain += run;
      return true;
    }
    this.#flush();
    this.parts.push({run, opens: !isSpace(after) && !inWord, closes: !isSpace(before) && !inWord});
    return true;
  }

  #target(start) {
    if (this.text[start] !== "(") return null;
    const target = /\(\s*<?((?:[^\s()<>]|\([^\s()]*\))*)>?(?:\s+"[^"]{0,500}"|\s+'[^']{0,500}')?\s*\)/y;
    target.lastIndex = start;
    const found = target.exec(this.text);
    return found && {address: found[1], end: target.lastIndex};
  }

  #linkAt(open) {
    const close = this.brackets.get(open);
    const target = close === undefined || this.depth > 8 ? null : this.#target(close + 1);
    if (!target) return false;
    const label = new Inline(this.text.slice(open + 1, close)).nodes(this.depth + 1);
    if (label.length === 0) label.push(document.createTextNode(target.address));
    if (linkable.test(target.address))
      this.#add(link(target.address, label), target.end);
    else
      this.#add(element("span", {}, ...label), target.end);
    return true;
  }

  #link() {
    return this.#linkAt(this.at);
  }

  // A picture would be fetched from a foreign host, and would tell it that the answer was read: it becomes a link.
  #image() {
    return this.text[this.at + 1] === "[" && this.#linkAt(this.at + 1);
  }

  #angle() {
    const found = this.#matched(/<(?:(br\s*\/?)|(https?:\/\/[^\s<>]+))>/iy);
    if (!found) return false;
    const end = this.at + found[0].length;
    this.#add(found[1] ? element("br") : link(found[2], [found[2]]), end);
    return true;
  }

  #entity() {
    const found = this.#matched(/&(amp|lt|gt|quot|apos|nbsp);/y);
    if (!found) return false;
    this.plain += entities[found[1]];
    this.at += found[0].length;
    return true;
  }

  // Models break lines where they mean it.
  #lineBreak() {
    this.plain = this.plain.trimEnd();
    return this.#add(element("br"), this.at + 1), true;
  }

  #address() {
    if (isWord(this.text[this.at - 1])) return false;
    const found = this.#matched(/https?:\/\/[^\s<>"'`\]]+/y);
    if (!found) return false;
    let address = found[0].replace(/[.,;:!?*_~]{1,20}$/, "");
    if (address.endsWith(")") && !address.includes("(")) address = address.slice(0, -1);
    this.#add(link(address, [address]), this.at + address.length);
    return true;
  }

  // A run that closes takes the last one of its kind that opens, and everything between becomes its child.
  #emphasize() {
    const result = [];
    const waiting = {"*": 0, _: 0, "~": 0};
    for (const part of this.parts) {
      if (part.run === undefined) {
        result.push(part);
        continue;
      }
      let left = part.run;
      const kind = left[0];
      while (part.closes && left && waiting[kind] > 0) {
        const opener = result.findLastIndex((other) => other.run?.[0] === kind && other.opens);
        const from = result[opener];
        const width = kind === "~" || (left.length > 1 && from.run.length > 1) ? 2 : 1;
        const inside = result.splice(opener + 1);
        for (const other of inside)
          if (other.run && other.opens) --waiting[other.run[0]];
        const children = inside.map((other) => (other.run === undefined ? other : document.createTextNode(other.run)));
        from.run = from.run.slice(width);
        if (!from.run) {
          result.pop();
          --waiting[kind];
        }
        result.push(element(kind === "~" ? "del" : width === 2 ? "strong" : "em", {}, ...children));
        left = left.slice(width);
      }
      if (!left) continue;
      if (part.opens) ++waiting[kind];
      result.push({run: left, opens: part.opens});
    }
    this.parts = result;
  }
}

export const inlineNodes = (text) => new Inline(text).nodes(0);
