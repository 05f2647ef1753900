/** Durable calls of a database that was put back send again what they have sent since. */
import t, { type Test } from 'tap';
import type { AccountHistory, AccountHistoryQuery } from '../../../../../src/chains/chain-client.ts';
import { EngineWorld } from '../../../../support/engine-world.ts';
import { callOf } from '../../../../support/store-contract/calls.ts';

/** A world in which a durable call is open, and whose chain shows what the account has done. */
async function stage(t: Test) {
  const world = await EngineWorld.open(t);
  const origin = { pluginId: 'payout', depth: 0, since: Date.now() };
  await world.store.write((writer) => writer.insertCall(callOf()));
  const looked: unknown[] = [];
  const read: string[] = [];
  const accountHistory: AccountHistory = {
    contentOf: ({ id, request }) => {
      read.push(id);
      return String(request['effect']);
    },
    async look({ sequences, isKnown }: Omit<AccountHistoryQuery, 'account'>) {
      looked.push(sequences);
      const found = [];
      for (const { transaction, hash } of world.chain.executed) {
        const sequence = BigInt(transaction.nonce);
        if (sequences === null || sequence < (sequences.from ?? 0n) || sequence >= sequences.to) continue;
        if (await isKnown(hash)) continue;
        const anchor = { kind: 'sequence', sequence } as const;
        found.push({
          content: transaction.effect,
          anchor,
          raw: JSON.stringify(transaction),
          hash,
          fields: { price: '1' },
        });
      }
      return { kind: 'complete', found };
    },
  };
  Object.assign(world.client, { accountHistory });
  /** What the account sent in the time that the database has forgotten. */
  const forgotten = (effects: readonly string[]) => {
    for (const [nonce, effect] of effects.entries()) {
      world.chain.submit(
        JSON.stringify({ from: '0xaa', nonce: String(nonce), effect, cost: '1', reverts: false, price: '1' }),
      );
    }
    for (let block = 0; block < 5; block += 1) world.chain.mine();
  };
  const paid = () => world.chain.executed.map(({ transaction }) => transaction.effect);
  return { world, origin, looked, read, forgotten, paid };
}

t.test('old calls hear of what they had sent, also after their lane was idle, in any order', async (t) => {
  const { world, origin, forgotten, paid } = await stage(t);
  forgotten(['first', 'second']);
  const engine = world.engine({ timing: { idleMs: 40 } });
  await engine.start();
  for (const effect of ['second', 'first']) {
    const sent = await world.accept(effect, { origin });
    engine.wake(sent.lane);
    await world.untilStatus(sent, 'confirmed', { mining: true });
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  t.strictSame(paid(), ['first', 'second']);
  const again = await world.accept('second', { origin });
  engine.wake(again.lane);
  await world.untilStatus(again, 'confirmed', { mining: true });
  t.strictSame(paid(), ['first', 'second', 'second'], 'each counts once');
  const fresh = await world.accept('first', { origin: { ...origin, since: Date.now() + 60_000 } });
  engine.wake(fresh.lane);
  await world.untilStatus(fresh, 'confirmed', { mining: true });
  t.equal(paid().length, 4, 'a new call pays');
  await engine.close();
});

t.test('after an ordinary restart nothing is looked for, and an equal payment of an old call is made', async (t) => {
  const { world, origin, looked, paid } = await stage(t);
  const first = world.engine();
  await first.start();
  const open = await world.accept('same');
  first.wake(open.lane);
  await world.untilStatus(open, 'submitted');
  await first.close();
  for (let block = 0; block < 6; block += 1) world.chain.mine();
  const engine = world.engine();
  await engine.start();
  engine.wake(open.lane);
  await world.untilStatus(open, 'confirmed');
  await world.store.write((writer) => writer.pruneTransactions(Date.now() + 1e9, 50));
  const sent = await world.accept('same', { origin });
  engine.wake(sent.lane);
  await world.untilStatus(sent, 'confirmed', { mining: true });
  t.strictSame(paid(), ['same', 'same']);
  t.strictSame(looked, []);
  await engine.close();
});

t.test('what is pending at a start is read only where the chain is further than the store', async (t) => {
  for (const isFurther of [false, true]) {
    const { world, looked, read, forgotten, paid } = await stage(t);
    const pending = [await world.accept('first'), await world.accept('second')];
    if (isFurther) forgotten(['first']);
    const engine = world.engine();
    await engine.start();
    for (const one of pending) await world.untilStatus(one, 'confirmed', { mining: true });
    t.strictSame(paid(), ['first', 'second'], 'each is paid once');
    t.equal(looked.length > 0, isFurther);
    t.strictSame(new Set(read), new Set(isFurther ? pending.map(({ id }) => id) : []));
    await engine.close();
  }
});
