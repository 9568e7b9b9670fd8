// Server-sent events out of a stream of bytes, as the HTML standard has them.

export class EventReader {
  #text = "";
  #data = [];
  #decoder = new TextDecoder();

  // The data of the events that these bytes complete.
  * read(bytes) {
    this.#text += this.#decoder.decode(bytes, {stream: true});
    // A carriage return at the end may be half of a line's end.
    const lines = this.#text.split(/\r\n|\n|\r(?=[^\n])/);
    this.#text = lines.pop();
    for (const line of lines) {
      if (line === "") {
        if (this.#data.length > 0) yield this.#data.join("\n");
        this.#data = [];
      } else if (line.startsWith("data:")) {
        this.#data.push(line.slice(line[5] === " " ? 6 : 5));
      }  // Comments are pings; other fields are not used.
    }
  }
}

export async function* eventsOf(body) {
  const source = body.getReader();
  const reader = new EventReader();
  try {
    for (;;) {
      const {done, value} = await source.read();
      if (done) return;
      yield* reader.read(value);
    }
  } finally {
    source.cancel().catch(() => {});
  }
}
