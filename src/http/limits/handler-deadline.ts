import type { FastifyInstance } from 'fastify';
import { AppError } from '../../domain/errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route ends its requests by itself: plugin calls have their own `timeout`. */
    ownDeadline?: boolean;
  }
}

/** Answers 504 for a slow handler. The time starts once the body has arrived; a slow sender gets 408. */
export function limitHandlers(app: FastifyInstance, seconds: number): void {
  app.addHook('preHandler', (request, reply, done) => {
    if (request.routeOptions.config.ownDeadline !== true) {
      const timer = setTimeout(() => {
        if (!reply.sent) reply.send(new AppError('HANDLER_TIMEOUT', { seconds: String(seconds) }));
      }, seconds * 1000);
      reply.raw.once('close', () => clearTimeout(timer));
    }
    done();
  });
}
