import { computed, effect, signal } from '@preact/signals';
import { type ApiClient, ApiError } from '../src/client/client.ts';
import { client } from './session.ts';

/** The rooms that a key may not see at all, by what they ask first. Of relayers and plugins each key sees its own part. */
const FIRST_ASKS = {
  webhooks: ['listNotifications'],
  networks: ['listNetworks'],
  keys: ['listApiKeys', 'listAuditRecords'],
} as const;

type Ask = (typeof FIRST_ASKS)[keyof typeof FIRST_ASKS][number];

const refusedAsks = signal<ReadonlySet<Ask>>(new Set());

/** The rooms that who is signed in does not see. */
export const refusedRooms = computed<ReadonlySet<string>>(
  () =>
    new Set(
      Object.entries(FIRST_ASKS).flatMap(([room, asks]) =>
        asks.every((ask) => refusedAsks.value.has(ask)) ? [room] : [],
      ),
    ),
);

/** Whether a failure says that the key may not see something. */
export function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 403 || error.code === 'ROUTE_NOT_FOUND');
}

effect(() => {
  const current = client.value;
  refusedAsks.value = new Set();
  if (current !== null) void lookInto(current);
});

async function lookInto(current: ApiClient): Promise<void> {
  for (const ask of Object.values(FIRST_ASKS).flat()) {
    try {
      await current.call(ask, { query: { per_page: 1 } });
    } catch (error) {
      if (client.peek() !== current) return;
      if (isRefusal(error)) refusedAsks.value = new Set([...refusedAsks.peek(), ask]);
    }
  }
}
