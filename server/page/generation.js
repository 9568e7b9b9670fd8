// One answer in the making: the request, its stream, and the numbers about it.
import {branchTo, settingNames, textOf, turnsOf} from "/page/conversation.js";
import {eventsOf} from "/page/events.js";
import {ask, errorOf, ServerError} from "/page/server.js";

// A text has no end of its own: a part at a time, and then the reader decides.
export const textTokens = 128;

// As many as the context has room for, where it is known: the last answer counted the tokens up to its end, and what
// was written since has at most a token a byte.
function tokensOfNextPart(conversation, id, context) {
  const branch = branchTo(conversation, id);
  const counted = branch.findLastIndex(({numbers}) => numbers?.promptTokens);
  if (counted < 0 || !context) return textTokens;
  const {promptTokens, tokens} = branch[counted].numbers;
  const added = branch.slice(counted + 1).map(({content}) => content).join("");
  return Math.max(1, Math.min(textTokens, context - promptTokens - tokens - new TextEncoder().encode(added).length));
}

export function requestOf(conversation, answer, context) {
  const body = {model: answer.model, stream: true, stream_options: {include_usage: true}};
  if (conversation.mode === "text") {
    body.prompt = textOf(conversation, answer.parent);
    body.max_tokens = tokensOfNextPart(conversation, answer.parent, context);
  } else {
    body.messages = turnsOf(conversation, answer.parent);
  }
  for (const name of settingNames)
    if (conversation.settings[name] !== undefined) body[name] = conversation.settings[name];
  return body;
}

export class Generation {
  #controller = new AbortController();
  #begun = performance.now();
  #first = null;
  #pieces = 0;

  // context: most tokens of a request, where that is known
  constructor(conversation, answer, context) {
    Object.assign(this, {conversation, answer, context});
  }

  // Closing the connection is what tells the server.
  stop() {
    this.#controller.abort();
  }

  // Until the answer is whole, stopped or failed, which it says of itself. `changed` is called with every piece.
  async run(changed) {
    const {answer} = this;
    const path = this.conversation.mode === "text" ? "/v1/completions" : "/v1/chat/completions";
    try {
      const body = requestOf(this.conversation, answer, this.context);
      const response = await ask(path, {body, signal: this.#controller.signal});
      let complete = false;
      for await (const data of eventsOf(response.body)) {
        if (data === "[DONE]") {
          complete = true;
          break;
        }
        this.#take(data);
        changed();
      }
      if (!complete) {
        throw new ServerError(
            "cut", {message: "The connection ended before the server had said that the answer is whole."});
      }
      answer.finish ??= "stop";
    } catch (error) {
      if (error.name === "AbortError")
        answer.finish = "stopped";
      else
        answer.error = this.#described(error);
    }
    changed();
  }

  #described(error) {
    if (error instanceof ServerError) {
      const {status, message, code, param, retryAfter} = error;
      return {status, message, code, param, retryAfter};
    }
    // The connection broke, or what came is no JSON.
    return {status: "cut", message: error.message};
  }

  #take(data) {
    const event = JSON.parse(data);
    if (event.error) throw errorOf(event.error.status ?? 500, data);
    const {answer} = this;
    const choice = event.choices?.[0];
    const text = choice?.delta?.content ?? choice?.text ?? "";
    const reasoning = choice?.delta?.reasoning_content ?? "";
    if (text || reasoning) {
      const now = performance.now();
      this.#first ??= now;
      this.#pieces += 1;
      answer.content += text;
      if (reasoning) answer.reasoning = (answer.reasoning ?? "") + reasoning;
      answer.numbers = {
        tokens: this.#pieces,
        firstToken: (this.#first - this.#begun) / 1000,
        rate: this.#rate(this.#pieces, now)
      };
      this.last = now;
    }
    if (choice?.finish_reason) answer.finish = choice.finish_reason;
    if (event.usage) this.#count(event);
  }

  // The first token is the prompt's price; what follows is the speed.
  #rate(tokens, now) {
    return tokens > 1 && now > this.#first ? ((tokens - 1) * 1000) / (now - this.#first) : 0;
  }

  #count({usage, timings}) {
    const {answer} = this;
    const tokens = usage.completion_tokens;
    answer.numbers = {
      ...answer.numbers,
      tokens,
      promptTokens: usage.prompt_tokens,
      cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
      rate: timings?.predicted_per_second ?? this.#rate(tokens, this.last),
    };
  }
}
