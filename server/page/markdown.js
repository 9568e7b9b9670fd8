// Markdown to nodes, as models write it: headings, lists, quotes, tables, code. While an answer grows only the blocks
// that changed are made again.
import {copyButton, element} from "/page/elements.js";
import {highlighted} from "/page/highlight.js";
import {inlineNodes} from "/page/inline.js";

const deepest = 10;  // quotes in lists in quotes; what is deeper stays text
const heading = /^ {0,3}(#{1,6})[ \t]+(.*)$/;
const rule = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const quote = /^ {0,3}> ?/;
const marker = /^( {0,7})([-*+]|\d{1,9}[.)])( +|$)/;
const tableRule = /^ *\|?(?: *:?-+:? *\|)* *:?-+:? *\|? *$/;
const indentOf = (line) => line.length - line.trimStart().length;
const isBlank = (line) => line.trim() === "";

// The line that begins code, or null. By hand: an expression would try each way to share it among its parts.
function fenceOf(line) {
  const indent = /^ {0,3}/.exec(line)[0].length;
  const mark = line[indent];
  if (mark !== "`" && mark !== "~") return null;
  let end = indent;
  while (line[end] === mark) ++end;
  const words = line.slice(end).trim();
  if (end - indent < 3 || words.includes("`")) return null;
  return {indent, ticks: line.slice(indent, end), language: words.split(/\s/, 1)[0]};
}

const startsBlock = (line) => fenceOf(line) !== null || heading.test(line) || rule.test(line) || quote.test(line) ||
    (marker.test(line) && !/^ *\d*[2-9]\d*[.)]/.test(line));

// Each reader takes the block that begins at lines[at], or returns null: {type, end, ...}.
function readCode(lines, at) {
  const open = fenceOf(lines[at]);
  if (!open) return null;
  const {indent, ticks, language} = open;
  let end = at + 1;
  const closes = (line) => {
    const trimmed = line.trim();
    return trimmed.length >= ticks.length && indentOf(line) < 4 + indent &&
        trimmed === ticks[0].repeat(trimmed.length);
  };
  while (end < lines.length && !closes(lines[end])) ++end;
  const code = lines.slice(at + 1, end).map((line) => line.slice(Math.min(indent, indentOf(line))));
  return {type: "code", end: end + 1, language: language.toLowerCase(), code: code.join("\n")};
}

function readHeading(lines, at) {
  const found = heading.exec(lines[at]);
  if (!found) return null;
  const text = found[2].trimEnd();
  const stripped = text.replace(/#{1,20}$/, "");
  return {
    type: "heading",
    end: at + 1,
    level: found[1].length,
    text: stripped === "" || stripped.endsWith(" ") ? stripped.trim() : text
  };
}

const readRule = (lines, at) => (rule.test(lines[at]) ? {type: "rule", end: at + 1} : null);

function readQuote(lines, at) {
  if (!quote.test(lines[at])) return null;
  let end = at;
  while (end < lines.length && !isBlank(lines[end]) && (quote.test(lines[end]) || !startsBlock(lines[end]))) ++end;
  return {type: "quote", end, lines: lines.slice(at, end).map((line) => line.replace(quote, ""))};
}

const cellsOf = (line) => line.trim()
                              .replace(/^\|/, "")
                              .replace(/(?<!\\)\|$/, "")
                              .split(/(?<!\\)\|/)
                              .map((cell) => cell.trim().replaceAll("\\|", "|"));

function readTable(lines, at) {
  if (!lines[at].includes("|") || at + 1 >= lines.length || lines[at + 1].length > 2000 ||
      !tableRule.test(lines[at + 1]))
    return null;
  const head = cellsOf(lines[at]);
  const sides =
      cellsOf(lines[at + 1]).map((cell) => (cell.endsWith(":") ? (cell.startsWith(":") ? "center" : "right") : "left"));
  if (sides.length !== head.length) return null;
  let end = at + 2;
  while (end < lines.length && lines[end].includes("|") && !isBlank(lines[end])) ++end;
  return {type: "table", end, head, sides, rows: lines.slice(at + 2, end).map(cellsOf)};
}

const kindOf = (mark) => (/\d/.test(mark) ? mark.at(-1) : mark);

function readList(lines, at) {
  const first = marker.exec(lines[at]);
  if (!first) return null;
  const outer = first[1].length;
  const kind = kindOf(first[2]);
  const items = [];
  let isLoose = false;
  let end = at;
  while (end < lines.length) {
    const found = marker.exec(lines[end]);
    if (found && found[1].length < outer + 2 && kindOf(found[2]) === kind && !rule.test(lines[end])) {
      const width = found[0].length - (found[3].length > 4 ? found[3].length - 1 : 0);
      items.push({width, lines: [lines[end].slice(width)]});
      ++end;
      continue;
    }
    const item = items.at(-1);
    if (isBlank(lines[end])) {
      let next = end + 1;
      while (next < lines.length && isBlank(lines[next])) ++next;
      const goesOn = next < lines.length &&
          (indentOf(lines[next]) >= outer + 2 || kindOf(marker.exec(lines[next])?.[2] ?? "") === kind);
      if (!goesOn) break;
      isLoose = true;
      item.lines.push("");
      end = next;
    } else if (indentOf(lines[end]) >= outer + 2 || (!startsBlock(lines[end]) && !isBlank(lines[end - 1]))) {
      // Under "1." some indent by two: what the first line of an item's rest has is what all of it loses.
      item.width = Math.min(item.width, Math.max(indentOf(lines[end]), outer + 2));
      item.lines.push(lines[end].slice(Math.min(item.width, indentOf(lines[end]))));
      ++end;
    } else {
      break;
    }
  }
  return {type: "list", end, start: /\d/.test(first[2]) ? parseInt(first[2], 10) : null, items, isLoose};
}

function readParagraph(lines, at) {
  let end = at + 1;
  while (end < lines.length && !isBlank(lines[end]) && !startsBlock(lines[end])) ++end;
  return {type: "paragraph", end, text: lines.slice(at, end).map((line) => line.trimStart()).join("\n").trimEnd()};
}

const readers = [readCode, readHeading, readRule, readQuote, readList, readTable, readParagraph];

function blocksOf(lines, depth) {
  const blocks = [];
  for (let at = 0; at < lines.length;) {
    if (isBlank(lines[at])) {
      ++at;
      continue;
    }
    let block = depth > deepest ? readParagraph(lines, at) : null;
    for (let i = 0; !block; ++i) block = readers[i](lines, at);
    block.source = lines.slice(at, block.end).join("\n");
    blocks.push(block);
    at = block.end;
  }
  return blocks;
}

// --- nodes -----------------------------------------------------------------------------------------------------------

function codeNode({language, code}) {
  const holder = element("code", {}, ...highlighted(code, language));
  const head = element(
      "div", {class: "code_head"}, element("span", {}, language || "text"),
      copyButton("Copy the code", () => holder.textContent));
  return element("div", {class: "code"}, head, element("pre", {tabindex: "0"}, holder));
}

function itemNode(item, isLoose, depth) {
  const task = /^\[([ xX])\] /.exec(item.lines[0]);
  const lines = task ? [item.lines[0].slice(4), ...item.lines.slice(1)] : item.lines;
  const children =
      blocksOf(lines, depth + 1)
          .flatMap(
              (block) => block.type === "paragraph" && !isLoose ? inlineNodes(block.text) : [nodeOf(block, depth + 1)],
          );
  const box = task && element("input", {
                type: "checkbox",
                disabled: true,
                checked: task[1] !== " ",
                "aria-label": task[1] !== " " ? "done" : "to do"
              });
  return element("li", {class: task ? "task" : null}, box, ...children);
}

function tableNode({head, sides, rows}) {
  const row = (cells, name) => element(
      "tr", {}, ...head.map((_, i) => element(name, {class: `to_${sides[i]}`}, ...inlineNodes(cells[i] ?? ""))));
  const table = element(
      "table", {}, element("thead", {}, row(head, "th")),
      element("tbody", {}, ...rows.map((cells) => row(cells, "td"))));
  return element("div", {class: "table", tabindex: "0"}, table);
}

function nodeOf(block, depth) {
  switch (block.type) {
    case "code":
      return codeNode(block);
    case "heading":
      // The page has headings of its own above.
      return element(`h${Math.min(block.level + 2, 6)}`, {class: `level_${block.level}`}, ...inlineNodes(block.text));
    case "rule":
      return element("hr");
    case "quote":
      return element("blockquote", {}, ...blocksOf(block.lines, depth + 1).map((inner) => nodeOf(inner, depth + 1)));
    case "table":
      return tableNode(block);
    case "list": {
      const name = block.start === null ? "ul" : "ol";
      const start = block.start === null || block.start === 1 ? null : block.start;
      return element(name, {start}, ...block.items.map((item) => itemNode(item, block.isLoose, depth)));
    }
    default:
      return element("p", {}, ...inlineNodes(block.text));
  }
}

// A text that grows, in an element of its own.
export class MarkdownView {
  #blocks = [];

  constructor(root) {
    this.root = root;
  }

  update(text) {
    const blocks = blocksOf(text.replace(/\r\n?/g, "\n").replaceAll("\t", "    ").split("\n"), 0);
    let same = 0;
    while (same < blocks.length && same < this.#blocks.length && blocks[same].source === this.#blocks[same].source)
      ++same;
    const old = this.#blocks[same];
    // Code that grows keeps its frame, so that a hand on its button does not miss.
    if (old?.type === "code" && blocks[same]?.type === "code" && old.language === blocks[same].language) {
      this.root.children[same].querySelector("code").replaceChildren(...highlighted(blocks[same].code, old.language));
      ++same;
    }
    while (this.root.children.length > same) this.root.lastElementChild.remove();
    this.root.append(...blocks.slice(same).map((block) => nodeOf(block, 0)));
    this.#blocks = blocks;
  }
}
