#!/usr/bin/env python3
"""Uses the server's page in a browser, as a reader would.

usage: page_check.py URL [--key KEY] [unittest arguments]
       page_check.py --serve PATH_OF_INGOT [unittest arguments]

Exits 77 (a skip to CTest) where there is no chromium, chromedriver or selenium.
"""

import argparse
import contextlib
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "end_to_end"))
from browser import Browser, missing_tool  # noqa: E402
from program import Program  # noqa: E402
from run_cases import SKIPPED, run_cases  # noqa: E402
from served import Server  # noqa: E402

ESCAPE = "\ue00c"
BEGINNING = (
    "Once there was a thoughtful cook named Ralf."  # which the model that the program carries goes on from at length
)
NEW_LINE = "\ue008\ue007\ue000"  # Shift and Enter
ANSWER = "document.querySelector('.text, .part.assistant')?.textContent ?? ''"  # of the first answer, chat or text

# Conversations as the browser keeps them, for scripts that go on with them.
KEPT = 'const kept = await (await (await import("/page/store.js")).openStore()).store.all();'

MARKDOWN = """# Title

Some **strong** and *soft* words with `code`, and a [link](https://example.org/a_b).

<script>window.owned = 1</script> <img src=x onerror="window.owned = 1"> [bad](javascript:alert(1))

- one
  - inner
- two

| a | b |
|---|--:|
| 1 | 2 |

> quoted

```html
<b onclick="x()">not bold</b>
```
"""

options: argparse.Namespace
browser: Browser


class Page(unittest.TestCase):
    scripted_model = None

    def setUp(self):
        browser.open(self.scripted_model)
        browser.complaints()

    def tearDown(self):
        self.assertEqual(browser.complaints(), [])


class RealAnswers(Page):
    """What the server behind the address says."""

    def setUp(self):
        super().setUp()
        browser.click("#show_settings")
        browser.element("#setting_temperature").send_keys("0")
        browser.click("[data-close=settings]")

    def test_an_answer_arrives_in_pieces(self):
        browser.run(f"""
            window.lengths = new Set();
            new MutationObserver(() => lengths.add(({ANSWER}).length)).observe(
                document.getElementById("transcript"), {{childList: true, subtree: true, characterData: true}})""")
        browser.say(NEW_LINE + BEGINNING)
        browser.wait_for("words of an answer", f"return ({ANSWER}).trim() !== ''")
        browser.wait_for_end()
        self.assertGreater(browser.run("return lengths.size"), 2)
        self.assertRegex(browser.text(".numbers"), r"\d+ tokens?\s.*tokens/s\s+first after [\d.]+ m?s")
        self.assertEqual(browser.count(".trouble"), 0)

    def test_escape_stops_an_answer(self):
        # Slowly, or a small model is faster than any hand.
        browser.command("Network.enable")
        slow = {"offline": False, "latency": 0, "uploadThroughput": -1}
        browser.command("Network.emulateNetworkConditions", downloadThroughput=2000, **slow)
        try:
            browser.say(NEW_LINE + BEGINNING)
            browser.wait_for("words of an answer", f"return ({ANSWER}).trim() !== ''")
            browser.element("#message").send_keys(ESCAPE)
            browser.wait_for_end()
        finally:
            browser.command("Network.emulateNetworkConditions", downloadThroughput=-1, **slow)
        self.assertIn("stopped", browser.text(".numbers"))

    def test_a_reload_keeps_what_was_said(self):
        browser.say(NEW_LINE + BEGINNING)
        browser.wait_for_end()
        said = browser.run(f"return {ANSWER}")
        self.assertNotEqual(said.strip(), "")
        browser.driver.refresh()
        browser.wait_for("the answer again", f"return ({ANSWER}) === arguments[0]", said)
        self.assertIn(BEGINNING[:30], browser.text("#conversations"))

    def test_the_load_is_shown(self):
        browser.wait_for("the load", "return /idle|busy/.test(document.getElementById('load_state').textContent)")
        self.assertIn("tokens/s", browser.text("#load_numbers"))
        unknown = browser.run_module("""
            const {ask} = await import("/page/server.js");
            const source = await (await ask("/page/load.js")).text();
            const metrics = await (await ask("/metrics")).text();
            const names = [...source.matchAll(/"(ingot_\\w+)"/g)].map(([, name]) => name);
            return names.filter((name) => !metrics.includes(name))""")
        self.assertEqual(unknown, [])

    def test_the_policy_stops_scripts_that_are_no_files(self):
        browser.run("""
            const script = document.createElement("script");
            script.textContent = "window.owned = 1";
            document.body.append(script)""")
        self.assertIsNone(browser.run("return window.owned ?? null"))
        self.assertIn("script-src-elem inline", "\n".join(browser.complaints()))


class ScriptedAnswers(Page):
    """What the page makes of answers that no small model would give."""

    scripted_model = {"has_chat_template": True}

    def say(self, text="Go on", **answer):
        browser.run("window.answer = arguments[0]", answer)
        browser.say(text)
        browser.wait_for_end()

    def test_markdown_becomes_elements_and_html_stays_text(self):
        self.say(pieces=[MARKDOWN[i : i + 7] for i in range(0, len(MARKDOWN), 7)])
        for selector in ("h3", "strong", "em", "p > code", "li li", "td.to_right", "blockquote", ".code pre"):
            self.assertEqual(browser.count(f".text {selector}"), 1, selector)
        self.assertEqual(browser.count(".text script, .text img, .text b"), 0)
        self.assertIn("<script>window.owned = 1</script>", browser.text(".text"))
        self.assertEqual(browser.text(".text pre"), '<b onclick="x()">not bold</b>')
        self.assertIsNone(browser.run("return window.owned ?? null"))
        links = browser.run("return [...document.querySelectorAll('.text a')].map((a) => [a.href, a.rel])")
        self.assertEqual(links, [["https://example.org/a_b", "noopener noreferrer nofollow"]])

    def test_pieces_make_what_the_whole_makes(self):
        made = browser.run_module(
            """const {MarkdownView} = await import("/page/markdown.js");
            const grown = new MarkdownView(document.createElement("div"));
            for (let end = 1; end <= given[0].length; ++end) grown.update(given[0].slice(0, end));
            const whole = new MarkdownView(document.createElement("div"));
            whole.update(given[0]);
            return [grown.root.innerHTML, whole.root.innerHTML]""",
            MARKDOWN,
        )
        self.assertEqual(made[0], made[1])

    def test_hostile_texts_come_to_an_end(self):
        brackets = ("[", "](", "![x](", "<https://", "[x](y(")
        marks = ("*a_", "**", "~~", "`", "``a`", "&", "\\")
        blocks = ("> ", "- ", "- a\n", "1. a\n ", "|-", "a|b\n-|-\n", "# #", "```\n")
        texts = [piece * 10000 for piece in brackets + marks + blocks]
        texts.append("~" * 10000 + "`")
        for text in texts:
            shown = browser.run_module(
                """const {MarkdownView} = await import("/page/markdown.js");
                const view = new MarkdownView(document.createElement("div"));
                view.update(given[0]);
                return view.root.textContent.length""",
                text,
            )
            self.assertIsInstance(shown, int, text[:20])

    def test_a_phone_sees_everything_without_scrolling_sideways(self):
        browser.open(self.scripted_model, width=390, height=844)
        outside = """
            return [...document.querySelectorAll("main *, .panel:not([hidden]) *")].filter((each) => {
                const {left, right, width} = each.getBoundingClientRect();
                const holds = each.matches(".bubble, .text, .empty, .scroller, .bar, .panel_body");
                const isOutside = left < 0 || right > innerWidth || holds && each.scrollWidth > each.clientWidth;
                return width > 1 && isOutside && !each.closest(".code pre, .table");  // which scroll by themselves
            }).map((each) => each.outerHTML.slice(0, 200))"""
        self.assertEqual(browser.run(outside), [])
        self.say("word" * 60, pieces=[MARKDOWN, "Longest" * 40, "\n\n```\n" + "wide " * 60 + "\n```\n"])
        self.assertEqual(browser.run(outside), [])
        browser.click("#show_settings")
        self.assertEqual(browser.run(outside), [])
        self.assertEqual(browser.element("#settings").rect["width"], 390)
        browser.click("[data-close=settings]")
        self.assertFalse(browser.element("#new_conversation").is_displayed())
        browser.click("#open_sidebar")
        browser.wait_for("the list", "return document.getElementById('sidebar').getBoundingClientRect().left === 0")
        self.assertTrue(browser.element("#new_conversation").is_displayed())

    def test_an_error_is_said_in_words(self):
        self.say(status=429, message="expected at most 256 waiting requests, found 256")
        self.assertIn("The server has its hands full", browser.text(".trouble"))
        self.assertIn("expected at most 256 waiting requests", browser.text(".trouble"))
        self.assertIn("again in 7 s", browser.text(".trouble"))
        self.say(status=400, message="9000 tokens exceed 8192", code="context_length_exceeded")
        self.assertIn("longer than the model\u2019s context", browser.text(".message:last-child .trouble"))

    def test_an_open_answer_is_stopped_by_its_button(self):
        browser.run("window.answer = {pieces: ['One ', 'two '], isOpen: true}")
        browser.say("Count")
        browser.wait_for("words", f"return ({ANSWER}).includes('two')")
        self.assertEqual(browser.element("#send").get_attribute("aria-label"), "Stop")
        browser.click("#send")
        browser.wait_for_end()
        self.assertIn("stopped", browser.text(".numbers"))
        self.assertIn("One two", browser.text(".text"))

    def test_asking_again_and_editing_keep_what_was_there(self):
        self.say("First", pieces=["old"])
        browser.run("window.answer = {pieces: ['new']}")
        browser.click("button[aria-label='Answer again']")
        browser.wait_for("the second answer", f"return ({ANSWER}).trim() === 'new'")
        self.assertIn("2/2", browser.text(".assistant .versions"))
        browser.click(".assistant button[aria-label='Version before']")
        self.assertEqual(browser.text(".text"), "old")
        browser.click(".user button[aria-label^='Edit']")
        browser.element(".editor").clear()
        browser.element(".editor").send_keys("Second\ue007")
        browser.wait_for("the edited message", "return document.querySelector('.bubble')?.textContent === 'Second'")
        browser.wait_for_end()
        self.assertIn("2/2", browser.text(".user .versions"))
        self.assertEqual(browser.run("return asked.at(-1).messages"), [{"role": "user", "content": "Second"}])

    def test_a_model_without_a_template_goes_on_with_a_text(self):
        browser.open({"has_chat_template": False, "n_ctx": 64})
        self.assertIn("no chat template", browser.text(".empty"))
        self.say("Once", pieces=[" there", " was"])
        self.assertEqual(browser.text(".flow"), "Once there was")
        browser.run("window.answer = {pieces: [' cook']}")
        browser.element("#message").send_keys(" a")
        browser.click("#send")
        browser.wait_for(
            "the second part", "return document.querySelector('.flow').textContent === 'Once there was a cook'"
        )
        browser.wait_for_end()
        first, second = browser.run("return asked")
        self.assertEqual((first["prompt"], first["max_tokens"]), ("Once", 128))
        # Of 64 tokens 7 were the first prompt, 2 its answer, and two bytes came since.
        self.assertEqual((second["prompt"], second["max_tokens"]), ("Once there was a", 64 - 7 - 2 - 2))

    def test_a_model_that_turns_out_to_have_no_template_goes_on_too(self):
        refusal = "expected messages that render, found: expected a model with a chat template, found none in scripted"
        browser.run("window.refusal = arguments[0]", {"status": 400, "code": "invalid_template", "message": refusal})
        self.say("Once", pieces=[" there", " was"])
        browser.wait_for("the text", "return document.querySelector('.flow')?.textContent === 'Once there was'")
        self.assertIn("no chat template", browser.text(".toasts"))
        self.assertEqual(browser.count(".trouble"), 0)

    def test_settings_go_with_the_request_and_bad_ones_do_not(self):
        browser.click("#show_settings")
        browser.element("#setting_system").send_keys("Be short.")
        for name, value in (("temperature", "0.5"), ("top_k", "40"), ("seed", "7"), ("top_p", "3")):
            browser.element(f"#setting_{name}").send_keys(value)
        self.assertIn("from 0 to 1", browser.text("#setting_top_p_complaint"))
        self.say("Hello", pieces=["Hi."])
        asked = browser.run("return asked.at(-1)")
        turns = [(message["role"], message["content"]) for message in asked["messages"]]
        self.assertEqual(turns, [("system", "Be short."), ("user", "Hello")])
        self.assertEqual((asked["temperature"], asked["top_k"], asked["seed"]), (0.5, 40, 7))
        self.assertNotIn("top_p", asked)
        self.assertEqual((asked["stream"], asked["stream_options"]), (True, {"include_usage": True}))

    def test_conversations_are_renamed_deleted_and_brought_back(self):
        self.say("Rename me", pieces=["Yes."])
        browser.click(".shown button[aria-label^='Rename']")
        browser.element(".rename").send_keys("Named\ue007")
        browser.wait_for("the new title", "return document.querySelector('.shown .title')?.textContent === 'Named'")
        browser.click(".shown button[aria-label^='Delete']")
        browser.wait_for("an empty page", "return document.querySelector('.empty') !== null")
        self.assertNotIn("Named", browser.text("#conversations"))
        self.assertNotIn("Rename me", str(browser.run_module(KEPT + "return kept")))
        browser.click(".toast button")
        browser.wait_for("it again", "return document.querySelector('.bubble')?.textContent === 'Rename me'")

    def test_files_bring_back_what_they_took_and_nothing_else(self):
        self.say("Keep me", pieces=["Kept."])
        result = browser.run_module(
            KEPT
            + """
            const {fileFormat: format, fromFile, toFile} = await import("/page/conversation.js");
            const refused = [];
            const tree = (...pairs) => ({format, conversations: [{
              id: "a", messages: pairs.map(([id, parent]) => ({id, parent, role: "user", content: ""}))}]});
            for (const bad of [{}, [], {format}, {format, conversations: [{id: 1}]},
                               {format, conversations: [{id: "a", messages: [{id: "b", role: "x"}]}]},
                               tree(["b", "b"]), tree(["b", "c"], ["c", "b"]), tree(["b", null], ["b", "b"])]) {
              try { fromFile(JSON.stringify(bad)); } catch (error) { refused.push(error.message); }
            }
            const spoilt = JSON.parse(toFile(kept.slice(0, 1)));
            spoilt.conversations[0].settings = {temperature: "hot", seed: 3, other: 1};
            return [kept, fromFile(toFile(kept)), refused, fromFile(JSON.stringify(spoilt))[0].settings]"""
        )
        kept, read, refused, settings = result
        self.assertIn("Kept.", str(kept))
        self.assertEqual(kept, read)
        self.assertEqual(len(refused), 8, refused)
        self.assertEqual(settings, {"seed": 3})

    def test_events_are_read_however_they_are_cut(self):
        text = 'data: {"a":1}\n\n: ping\n\ndata: two\r\ndata: lines\r\n\r\nevent: x\ndata:\u00e9\n\n'
        read = browser.run_module(
            """const {EventReader} = await import("/page/events.js");
            const bytes = new TextEncoder().encode(given[0]);
            const results = [];
            for (const size of [1, 2, 3, 7, 1000]) {
              const reader = new EventReader();
              const data = [];
              for (let at = 0; at < bytes.length; at += size) data.push(...reader.read(bytes.slice(at, at + size)));
              results.push(data);
            }
            return results""",
            text,
        )
        self.assertEqual(read, [['{"a":1}', "two\nlines", "\u00e9"]] * 5)

    def test_keys_do_what_their_list_says(self):
        browser.run("document.activeElement.blur()")
        browser.element("body").send_keys("?")
        self.assertTrue(browser.run("return document.getElementById('shortcuts').open"))
        browser.element("#close_shortcuts").click()
        browser.run("document.activeElement.blur()")
        browser.element("body").send_keys("/")
        self.assertEqual(browser.run("return document.activeElement.id"), "message")
        self.say(f"One{NEW_LINE}two", pieces=["Yes."])
        self.assertEqual(browser.run("return document.querySelector('.bubble').textContent"), "One\ntwo")

    def test_every_control_has_a_name(self):
        self.say(pieces=["```c\nint a;\n```"])
        browser.click("#show_settings")
        nameless = browser.run("""
            const controls = [...document.querySelectorAll("button, input, select, textarea, a, iframe")];
            const hasName = (each) => each.ariaLabel || each.textContent.trim() || each.labels?.length || each.title;
            return controls.filter((each) => !each.hidden && !hasName(each)).map((each) => each.outerHTML)""")
        self.assertEqual(nameless, [])

    def test_dark_and_light_can_be_chosen_and_stay(self):
        before = browser.run("return getComputedStyle(document.body).backgroundColor")
        browser.click("#theme")
        chosen = browser.run("return getComputedStyle(document.body).backgroundColor")
        self.assertNotEqual(before, chosen)
        browser.open(self.scripted_model)
        self.assertEqual(browser.run("return getComputedStyle(document.body).backgroundColor"), chosen)


def main() -> None:
    global options, browser
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url", nargs="?")
    parser.add_argument("--key")
    parser.add_argument("--serve", metavar="PATH_OF_INGOT", help="instead of a URL: a server of its own")
    options, rest = parser.parse_known_args()
    if missing := missing_tool():
        print(f"SKIPPED page_check: {missing}")
        sys.exit(SKIPPED)
    with contextlib.ExitStack() as stack:
        if options.serve:
            server = stack.enter_context(Server(Program(options.serve), "--threads", "1", "--log", "none"))
            options.url = f"http://127.0.0.1:{server.port}"
        browser = Browser(options.url, options.key)
        stack.callback(browser.close)
        run_cases([sys.argv[0], *rest])


if __name__ == "__main__":
    main()
