import type { FastifyInstance } from 'fastify';

/**
 * Writes the answers that one turn of the event loop made after each other, at its end: whoever reads them is woken once
 * and not for each.
 */
export function answerTogether(app: FastifyInstance): void {
  app.addHook('onSend', (_request, _reply, payload, done) => {
    setImmediate(done, null, payload);
  });
}
