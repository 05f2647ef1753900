import { z } from 'zod';
import { AppError } from '../../domain/errors.ts';
import { one, operation } from '../../http/operation.ts';
import { apiKeyResource } from './api-keys.ts';

const tag = 'API keys';

/** What else clients ask about API keys. */
export const apiKeyOperations = [
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
    answer: one('The API key of the request', apiKeyResource.schema),
    errors: [],
    handle: (call, { services }) =>
      services.resources.api_key.get(call.actor.keyId).catch((error: unknown) => {
        if (!(error instanceof AppError) || error.code !== 'API_KEY_NOT_FOUND') throw error;
        // Another instance has revoked the key, and this instance does not know yet.
        throw new AppError('UNAUTHORIZED', {}, { cause: error });
      }),
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
    handle: async (call, { services }) => (await services.resources.api_key.get(call.params.id))['permissions'],
  }),
];
