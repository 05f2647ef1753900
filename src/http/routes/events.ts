import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Clock } from '../../domain/clock.ts';
import { AppError } from '../../domain/errors.ts';
import type { CursorIds } from '../cursors.ts';
import type { EventSource } from '../events/event-source.ts';
import { eventStream } from '../events/event-stream.ts';

const once = z.string('must be given once').optional();

const querystring = z.object({
  relayer_id: once.meta({
    description: 'Only transactions of this relayer; with `plugin_id` also calls of that plugin',
  }),
  plugin_id: once.meta({
    description: 'Only calls of this plugin; with `relayer_id` also transactions of that relayer',
  }),
});

interface EventRouteParts {
  source: EventSource;
  ids: CursorIds;
  clock: Pick<Clock, 'elapsed'>;
  /** Aborts when the service starts to shut down. */
  ending: AbortSignal;
}

/** Streams server-sent events while the client stays connected. */
export function eventRoutes(app: FastifyInstance, { source, ids, clock, ending }: EventRouteParts): void {
  const streams = new OpenStreams();
  app.withTypeProvider<ZodTypeProvider>().route({
    method: 'GET',
    url: '/events',
    schema: { querystring },
    config: { ownDeadline: true, isStream: true },
    exposeHeadRoute: false,
    handler: (request, reply) => {
      const close = streams.open(request.keyId);
      const gone = new AbortController();
      reply.raw.once('close', () => {
        close();
        gone.abort();
      });
      const lastId = request.headers['last-event-id'];
      const text = eventStream({
        source,
        ids,
        from: lastId === undefined ? undefined : (ids.cursorOf(String(lastId)) ?? null),
        filter: { relayerId: request.query.relayer_id, pluginId: request.query.plugin_id },
        access: () => app.accessNow(request),
        signal: AbortSignal.any([gone.signal, ending]),
        elapsed: () => clock.elapsed(),
      });
      return (
        reply
          .type('text/event-stream; charset=utf-8')
          // Stops proxies from buffering the stream.
          .headers({ 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
          .send(Readable.from(text, { objectMode: false, highWaterMark: 1 }))
      );
    },
  });
}

/**
 * The most open streams of one key. Each stream holds a connection. A console page opens one. The limit stops a program
 * that leaks streams.
 */
const MAX_OF_A_KEY = 50;

const MAX = 500;

const RETRY_AFTER_SECONDS = 5;

/** Counts the streams that are open, by key. */
export class OpenStreams {
  readonly #ofKey = new Map<string, number>();
  #count = 0;

  /**
   * Counts one more stream. Returns a function that ends it; calling the function twice is safe.
   * @throws AppError `TOO_MANY_REQUESTS`
   */
  open(keyId: string): () => void {
    const ofKey = this.#ofKey.get(keyId) ?? 0;
    if (ofKey >= MAX_OF_A_KEY || this.#count >= MAX) {
      throw new AppError('TOO_MANY_REQUESTS', {}, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    this.#ofKey.set(keyId, ofKey + 1);
    this.#count += 1;
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#count -= 1;
      const left = (this.#ofKey.get(keyId) ?? 1) - 1;
      if (left === 0) this.#ofKey.delete(keyId);
      else this.#ofKey.set(keyId, left);
    };
  }
}
