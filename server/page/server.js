// What is asked of the server, and what its errors say in words.

const keyName = "ingot.key";

// The key lasts as long as the tab.
export const key = {
  get value() {
    try {
      return sessionStorage.getItem(keyName) ?? "";
    } catch {
      return this.inMemory ?? "";
    }
  },
  set value(text) {
    this.inMemory = text;
    try {
      if (text)
        sessionStorage.setItem(keyName, text);
      else
        sessionStorage.removeItem(keyName);
    } catch {
      // It lasts as long as the page.
    }
  },
};

export class ServerError extends Error {
  constructor(status, {message, code = null, param = null, retryAfter = null}) {
    super(message);
    Object.assign(this, {status, code, param, retryAfter});
  }
}

// OpenAI's form, {"error": {message, type, param, code}}; other servers in between write what they like.
export function errorOf(status, text, retryAfter = null) {
  try {
    const {error} = JSON.parse(text);
    if (typeof error?.message === "string") return new ServerError(status, {...error, retryAfter});
  } catch {
    // Said as it is.
  }
  return new ServerError(
      status, {message: text.trim().slice(0, 500) || `status ${status}, without a message`, retryAfter});
}

export async function ask(path, options = {}) {
  const headers = {};
  if (key.value) headers.Authorization = `Bearer ${key.value}`;
  if (options.body) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, {
      method: options.body ? "POST" : "GET",
      headers,
      body: options.body && JSON.stringify(options.body),
      signal: options.signal,
      cache: "no-store",
      credentials: "omit",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServerError(0, {message: error.message});
  }
  if (response.ok) return response;
  throw errorOf(response.status, await response.text(), response.headers.get("Retry-After"));
}

export async function models() {
  const {data} = await (await ask("/v1/models")).json();
  return Array.isArray(data) ? data.filter((model) => typeof model?.id === "string") : [];
}

const titles = {
  0: "The server is out of reach",
  400: "The server did not take the request",
  401: "The server asks for a key",
  403: "The server does not answer this page",
  404: "The server does not have that",
  408: "The request took too long to arrive",
  413: "The message is larger than the server takes",
  429: "The server has its hands full",
  500: "The server failed",
  503: "The server cannot answer just now",
  504: "The answer took longer than the server allows",
};

// {title, text, hint} of an error, as it is kept with a message or thrown.
export function inWords(error) {
  let title = titles[error.status] ?? `The server answered with status ${error.status}`;
  let hint = "";
  if (error.code === "context_length_exceeded") {
    title = "This is longer than the model\u2019s context";
    hint = "Begin a new conversation, shorten a message, or lower the most tokens of an answer in the settings.";
  } else if (error.status === "cut") {
    title = "The answer broke off";
  } else if (error.status === 0) {
    hint = "See whether it still runs, then try again.";
  } else if (error.status === 401) {
    hint = "Enter it in the settings; it is kept until this tab is closed.";
  } else if (error.retryAfter) {
    hint = `It suggests trying again in ${error.retryAfter} s.`;
  } else if (error.param) {
    hint = `It is about the field ${error.param}.`;
  }
  return {title, text: error.message, hint};
}
