// Colours for code: comments, strings, numbers and the words that languages share. One scanner for all of them: it is a
// reader's help, not a compiler.
import {element} from "/page/elements.js";

const longest = 60000;  // characters; longer code is shown without colours

const wordsOf = (text) => new Set(text.trim().split(/\s+/));

const words = wordsOf(`
    abstract alignas and as asm assert async auto await begin bool boolean break byte case catch char class
    co_await co_return co_yield concept const consteval constexpr constinit continue crate def default defer del
    delete do done double echo elif else elseif end enum esac except explicit export extends extern fallthrough
    false fi final finally float fn for foreach friend from func function global go goto if impl implements
    import in include inline instanceof int interface is lambda let local long loop match mod module move mut
    mutable namespace new nil noexcept nonlocal not null nullptr operator or override package pass private
    protected pub public raise ref requires return select self short signed sizeof static static_assert
    static_cast struct super switch template then this throw trait true try type typedef typename typeof
    undefined union unsafe unsigned use using var virtual void volatile where while with yield False None True`);

const queryWords = wordsOf(`
    add all alter and as asc begin between by case commit create delete desc distinct drop else end exists from
    full group having in index inner insert into is join key left like limit not null offset on or order outer
    primary references right rollback select set table then union unique update values view when where with`);

const strings = String.raw`"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?`;
const rest =
    String
        .raw`(?<number>\b(?:0[xXbBoO][\da-fA-F_']+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\w*)|(?<word>[A-Za-z_$][\w$]*)`;
const scanner = (comment, string) => new RegExp(`(?<comment>${comment})|(?<string>${string})|${rest}`, "g");

const families = {
  c: scanner(String.raw`\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`, String.raw`\x60(?:\\.|[^\\\x60])*\x60?|` + strings),
  script: scanner(String.raw`#[^\n]*`, String.raw`"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|` + strings),
  query: scanner(String.raw`--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`, strings),
  markup: scanner(String.raw`<!--[\s\S]*?(?:-->|$)`, String.raw`"[^"<>]*"|'[^'<>]*'`),
};
const languages = {
  script: wordsOf(`bash cmake console dockerfile elixir ini julia make makefile perl py python r rb ruby sh shell toml
    yaml yml zsh`),
  query: wordsOf("haskell hs lua sql"),
  markup: wordsOf("html svg xml"),
};
const plain = wordsOf("csv diff log markdown md output plain plaintext text txt");

// Texts and spans that together say the code.
export function highlighted(code, language) {
  if (!language || plain.has(language) || code.length > longest) return [code];
  const family = Object.keys(languages).find((name) => languages[name].has(language)) ?? "c";
  const nodes = [];
  let at = 0;
  for (const found of code.matchAll(families[family])) {
    const {comment, string, number, word} = found.groups;
    const isKeyword = word !== undefined &&
        (family === "query" ? queryWords.has(word.toLowerCase()) || words.has(word) : words.has(word));
    const kind = comment !== undefined ? "comment" :
        string !== undefined           ? "string" :
        number !== undefined           ? "number" :
        isKeyword                      ? "keyword" :
                                         null;
    if (!kind) continue;
    nodes.push(code.slice(at, found.index), element("span", {class: kind}, found[0]));
    at = found.index + found[0].length;
  }
  nodes.push(code.slice(at));
  return nodes;
}
