import type { FastifyInstance } from 'fastify';
import { writeJson } from '../../domain/json/json-text.ts';
import type { Health, HealthReport } from '../../observability/health.ts';
import type { Drain } from '../limits/drain.ts';

/**
 * The two probes, which need no key. `/health` says that the process answers. `/ready` says that its parts work and
 * that it accepts requests.
 */
export function healthRoutes(app: FastifyInstance, health: Health, drain: Pick<Drain, 'isDraining'>): void {
  const config = { isPublic: true, isProbe: true };
  app.get('/health', { config }, (_request, reply) => reply.type('application/json; charset=utf-8').send('"OK"'));
  app.get('/ready', { config }, async (_request, reply) => {
    const report = drain.isDraining ? shuttingDown(await health.check()) : await health.check();
    return reply
      .code(report.ready ? 200 : 503)
      .type('application/json; charset=utf-8')
      .send(writeJson(report));
  });
}

/** Reports the shutdown while the server still runs, so that a load balancer sends its requests elsewhere. */
function shuttingDown(report: HealthReport): HealthReport {
  const reason = ['The service is shutting down', report.reason].filter(Boolean).join('; ');
  return { ...report, ready: false, status: 'unhealthy', reason };
}
