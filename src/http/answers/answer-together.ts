import type { FastifyInstance } from 'fastify';

/**
 * Sends all answers of one turn of the event loop together, at its end. The reader wakes once instead of once for each
 * answer.
 */
export function answerTogether(app: FastifyInstance): void {
  app.addHook('onSend', (_request, _reply, payload, done) => {
    setImmediate(done, null, payload);
  });
}
