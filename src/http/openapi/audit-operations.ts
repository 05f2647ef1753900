import { z } from 'zod';
import { auditActionSchema, auditedResourceSchema } from '../../domain/settings/audit.ts';
import { moment, partOf } from './answers.ts';
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

/** The operations on the audit. */
export const auditOperations: Readonly<Record<string, Operation>> = {
  'GET /api/v1/audit': {
    id: 'listAuditRecords',
    tag: 'Audit',
    summary: 'List who changed or asked for what',
    description:
      'Each change of settings, and each transaction that was sent, replaced or canceled, noted in the commit that ' +
      'stored it, and each signature that left otherwise; integers beyond 2^53 as digits. A part may be shorter than asked for: go on while there is a cursor.',
    answer: found('The latest first', partOf(auditRecordSchema)),
    errors: ['INVALID_REQUEST'],
  },
};
