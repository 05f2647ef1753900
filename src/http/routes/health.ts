import { z } from 'zod';
import { writeJson } from '../../domain/json/json-text.ts';
import type { Access } from '../../features/api-keys/records/access.ts';
import { type ComponentHealth, type HealthReport, withoutDetails } from '../../observability/health.ts';
import { readinessSchema } from '../openapi/answers.ts';
import { operation, raw } from '../operation.ts';

/**
 * The two probes, which need no key. `/health` says that the process answers. `/ready` says that its parts work and
 * that it accepts requests. A key that sees all relayers and plugins gets the details, too.
 */
export const healthOperations = [
  operation({
    method: 'GET',
    path: '/api/v1/health',
    config: { isProbe: true },
    permission: 'public',
    id: 'health',
    tag: 'Operations',
    summary: 'Check that the process responds (liveness)',
    answer: raw('The process responds', z.literal('OK')),
    errors: [],
    handle: ({ reply }) => reply.type('application/json; charset=utf-8').send('"OK"'),
  }),
  operation({
    method: 'GET',
    path: '/api/v1/ready',
    config: { isProbe: true },
    permission: 'public',
    id: 'ready',
    tag: 'Operations',
    summary: 'Check that the service takes requests (readiness)',
    description:
      'Without a key, the components have a status and nothing else. A key that sees all relayers and plugins also gets their figures and errors.',
    answer: raw('The service is ready, perhaps degraded', readinessSchema),
    errors: [],
    otherFailures: { 503: { description: 'Not ready, or shutting down', schema: readinessSchema, name: 'Readiness' } },
    async handle({ request, reply }, { health, drain }) {
      const complete = withPeerComponents(await health.check());
      const shown = seesAll(request.identity?.access) ? complete : withoutDetails(complete);
      const report = drain.isDraining ? shuttingDown(shown) : shown;
      return reply
        .code(report.ready ? 200 : 503)
        .type('application/json; charset=utf-8')
        .send(writeJson(report));
    },
  }),
];

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
