import type { FastifyInstance } from 'fastify';
import { writeJson } from '../../domain/json/json-text.ts';
import type { Access } from '../../domain/settings/access.ts';
import { type ComponentHealth, type Health, type HealthReport, withoutDetails } from '../../observability/health.ts';
import type { Drain } from '../admission.ts';

/**
 * The two probes, which need no key. `/health` says that the process answers. `/ready` says that its parts work and
 * that it accepts requests. A key that sees all relayers and plugins gets the details, too.
 */
export function healthRoutes(app: FastifyInstance, health: Health, drain: Pick<Drain, 'isDraining'>): void {
  const config = { isPublic: true, isProbe: true };
  app.get('/health', { config }, (_request, reply) => reply.type('application/json; charset=utf-8').send('"OK"'));
  app.get('/ready', { config }, async (request, reply) => {
    const complete = withPeerComponents(await health.check());
    const shown = seesAll(request.identity?.access) ? complete : withoutDetails(complete);
    const report = drain.isDraining ? shuttingDown(shown) : shown;
    return reply
      .code(report.ready ? 200 : 503)
      .type('application/json; charset=utf-8')
      .send(writeJson(report));
  });
}

function seesAll(access: Access | undefined): boolean {
  return access !== undefined && access.idsOf('relayers') === undefined && access.idsOf('plugins') === undefined;
}

/**
 * Adds the components of OpenZeppelin Relayer that are not ours. `redis` and `queue` are our store, which holds the
 * work, too. Its pools are shown as that relayer shows them without Redis.
 */
function withPeerComponents({ components, ...report }: HealthReport): HealthReport {
  const { store, plugins } = components;
  if (store === undefined) return { ...report, components };
  const { status } = store;
  const pool = { connected: status !== 'unhealthy', available: 0, max_size: 0 };
  const peer: Record<string, ComponentHealth> = {
    redis: { status, primary_pool: pool, reader_pool: pool },
    queue: { status },
    ...(plugins !== undefined && { plugins: { ...plugins, enabled: true } }),
  };
  return { ...report, components: { ...components, ...peer } };
}

/** Reports the shutdown while the server still runs, so that a load balancer sends its requests elsewhere. */
function shuttingDown(report: HealthReport): HealthReport {
  const reason = ['The service is shutting down', report.reason].filter(Boolean).join('; ');
  return { ...report, ready: false, status: 'unhealthy', reason };
}
