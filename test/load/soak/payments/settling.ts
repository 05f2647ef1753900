import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningService } from '../../../support/service.ts';
import type { Shown, SoakNetwork } from './chain.ts';

const OPEN = ['pending', 'sent', 'submitted', 'mined'];
const PAGE = 500;

/** The relayers to list, and the reader of their entries. */
type Listed = Pick<SoakNetwork, 'relayerIds' | 'readShown'>;

/** All transactions of these relayers that the API lists. */
export async function listAll(service: RunningService, { relayerIds, readShown }: Listed): Promise<Shown[]> {
  const shown: Shown[] = [];
  for (const relayerId of relayerIds) {
    for (let page = 1, total = 1; (page - 1) * PAGE < total; page += 1) {
      const path = `/api/v1/relayers/${relayerId}/transactions?page=${page}&per_page=${PAGE}`;
      const { status, body } = await service.request('GET', path);
      if (status !== 200) throw new Error(`not listed: ${status} ${JSON.stringify(body)}`);
      total = body.pagination.total_items;
      shown.push(...body.data.map(readShown));
    }
  }
  return shown;
}

/** Waits up to `withinMs` until every listed transaction has ended. @returns those that have not */
export async function settle(service: RunningService, listed: Listed, withinMs: number): Promise<Shown[]> {
  const end = performance.now() + withinMs;
  for (;;) {
    const open = (await listAll(service, listed)).filter(({ status }) => OPEN.includes(status));
    if (open.length === 0 || performance.now() > end) return open;
    await sleep(500);
  }
}
