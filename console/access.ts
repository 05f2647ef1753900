import { signal } from '@preact/signals';
import { type Operations, ROUTES } from '../src/client/api.ts';
import type { ApiClient } from '../src/client/client.ts';
import { Access, FULL_ACCESS } from '../src/features/api-keys/records/access.ts';

/** The permissions of the signed-in key. Full until the service has answered; until then only the service refuses. */
export const access = signal(FULL_ACCESS);

/**
 * Asks the service for the permissions of a client's key.
 * @throws ApiError when the key is not accepted
 */
export async function accessOf(client: ApiClient): Promise<Access> {
  return new Access((await client.call('getCurrentApiKey', {})).data.permissions);
}

/** Operations that any key may use. The service answers with the entries that the key may see. */
const FOR_ALL: ReadonlySet<keyof Operations> = new Set(['listRelayers', 'listPlugins']);

/**
 * Why the key may not use an operation; undefined if it may.
 * @param further permissions that are needed as well
 */
export function lackOf<Id extends keyof Operations>(
  does: Id,
  input: Operations[Id]['input'],
  further: readonly string[] = [],
): string | undefined {
  const [, , permission] = ROUTES[does];
  if (permission === undefined || FOR_ALL.has(does)) return undefined;
  const { id = '' } = (input as { path?: { id?: string } }).path ?? {};
  const lacked = access.value.lacks([permission.replace('{id}', id), ...further]);
  return lacked && `Your key lacks the permission ${lacked}`;
}
