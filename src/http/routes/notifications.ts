import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { NotificationsService } from '../../services/services.ts';
import { success, successPage } from '../envelope.ts';
import { pageQuerySchema, pageRequest } from '../paging.ts';
import { assertNoBody, bodyOf, callerOf, idParams } from '../request.ts';

/** The routes of webhook targets. No answer contains a signing key. */
export function notificationRoutes(app: FastifyInstance, notifications: NotificationsService): void {
  const routes = app.withTypeProvider<ZodTypeProvider>();

  routes.get('/notifications', { schema: { querystring: pageQuerySchema } }, async (request) => {
    const page = pageRequest(request.query);
    return successPage(await notifications.list(page), page);
  });

  routes.post('/notifications', async (request, reply) =>
    reply.code(201).send(success(await notifications.create(bodyOf(request), callerOf(request)))),
  );

  routes.get('/notifications/:id', { schema: { params: idParams } }, async (request) =>
    success(await notifications.get(request.params.id)),
  );

  routes.patch('/notifications/:id', { schema: { params: idParams } }, async (request) =>
    success(await notifications.update(request.params.id, bodyOf(request), callerOf(request))),
  );

  routes.delete('/notifications/:id', { schema: { params: idParams } }, async (request) => {
    assertNoBody(request);
    await notifications.remove(request.params.id, callerOf(request));
    return success('Notification deleted successfully');
  });
}
