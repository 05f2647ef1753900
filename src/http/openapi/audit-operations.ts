import { z } from 'zod';
import { auditActionSchema, auditedResourceSchema } from '../../domain/settings/audit.ts';
import { moment, pageOf } from './answers.ts';
import { found, type Operation } from './operation.ts';

const view = z.record(z.string(), z.unknown());

/** One change, and who made it. */
export const auditRecordSchema = z.strictObject({
  id: z.int().meta({ description: 'Rises with each change' }),
  at: moment,
  key_id: z.string().meta({ description: 'The API key of the request' }),
  request_id: z.string().meta({ description: 'As `x-request-id` and the log have it' }),
  action: auditActionSchema,
  resource: auditedResourceSchema,
  resource_id: z.string(),
  before: view.nullable().meta({ description: 'As its own answers show it; null where there was none' }),
  after: view.nullable().meta({ description: 'The same after the change; null where it is gone' }),
  secrets: z.array(z.string()).meta({ description: 'Fields that were set or removed and that no answer shows' }),
});

/** What the audit answers. */
export const auditOperations: Readonly<Record<string, Operation>> = {
  'GET /api/v1/audit': {
    id: 'listAuditRecords',
    tag: 'Audit',
    summary: 'List changes of settings',
    description: 'Each change that was made over the API, in the commit that made it; integers beyond 2^53 as digits.',
    answer: found('The latest first', pageOf(auditRecordSchema)),
    errors: ['INVALID_REQUEST'],
  },
};
