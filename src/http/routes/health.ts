import type { FastifyInstance } from 'fastify';
import { writeJson } from '../../domain/json-text.ts';
import type { Health } from '../../observability/health.ts';

/** The two probes, which need no key: `/health` says that the process answers, `/ready` that its parts work. */
export function healthRoutes(app: FastifyInstance, health: Health): void {
  const config = { isPublic: true };
  app.get('/health', { config }, (_request, reply) => reply.type('application/json; charset=utf-8').send('"OK"'));
  app.get('/ready', { config }, async (_request, reply) => {
    const report = await health.check();
    return reply
      .code(report.ready ? 200 : 503)
      .type('application/json; charset=utf-8')
      .send(writeJson(report));
  });
}
