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

/** Why the key may not do something; undefined when it may. */
export function lackOf<Id extends keyof Operations>(does: Id, input: Operations[Id]['input']): string | undefined {
  const [, , permission = ''] = ROUTES[does];
  const { id = '' } = (input as { path?: { id?: string } }).path ?? {};
  const lacked = access.value.lacks([permission.replace('{id}', id)]);
  return lacked && `Your key lacks the permission ${lacked}`;
}
