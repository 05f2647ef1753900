import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { auditedResourceSchema } from '../../domain/settings/audit.ts';
import type { AuditService } from '../../services/settings/audit.ts';
import { successPage } from '../envelope.ts';
import { pageQuerySchema, pageRequest } from '../paging.ts';

const query = pageQuerySchema.extend({
  resource: auditedResourceSchema.optional().meta({ description: 'Only of this kind' }),
  resource_id: z.string().optional().meta({ description: 'Only of what has this id' }),
});

/** Who changed what, for who looks after the service. */
export function auditRoutes(app: FastifyInstance, audit: AuditService): void {
  app.withTypeProvider<ZodTypeProvider>().get('/audit', { schema: { querystring: query } }, async (request) => {
    const page = pageRequest(request.query);
    const { resource, resource_id: resourceId } = request.query;
    return successPage(await audit.list(page, { resource, resourceId }), page);
  });
}
