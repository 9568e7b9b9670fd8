// What the server is doing right now, read from its metrics every two seconds while the page is seen.
import {element, svg} from "/page/elements.js";
import {ask} from "/page/server.js";

const period = 2000;  // milliseconds
const longestPause = 30000;
const kept = 60;  // samples in the graph

// Prometheus' text form; samples of one name are added up over their labels, or the largest is taken.
export function readMetrics(text) {
  const sums = new Map();
  const most = new Map();
  for (const [, name, value] of text.matchAll(/^([A-Za-z_:][\w:]*)(?:\{[^\n]*\})?[ \t]+(\S+)/gm)) {
    const number = Number(value);
    if (!Number.isFinite(number)) continue;
    sums.set(name, (sums.get(name) ?? 0) + number);
    most.set(name, Math.max(most.get(name) ?? -Infinity, number));
  }
  return {sum: (name) => sums.get(name), most: (name) => most.get(name)};
}

// A second: a counter that fell began anew.
function rate(now, before, name, seconds) {
  const difference = (now.sum(name) ?? 0) - (before.sum(name) ?? 0);
  return difference < 0 ? 0 : difference / seconds;
}

const amount = (number) =>
    (number < 10 ? number.toFixed(1).replace(/\.0$/, "") : Math.round(number).toLocaleString("en"));

function graph(rates) {
  const highest = Math.max(...rates, 1);
  const point = (value, i) =>
      `${((i + kept - rates.length) * 200) / (kept - 1)},${(35 - (value / highest) * 32).toFixed(1)}`;
  const line = rates.map(point).join(" ");
  const from = ((kept - rates.length) * 200) / (kept - 1);
  return svg(
      "svg",
      {
        viewBox: "0 0 200 36",
        preserveAspectRatio: "none",
        role: "img",
        "aria-label": "Tokens a second of the last two minutes"
      },
      svg("polygon", {points: `${from},36 ${line} 200,36`}),
      svg("polyline", {points: line}),
  );
}

export class Load {
  #before = null;
  #rates = [];
  #timer = null;
  #pause = period;

  constructor({state, graph: graphRoot, numbers}) {
    Object.assign(this, {stateRoot: state, graphRoot, numbers});
    document.addEventListener("visibilitychange", () => this.restart());
  }

  // Also after the key changed: a server that refused may answer now.
  restart() {
    clearTimeout(this.#timer);
    this.#before = null;
    this.#pause = period;
    if (document.visibilityState === "visible") this.#read();
  }

  async #read() {
    try {
      const metrics = readMetrics(await (await ask("/metrics")).text());
      this.#pause = period;
      this.#show(metrics);
    } catch (error) {
      const refused = error.status >= 400 && error.status < 500;
      this.#say(refused ? "not shown" : "out of reach", error.message);
      if (refused) return;  // it will say the same in two seconds
      this.#pause = Math.min(this.#pause * 2, longestPause);
    }
    clearTimeout(this.#timer);
    if (document.visibilityState === "visible") this.#timer = setTimeout(() => this.#read(), this.#pause);
  }

  #say(state, why) {
    this.stateRoot.textContent = state;
    this.stateRoot.title = why;
    this.#before = null;
    this.numbers.replaceChildren();
    this.graphRoot.replaceChildren();
  }

  #show(metrics) {
    const now = performance.now();
    const before = this.#before;
    this.#before = {metrics, now};
    const seconds = before ? (now - before.now) / 1000 : 1;
    const rateOf = (name) => (before ? rate(metrics, before.metrics, name, seconds) : 0);
    const generated = rateOf("ingot_generation_tokens_total");
    this.#rates = [...this.#rates, generated].slice(-kept);
    const running = metrics.sum("ingot_num_requests_running") ?? 0;
    const waiting = metrics.sum("ingot_num_requests_waiting") ?? 0;
    const cache = metrics.most("ingot_kv_cache_usage_perc");
    this.stateRoot.textContent = running > 0 ? "busy" : "idle";
    this.stateRoot.title = "";
    this.stateRoot.classList.toggle("busy", running > 0);
    this.graphRoot.replaceChildren(graph(this.#rates));
    const row = (label, value) => element("div", {}, element("dt", {}, label), element("dd", {}, value));
    const meter =
        element("meter", {min: 0, max: 1, value: cache ?? 0, "aria-label": "Part of the cache that is in use"});
    this.numbers.replaceChildren(
        row("Requests", waiting > 0 ? `${running} running, ${waiting} waiting` : `${running} running`),
        row("Writing", `${amount(generated)} tokens/s`),
        row("Reading", `${amount(rateOf("ingot_prompt_tokens_computed_total"))} tokens/s`),
        ...(cache === undefined ? [] : [row("Cache", `${Math.round(cache * 100)} %`), meter]),
    );
  }
}
