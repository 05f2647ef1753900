import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { auditedResourceSchema } from '../../domain/settings/audit.ts';
import type { AuditService } from '../../services/settings/audit.ts';
import { successPart } from '../envelope.ts';
import { partQuerySchema, partRequest } from '../paging.ts';

const query = partQuerySchema.extend({
  resource: auditedResourceSchema.optional().meta({ description: 'Only records of this kind of resource' }),
  resource_id: z.string().optional().meta({ description: 'Only records of the resource with this id' }),
  key_id: z.string().optional().meta({ description: 'Only records of requests with this API key' }),
});

/** The audit of changes and requests, for operators. */
export function auditRoutes(app: FastifyInstance, audit: AuditService): void {
  app.withTypeProvider<ZodTypeProvider>().get('/audit', { schema: { querystring: query } }, async (request) => {
    const part = partRequest(request.query);
    const { resource, resource_id: resourceId, key_id: keyId } = request.query;
    return successPart(await audit.list(part, { resource, resourceId, keyId }), part);
  });
}
