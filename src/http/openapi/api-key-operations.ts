import { z } from 'zod';
import { apiKeyCreateSchema, apiKeyUpdateSchema } from '../../domain/settings/api-key.ts';
import { envelope, moment, pageOf } from './answers.ts';
import { BODY, found, type Operation } from './operation.ts';

/** An API key without the key. */
export const apiKeySchema = z.strictObject({
  id: z.string().meta({ description: 'Names the key in logs, records and `context.caller`' }),
  name: z.string(),
  allowed_origins: z.array(z.string()).meta({
    description: 'A request whose `Origin` is another one is 403. `*` for any; what is no page names none',
  }),
  created_at: moment,
  permissions: z.array(z.string()),
  rate_limit: z
    .strictObject({ requests_per_second: z.int().min(1), burst: z.int().min(1) })
    .nullable()
    .meta({ description: 'Null: that of the service' }),
  expires_at: moment.nullable(),
});

/** A created API key. Only this answer contains the key itself. */
const newKeySchema = apiKeySchema.extend({
  key: z.string().meta({ description: 'Shown here and never again: only a hash of it is kept' }),
});

const tag = 'API keys';

/** The operations on API keys. */
export const apiKeyOperations: Readonly<Record<string, Operation>> = {
  'GET /api/v1/api-keys': {
    id: 'listApiKeys',
    tag,
    summary: 'List API keys',
    answer: found('Newest first; that of the environment is the last', pageOf(apiKeySchema)),
    errors: ['INVALID_REQUEST'],
  },
  'POST /api/v1/api-keys': {
    id: 'createApiKey',
    tag,
    summary: 'Create an API key',
    description:
      'Permissions are `*`, or a kind and a deed, with an id between them for relayers and plugins: `relayers:my-relayer:send`, ' +
      '`plugins:*:call`, `metrics:read`. What a key may do nothing to does not exist for it. Nobody grants what they do not ' +
      'have. `allowed_origins`, absent: those of the key that asks, only narrow who may use it: no answer carries CORS headers, ' +
      'so no page of another origin works. A repeat under the same idempotency key makes no second key, and cannot show the first again.',
    body: {
      schema: apiKeyCreateSchema,
      required: true,
      example: { name: 'Payments', permissions: ['relayers:my-relayer:send'], expires_at: '2030-01-01T00:00:00Z' },
    },
    answer: { status: 201, description: 'The created key', schema: envelope(newKeySchema) },
    errors: [...BODY, 'PERMISSION_NOT_HELD'],
  },
  'GET /api/v1/api-keys/current': {
    id: 'getCurrentApiKey',
    tag,
    summary: 'The API key that asks',
    description: 'Says a program what it may do, without a permission. That of the environment may do everything: `*`.',
    answer: found('The key of the request', envelope(apiKeySchema)),
    errors: [],
  },
  'GET /api/v1/api-keys/:id': {
    id: 'getApiKey',
    tag,
    summary: 'One API key',
    answer: found('The key', envelope(apiKeySchema)),
    errors: ['API_KEY_NOT_FOUND'],
  },
  'GET /api/v1/api-keys/:id/permissions': {
    id: 'getApiKeyPermissions',
    tag,
    summary: 'What an API key may do',
    answer: found('Its permissions', envelope(z.array(z.string()))),
    errors: ['API_KEY_NOT_FOUND'],
  },
  'PATCH /api/v1/api-keys/:id': {
    id: 'updateApiKey',
    tag,
    summary: 'Change what an API key may do',
    description:
      'What is absent stays; null takes an end or a rate of its own away. It counts from the next request on; for other ' +
      'instances within a second. Nobody changes a key that may do more than their own.',
    body: { schema: apiKeyUpdateSchema, required: true, example: { permissions: ['relayers:my-relayer:read'] } },
    answer: found('The key after the change', envelope(apiKeySchema)),
    errors: [...BODY, 'API_KEY_NOT_FOUND', 'PERMISSION_NOT_HELD'],
  },
  'DELETE /api/v1/api-keys/:id': {
    id: 'deleteApiKey',
    tag,
    summary: 'Revoke an API key',
    description:
      'It is accepted no more; by other instances for a second at the most. Nobody revokes a key that may do more than ' +
      'their own.',
    answer: found('Revoked', envelope(z.string())),
    errors: ['INVALID_REQUEST', 'API_KEY_NOT_FOUND', 'PERMISSION_NOT_HELD'],
  },
};
