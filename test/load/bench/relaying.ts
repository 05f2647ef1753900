/** Shared code of the relaying benchmarks: concurrent requests, and waiting for results. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Agent, request } from 'undici';
import type { RunningService } from '../../support/service.ts';

/** The number of concurrent requests. */
export const IN_FLIGHT = 32;

/** Does the work for all items, for {@link IN_FLIGHT} of them at a time. */
export async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}

/** The rate since `began`. @param began on the clock of `performance.now()` */
export function perSecond(count: number, began: number): number {
  return count / ((performance.now() - began) / 1000);
}

/** Posts a transaction request to the service. @throws if the status is not 200 */
export async function accept(
  { url, apiKey }: RunningService,
  agent: Agent,
  body: object,
  relayerId = 'local-1',
): Promise<void> {
  const { statusCode, body: answer } = await request(`${url}/api/v1/relayers/${relayerId}/transactions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    dispatcher: agent,
  });
  const text = await answer.text();
  if (statusCode !== 200) throw new Error(`not accepted: ${statusCode} ${text}`);
}

/** Waits until the condition is true. @throws if that takes longer than `patienceMs` */
export async function until(isSo: () => Promise<boolean>, everyMs: number, patienceMs: number): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error('not all have landed; nothing to compare');
    await sleep(everyMs);
  }
}

/** Calls a node's JSON-RPC method. @returns its result @throws Error with the node's message */
export async function rpc(url: string, agent: Agent, method: string, params: unknown): Promise<unknown> {
  const { body } = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    dispatcher: agent,
  });
  const { result, error } = (await body.json()) as { result?: unknown; error?: { message: string } };
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result;
}
