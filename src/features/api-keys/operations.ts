import { z } from 'zod';
import { moment } from '../../http/openapi/answers.ts';
import { BODY, created, one, operation, page } from '../../http/operation.ts';
import { pageQuerySchema } from '../../http/paging.ts';
import { apiKeyCreateSchema, apiKeyUpdateSchema } from './records/api-key.ts';

/** An API key without the key. */
export const apiKeySchema = z.strictObject({
  id: z.string().meta({ description: 'Id of the key, as in logs, audit records and `context.caller`' }),
  name: z.string(),
  allowed_origins: z.array(z.string()).meta({
    description:
      'Origins of the web pages that may use the key; `*` allows any. A request with another `Origin` gets 403; ' +
      'a request without `Origin` is allowed',
  }),
  created_at: moment,
  permissions: z.array(z.string()),
  rate_limit: z
    .strictObject({ requests_per_second: z.int().min(1), burst: z.int().min(1) })
    .nullable()
    .meta({ description: 'Rate limit of the key; null if the rate limit of the service applies' }),
  expires_at: moment.nullable(),
});

/** A created API key. Only this answer contains the key itself. */
const newKeySchema = apiKeySchema.extend({
  key: z.string().meta({ description: 'The key itself, shown only in this response; the service keeps only a hash' }),
});

const tag = 'API keys';

/** API keys. The key itself is in the answer that creates it, and in no other. */
export const apiKeyOperations = [
  operation({
    method: 'GET',
    path: '/api/v1/api-keys',
    query: pageQuerySchema,
    permission: 'api-keys:read',
    id: 'listApiKeys',
    tag,
    summary: 'List API keys',
    answer: page('API keys, newest first; the key of the environment comes last', apiKeySchema),
    errors: ['INVALID_REQUEST'],
    handle: (call, { services }) => services.apiKeys.list(call.page),
  }),
  operation({
    method: 'POST',
    path: '/api/v1/api-keys',
    config: { answersSecret: true },
    permission: 'api-keys:write',
    id: 'createApiKey',
    tag,
    summary: 'Create an API key',
    description:
      'A permission is `*`, or has the form `kind:action`, for instance `metrics:read`. For relayers and plugins it ' +
      'may name an id: `relayers:my-relayer:send`, `plugins:*:call`. A resource on which a key has no permission ' +
      'does not exist for that key. A key cannot grant permissions that it does not have. `allowed_origins` ' +
      'restricts which web pages may use the new key; if absent, they are those of the key that makes the request. ' +
      'They do not open the API to other origins, because no response has CORS headers. A repeat with the same ' +
      'idempotency key does not create a second key, and does not show the first key again.',
    body: {
      schema: apiKeyCreateSchema,
      example: { name: 'Payments', permissions: ['relayers:my-relayer:send'], expires_at: '2030-01-01T00:00:00Z' },
    },
    answer: created('The created key', newKeySchema),
    errors: [...BODY, 'PERMISSION_NOT_HELD'],
    handle: (call, { services }) => services.apiKeys.create(call.body, call.caller, call.access),
  }),

  // No key has the id `current`: ids are UUIDs, and the environment's key is `default`.
  operation({
    method: 'GET',
    path: '/api/v1/api-keys/current',
    permission: 'any key',
    id: 'getCurrentApiKey',
    tag,
    summary: 'Get the API key of this request',
    description:
      'Shows a program what its key may do. Needs no permission. The key of the environment may do everything: `*`.',
    answer: one('The API key of the request', apiKeySchema),
    errors: [],
    handle: (call, { services }) => services.apiKeys.current(call.actor.keyId),
  }),
  operation({
    method: 'GET',
    path: '/api/v1/api-keys/:id',
    permission: 'api-keys:read',
    id: 'getApiKey',
    tag,
    summary: 'Get an API key',
    answer: one('The API key', apiKeySchema),
    errors: ['API_KEY_NOT_FOUND'],
    handle: (call, { services }) => services.apiKeys.get(call.params.id),
  }),
  operation({
    method: 'GET',
    path: '/api/v1/api-keys/:id/permissions',
    permission: 'api-keys:read',
    id: 'getApiKeyPermissions',
    tag,
    summary: 'List the permissions of an API key',
    answer: one('The permissions of the key', z.array(z.string())),
    errors: ['API_KEY_NOT_FOUND'],
    handle: (call, { services }) => services.apiKeys.permissions(call.params.id),
  }),
  operation({
    method: 'PATCH',
    path: '/api/v1/api-keys/:id',
    permission: 'api-keys:write',
    id: 'updateApiKey',
    tag,
    summary: 'Update an API key',
    description:
      'Absent fields do not change. Null removes the expiry or the rate limit of the key. The change takes effect ' +
      'with the next request, and on other instances within a second. A key cannot change a key that may do more ' +
      'than itself.',
    body: { schema: apiKeyUpdateSchema, example: { permissions: ['relayers:my-relayer:read'] } },
    answer: one('The key after the change', apiKeySchema),
    errors: [...BODY, 'API_KEY_NOT_FOUND', 'PERMISSION_NOT_HELD'],
    handle: (call, { services }) => services.apiKeys.update(call.params.id, call.body, call.caller, call.access),
  }),
  operation({
    method: 'DELETE',
    path: '/api/v1/api-keys/:id',
    permission: 'api-keys:write',
    id: 'deleteApiKey',
    tag,
    summary: 'Revoke an API key',
    description:
      'The key is no longer accepted. Other instances may accept it for up to a second. A key cannot revoke a key ' +
      'that may do more than itself.',
    answer: one('The key is revoked', z.string()),
    errors: ['INVALID_REQUEST', 'API_KEY_NOT_FOUND', 'PERMISSION_NOT_HELD'],
    async handle(call, { services }) {
      await services.apiKeys.revoke(call.params.id, call.caller, call.access);
      return 'API key deleted successfully';
    },
  }),
];
