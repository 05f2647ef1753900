import type { Transaction } from '../../src/features/transactions/records/transaction.ts';
import type { WebhookEvent } from '../../src/features/webhooks/records/webhook-event.ts';
import type { Scenario } from './scenario.ts';
import { notificationOf } from './store.ts';

/** Makes webhooks report on the relayer from now on. */
export async function notify({ store }: Scenario): Promise<void> {
  await store.write(async (writer) => {
    await writer.putNotification(notificationOf({ id: 'n1' }));
    const relayer = await writer.relayer('r1');
    if (relayer !== undefined) await writer.putRelayer({ ...relayer, notificationId: 'n1' });
  });
}

export async function swapsOf({ store }: Scenario): Promise<Transaction[]> {
  return (await store.read.transactions('r1', { page: 1, perPage: 100 })).items;
}

/** How many looks a busy machine may need to notice the first minute before the second. */
const LOOKS_PER_MINUTE = 100;

/** Lets minutes pass until the schedule has started `count` swaps. Resolves with all ids, the newest first. */
export async function minutes(scenario: Scenario, count = 1): Promise<string[]> {
  let looks = 0;
  await scenario.until('swaps', async () => {
    const enough = (await swapsOf(scenario)).length >= count;
    if (!enough && looks % LOOKS_PER_MINUTE === 0) scenario.pass(60_000);
    looks += 1;
    return enough;
  });
  return (await swapsOf(scenario)).map(({ id }) => id);
}

/**
 * Lets minutes pass until one more swap is started and not signed, for this reason. Afterwards none is open, so that
 * the next can start.
 */
export async function refusedSwap(scenario: Scenario, what: string, reason: RegExp): Promise<void> {
  const [id = ''] = await minutes(scenario, (await swapsOf(scenario)).length + 1);
  await scenario.until(what, async () => reason.test(await reasonOf(scenario, id)));
  if ((await scenario.get(id)).status === 'failed') return;
  await scenario.cancel(id);
  await scenario.untilStatus(id, 'canceled');
}

export async function reasonOf(scenario: Scenario, id: string): Promise<string> {
  return (await scenario.get(id)).statusReason ?? '';
}

/** The webhook events of a swap: their names, each with its results. */
export async function swapEvents({ store }: Scenario, id: string): Promise<[string, unknown[]][]> {
  const told: WebhookEvent[] = [];
  for (;;) {
    // Events of one subject wait for the previous one.
    const events = await store.write((writer) => writer.claimEvents('n1', 1_000, 60_000));
    if (events.length === 0) break;
    told.push(...events);
    for (const event of events) {
      await store.write((writer) => writer.settleEvent(event, { outcome: 'taken', end: 'delivered' }));
    }
  }
  const own = told.filter(({ event, subject }) => event.includes('_dex') && subject === `transaction:${id}`);
  return own.map(({ event, body }) => [
    event,
    (JSON.parse(body) as { payload: { swap_results: unknown[] } }).payload.swap_results,
  ]);
}
