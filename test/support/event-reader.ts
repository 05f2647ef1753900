import type { Test } from 'tap';
import { EventParser, type ServerSentEvent } from '../../src/client/client.ts';

/** An event with its data parsed. */
export interface ReadEvent extends Pick<ServerSentEvent, 'id' | 'event'> {
  data: Record<string, unknown>;
}

/** A stream of events that a test reads at its own pace. */
export interface EventReader {
  readonly response: Response;
  /** The next one; undefined when the stream has ended. */
  next(): Promise<ReadEvent | undefined>;
  /** The next `count` events of a kind. Skips other events. */
  take(event: string, count: number): Promise<ReadEvent[]>;
  leave(): void;
}

/** Opens a stream, and closes it at the end of the test. */
export async function readEvents(
  t: Test,
  url: string,
  { key, lastId, origin, query = '' }: { key: string; lastId?: string; origin?: string; query?: string },
): Promise<EventReader> {
  const leaving = new AbortController();
  t.teardown(() => leaving.abort());
  const headers = {
    authorization: `Bearer ${key}`,
    ...(lastId !== undefined && { 'last-event-id': lastId }),
    ...(origin !== undefined && { origin }),
  };
  const response = await fetch(`${url}/api/v1/events${query}`, { headers, signal: leaving.signal });
  const events = eventsOf(response);
  const next = async () => {
    const step = await events.next();
    return step.done === true ? undefined : step.value;
  };
  return {
    response,
    next,
    async take(event, count) {
      const taken: ReadEvent[] = [];
      while (taken.length < count) {
        const one = await next();
        if (one === undefined) throw new Error(`The stream ended after ${taken.length} of ${count}`);
        if (one.event === event) taken.push(one);
      }
      return taken;
    },
    leave: () => leaving.abort(),
  };
}

async function* eventsOf({ body }: Response): AsyncGenerator<ReadEvent, void> {
  const parser = new EventParser();
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    for (const { id, event, data } of parser.push(piece)) yield { id, event, data: JSON.parse(data) };
  }
}
