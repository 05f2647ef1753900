import { z } from 'zod';
import { moment } from '../../domain/wire-time.ts';
import { successPart } from '../../http/envelope.ts';
import { partOf } from '../../http/openapi/answers.ts';
import { operation, raw } from '../../http/operation.ts';
import { partQuerySchema, partRequest } from '../../http/paging.ts';
import { auditActionSchema, auditedResourceSchema } from './record.ts';

const view = z.record(z.string(), z.unknown());

/** One change, and who made it. */
export const auditRecordSchema = z.strictObject({
  id: z.int().meta({ description: 'Number of the record; it increases with each record' }),
  at: moment,
  key_id: z.string().meta({ description: 'Id of the API key that made the request' }),
  request_id: z.string().meta({ description: 'Id of the request, as in `x-request-id` and in the log' }),
  action: auditActionSchema,
  resource: auditedResourceSchema,
  resource_id: z.string(),
  before: view.nullable().meta({ description: 'The resource before the change, as the API shows it; null if none' }),
  after: view.nullable().meta({ description: 'The resource after the change, as the API shows it; null if deleted' }),
  secrets: z.array(z.string()).meta({ description: 'Names of the secret fields that were set or removed' }),
});

const query = partQuerySchema.extend({
  resource: auditedResourceSchema.optional().meta({ description: 'Only records of this kind of resource' }),
  resource_id: z.string().optional().meta({ description: 'Only records of the resource with this id' }),
  key_id: z.string().optional().meta({ description: 'Only records of requests with this API key' }),
});

/** The audit of changes and requests, for operators. */
export const auditOperations = [
  operation({
    method: 'GET',
    path: '/api/v1/audit',
    query,
    permission: 'audit:read',
    id: 'listAuditRecords',
    tag: 'Audit',
    summary: 'List audit records',
    description:
      'There is a record of each change of a setting, of each transaction that was sent, replaced or canceled, and ' +
      'of each signature made without sending. The record is stored in the same commit as the change or transaction. ' +
      'Integers beyond 2^53 are strings of decimal digits. A page may be shorter than `per_page`; only a ' +
      '`next_cursor` of null is the end of the list.',
    answer: raw('Audit records, latest first', partOf(auditRecordSchema)),
    errors: ['INVALID_REQUEST'],
    async handle(call, { services }) {
      const part = partRequest(call.query);
      const { resource, resource_id: resourceId, key_id: keyId } = call.query;
      return successPart(await services.audit.list(part, { resource, resourceId, keyId }), part);
    },
  }),
];
