import { signal } from '@preact/signals';
import { type Operations, ROUTES } from '../src/client/api.ts';
import type { ApiClient } from '../src/client/client.ts';
import { Access, FULL_ACCESS } from '../src/domain/settings/access.ts';

/** What the key of who is signed in may do. Until the service has said so, only the service refuses. */
export const access = signal(FULL_ACCESS);

/** @throws ApiError when the key is not accepted */
export async function accessOf(client: ApiClient): Promise<Access> {
  return new Access((await client.call('getCurrentApiKey', {})).data.permissions);
}

/** Of these a key is shown its part, however little that is. */
const FOR_ALL: ReadonlySet<keyof Operations> = new Set(['listRelayers', 'listPlugins']);

/**
 * Why the key may not do something; undefined when it may.
 * @param further permissions that it takes as well
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
