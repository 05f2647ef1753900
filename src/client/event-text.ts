/** One server-sent event. */
export interface ServerSentEvent {
  /** The id to resume from after this event. */
  id: string;
  event: string;
  data: string;
}

/** Parses server-sent events from pieces of text (HTML standard, section 9.2.6). */
export class EventParser {
  /** The last id received, with an event or alone. The stream resumes from it. */
  lastId: string;
  #rest = '';
  #event = '';
  #data: string[] = [];

  constructor(lastId = '') {
    this.lastId = lastId;
  }

  /** Returns the events that are complete after this piece. */
  push(piece: string): ServerSentEvent[] {
    const lines = (this.#rest + piece).split(/\r\n|\n|\r/);
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#line(line));
  }

  #line(line: string): ServerSentEvent[] {
    if (line === '') return this.#end();
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'id') this.lastId = value;
    if (name === 'event') this.#event = value;
    if (name === 'data') this.#data.push(value);
    return [];
  }

  #end(): ServerSentEvent[] {
    const [event, data] = [this.#event, this.#data];
    this.#event = '';
    this.#data = [];
    return data.length === 0 ? [] : [{ id: this.lastId, event: event || 'message', data: data.join('\n') }];
  }
}
