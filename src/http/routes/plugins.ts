import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { PluginHost } from '../../plugin-host/plugin-host.ts';
import { disconnectSignal } from '../disconnect.ts';
import { success, successPage } from '../envelope.ts';
import type { HttpMetrics } from '../http-metrics.ts';
import { acceptAnythingAsJson } from '../json-body.ts';
import type { HttpLimits } from '../limits.ts';
import { pageQuerySchema, pageRequest } from '../paging.ts';
import { pluginRequestOf } from '../plugin-request.ts';

interface PluginRouteParts {
  pluginHost: PluginHost;
  metrics: HttpMetrics;
  limits: Pick<HttpLimits, 'pluginBodyBytes'>;
}

type CallRequest = FastifyRequest<{ Params: { id: string; '*'?: string } }>;

/** The plugin call, with the route in the path or in the query. The answer is made by the plugin host, as text. */
export function pluginRoutes(app: FastifyInstance, { pluginHost, metrics, limits }: PluginRouteParts): void {
  acceptAnythingAsJson(app);
  for (const method of ['GET', 'POST'] as const) {
    for (const url of ['/plugins/:id/call', '/plugins/:id/call/*']) {
      app.route({
        method,
        url,
        bodyLimit: limits.pluginBodyBytes,
        config: { ownDeadline: true, runsPlugin: true },
        // A HEAD would run the plugin and throw its answer away.
        exposeHeadRoute: false,
        handler: async (request: CallRequest, reply) => {
          const { id, '*': tail = '' } = request.params;
          const signal = disconnectSignal(reply.raw);
          const answer = await pluginHost.call(id, pluginRequestOf(request, method, tail), signal);
          metrics.pluginCalled(id, method, answer.status);
          if (answer.retryAfter !== undefined) reply.header('retry-after', answer.retryAfter);
          return reply.code(answer.status).type('application/json; charset=utf-8').send(answer.body);
        },
      });
    }
  }
}

/** What plugins there are, and how each one stands. */
export function pluginViewRoutes(app: FastifyInstance, pluginHost: PluginHost): void {
  const routes = app.withTypeProvider<ZodTypeProvider>();

  routes.get('/plugins', { schema: { querystring: pageQuerySchema } }, async (request) => {
    const page = pageRequest(request.query);
    return successPage(await pluginHost.list(page), page);
  });

  routes.get('/plugins/:id', { schema: { params: z.object({ id: z.string() }) } }, async (request) =>
    success(await pluginHost.get(request.params.id)),
  );
}
