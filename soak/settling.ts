import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningService } from '../test/support/service.ts';
import type { Shown } from './verdict.ts';

const OPEN = ['pending', 'sent', 'submitted', 'mined'];
const PAGE = 500;

/** Everything that the API lists, of all relayers. */
export async function listAll(service: RunningService, relayerIds: readonly string[]): Promise<Shown[]> {
  const shown: Shown[] = [];
  for (const relayerId of relayerIds) {
    for (let page = 1, total = 1; (page - 1) * PAGE < total; page += 1) {
      const path = `/api/v1/relayers/${relayerId}/transactions?page=${page}&per_page=${PAGE}`;
      const { status, body } = await service.request('GET', path);
      if (status !== 200) throw new Error(`not listed: ${status} ${JSON.stringify(body)}`);
      total = body.pagination.total_items;
      shown.push(...body.data);
    }
  }
  return shown;
}

/** Waits until every listed transaction has an end; false when they do not within the given milliseconds. */
export async function settled(
  service: RunningService,
  relayerIds: readonly string[],
  withinMs: number,
): Promise<boolean> {
  const end = performance.now() + withinMs;
  for (;;) {
    const shown = await listAll(service, relayerIds);
    if (shown.every(({ status }) => !OPEN.includes(status))) return true;
    if (performance.now() > end) return false;
    await sleep(500);
  }
}
