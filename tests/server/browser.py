"""A browser without a screen on the server's page, and answers that a test writes itself in place of the server's."""

import json
import shutil
import time

LIMIT_SECONDS = 60

# Runs before the page's own scripts: keeps what the page's policy stopped, and the key.
PRELUDE = """
window.violations = [];
addEventListener("securitypolicyviolation", ({violatedDirective, blockedURI}) =>
    violations.push(`${violatedDirective} ${blockedURI}`));
if (%(key)s) sessionStorage.setItem("ingot.key", %(key)s);
"""

# In place of the server: a model with this `meta` that answers with window.answer = {pieces, status, message, code,
# isOpen}. An open answer has no end until it is stopped. window.refusal, where there is one, is what chats get instead.
SCRIPTED = """
{
  const ask = window.fetch;
  window.asked = [];
  window.answer = {pieces: ["Yes."]};
  const json = (value, status = 200) => new Response(JSON.stringify(value), {status, headers: {"Retry-After": "7"}});
  const event = (value) => new TextEncoder().encode(`data: ${JSON.stringify(value)}\\n\\n`);
  window.fetch = async (path, options) => {
    if (path === "/v1/models") return json({data: [{id: "scripted", meta: %(meta)s}]});
    const isChat = path === "/v1/chat/completions";
    if (!isChat && path !== "/v1/completions") return ask(path, options);
    const {pieces, status = 200, message, code = null, isOpen = false} = isChat && window.refusal || window.answer;
    window.asked.push(JSON.parse(options.body));
    const choice = (text) => isChat ? {index: 0, delta: {content: text}} : {index: 0, text};
    if (status !== 200) return json({error: {message, code, param: null}}, status);
    const stream = new ReadableStream({
      async start(controller) {
        options.signal.addEventListener("abort", () => controller.error(options.signal.reason));
        for (const piece of pieces) {
          controller.enqueue(event({choices: [choice(piece)]}));
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        if (isOpen) return;
        controller.enqueue(event({choices: [{...choice(""), finish_reason: "stop"}]}));
        controller.enqueue(event({choices: [], usage: {prompt_tokens: 7, completion_tokens: pieces.length}}));
        controller.enqueue(new TextEncoder().encode("data: [DONE]\\n\\n"));
        controller.close();
      },
    });
    return new Response(stream);
  };
}
"""


def missing_tool() -> str | None:
    """What the browser needs and is not here, in words."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "expected Python's package selenium, found none"
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            return f"expected the program {program}, found none"
    return None


class Browser:
    def __init__(self, url: str, key: str | None = None):
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        # As root it has no sandbox, and there is no display.
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        self.driver.set_script_timeout(LIMIT_SECONDS)
        self.url = url
        self.command("Page.addScriptToEvaluateOnNewDocument", source=PRELUDE % {"key": json.dumps(key)})
        self.scripted = None

    def close(self):
        self.driver.quit()

    def command(self, name: str, **parameters):
        return self.driver.execute_cdp_cmd(name, parameters)

    def run(self, script: str, *arguments):
        return self.driver.execute_script(script, *arguments)

    def run_module(self, script: str, *arguments):
        """An async function's body, which may import the page's own modules."""
        wrapped = f"""
            const done = arguments[arguments.length - 1];
            (async (...given) => {{ {script} }})(...arguments).then(done, (error) => done(`threw ${{error}}`))"""
        return self.driver.execute_async_script(wrapped, *arguments)

    def open(self, scripted_model: dict | None = None, width: int = 1280, height: int = 800):
        """The page anew, with the server's models or with one whose answers a test writes: its `meta`."""
        if self.scripted:
            self.command("Page.removeScriptToEvaluateOnNewDocument", identifier=self.scripted)
        self.scripted = None
        if scripted_model is not None:
            source = SCRIPTED % {"meta": json.dumps(scripted_model)}
            self.scripted = self.command("Page.addScriptToEvaluateOnNewDocument", source=source)["identifier"]
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.command("Emulation.setDeviceMetricsOverride", **screen)
        self.driver.get("about:blank")  # else an address that differs in its fragment alone is not loaded again
        self.driver.get(self.url)
        self.wait_for("a model", "return !document.getElementById('model').disabled")

    def wait_for(self, what: str, script: str, *arguments):
        """Until the script returns something that is true; a failed test after a generous time."""
        until = time.monotonic() + LIMIT_SECONDS
        while not (found := self.run(script, *arguments)):
            if time.monotonic() > until:
                raise AssertionError(f"expected {what} within {LIMIT_SECONDS} s, found {self.text('body')!r}")
            time.sleep(0.02)
        return found

    def element(self, selector: str):
        return self.driver.find_element("css selector", selector)

    def text(self, selector: str) -> str:
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def count(self, selector: str) -> int:
        return self.run("return document.querySelectorAll(arguments[0]).length", selector)

    def click(self, selector: str):
        self.run("document.querySelector(arguments[0]).click()", selector)

    def say(self, text: str):
        field = self.element("#message")
        field.send_keys(text)
        field.send_keys("\ue007")  # Enter

    def is_busy(self) -> bool:
        return self.run("return document.body.classList.contains('generating')")

    def wait_for_end(self):
        self.wait_for("an end of the answer", "return !document.body.classList.contains('generating')")

    def complaints(self) -> list[str]:
        """What the console said in red since the last call, and what the page's policy stopped."""
        said = [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
        stopped = self.run("return window.violations?.splice(0) ?? []")
        return said + [f"stopped by the policy: {what}" for what in stopped]
