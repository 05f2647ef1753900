/**
 * Many signed transactions of one account. The node takes none, or none out of order; several instances act for the
 * account; the signer is slow or down. The lowest nonce goes first, each nonce is used once, and nothing is lost.
 */

import type { Worker } from 'node:worker_threads';
import { Transaction } from 'ethers';
import t, { type Test } from 'tap';
import { startKeyThread } from '../../../src/signers/keys/key-thread.ts';
import { RestartingKeyThread } from '../../../src/signers/keys/key-worker.ts';
import { startAnvil } from '../../support/anvil.ts';
import { EvmScenario, type EvmScenarioOptions } from '../../support/evm-scenario.ts';
import { InstanceLeases } from '../../support/instance-leases.ts';
import { type FrontRule, outage, strictNode } from '../../support/node-front.ts';

const anvil = await startAnvil({ args: ['--no-mining', '--accounts', '30'] });
t.teardown(() => anvil.stop());
const strict = strictNode(anvil);
let accounts = 0;

function open(t: Test, options: EvmScenarioOptions = {}): Promise<EvmScenario> {
  accounts += 1;
  return EvmScenario.open(t, anvil, { account: accounts, ...options });
}

/** The nonces of these transactions, in ascending order. */
async function noncesOf(stage: EvmScenario, ids: readonly string[]): Promise<number[]> {
  const nonces = await Promise.all(ids.map(async (id) => Number((await stage.get(id)).sequence ?? Number.NaN)));
  return nonces.toSorted((a, b) => a - b);
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

t.test(
  'more than fit into one request that were signed and stored while no node took them go out once it does, the head first',
  async (t) => {
    const stage = await open(t);
    stage.front.rule(outage('eth_sendRawTransaction'));
    await stage.start();
    const ids = await stage.sendMany(110);
    await stage.untilStatus(ids, 'sent');
    const more = await stage.sendMany(10);
    t.equal(await stage.nonces('pending'), 0, 'no node has any of them');
    const signed = new Map(await Promise.all(ids.map(async (id) => [id, await stage.attempts(id)] as const)));
    t.ok(
      [...signed.values()].every((attempts) => attempts.length === 1),
      'none was signed anew',
    );

    const before = stage.front.offers.length;
    stage.front.rule(strict);
    await stage.untilStatus([...ids, ...more], 'confirmed', { mining: true });
    const taken = stage.front.offers.slice(before);
    // Two rounds of offers may come before the lowest nonce: one was under way when the outage ended, and the back-off
    // of the other ended earlier. The node refuses the second one. Then the lowest nonce is offered.
    const head = taken.findIndex(({ nonce }) => nonce === 0);
    t.ok(head >= 0 && head < 240, `the head is the ${head}. of ${taken.length}`);
    t.strictSame(await noncesOf(stage, [...ids, ...more]), upTo(120));
    t.strictSame([await stage.nonces(), await stage.paid()], [120, 840n], 'each was paid once');
    for (const [id, [attempt]] of signed) {
      if ((await stage.get(id)).hash !== attempt?.hash) t.fail(`${id} went out with other bytes`);
    }
  },
);

t.test('the same after a restart in the middle of the outage', async (t) => {
  const stage = await open(t);
  stage.front.rule(outage('eth_sendRawTransaction'));
  await stage.start();
  const ids = await stage.sendMany(60);
  await stage.untilStatus(ids, 'sent');
  stage.crash();
  await stage.start();
  stage.front.rule(strict);
  await stage.untilStatus(ids, 'confirmed', { mining: true });
  t.strictSame([await stage.nonces(), await stage.paid()], [60, 420n]);
});

t.test(
  'the lowest one that a node has lost is offered again, by whoever lives; those above keep their bytes',
  async (t) => {
    const stage = await open(t);
    await stage.start();
    const ids = await stage.sendMany(5);
    await stage.untilStatus(ids, 'submitted');
    stage.crash();
    const [head = ''] = ids;
    const { hash } = await stage.get(head);
    await anvil.rpc('anvil_dropTransaction', [hash]);
    await stage.mine();
    t.equal(await stage.nonces(), 0, 'nothing can be mined without it');
    await stage.start();
    await stage.untilStatus(ids, 'confirmed', { mining: true });
    t.equal((await stage.get(head)).hash, hash);
    for (const id of ids) t.equal((await stage.attempts(id)).length, 1);
  },
);

t.test('what waits above a gap is neither signed anew nor offered in a storm; the gap is filled once', async (t) => {
  const stage = await open(t);
  await anvil.rpc('anvil_setNonce', [stage.address, '0x2']);
  await stage.start();
  const ids = await stage.sendMany(4);
  await stage.untilStatus(ids, 'submitted');
  await anvil.rpc('anvil_setNonce', [stage.address, '0x0']);
  const began = performance.now();
  await stage.untilStatus(ids, 'confirmed', { mining: true });
  const seconds = (performance.now() - began) / 1_000;
  for (const id of ids) t.equal((await stage.attempts(id)).length, 1);
  const offers = stage.front.offers.map(({ nonce }) => nonce);
  t.strictSame(new Set(offers), new Set(upTo(6)));
  t.equal(offers.filter((nonce) => nonce < 2).length, 2, 'each filler went out once');
  // A round every 300 ms is expected here.
  t.ok(offers.length <= 6 + 4 * Math.ceil(seconds / 0.3), `${offers.length} offers in ${seconds} s`);
  t.equal(await stage.transactionCount(), 6);
});

t.test('a strict node that gets a higher nonce first is given the lower ones, and nobody notices', async (t) => {
  const stage = await open(t);
  await stage.start();
  let lost = 0;
  const forgetful: FrontRule = (call, pass) => {
    // The node claims to have these transactions, and drops them: every third one, at most ten.
    if (call.method === 'eth_sendRawTransaction' && lost < 10) {
      const { hash, nonce } = Transaction.from(String(call.params[0]));
      if (nonce % 3 === 0) {
        lost += 1;
        return { result: hash };
      }
    }
    return strict(call, pass);
  };
  stage.front.rule(forgetful);
  const ids = await stage.sendMany(30);
  await stage.untilStatus(ids, 'confirmed', { mining: true });
  t.ok(lost >= 10);
  t.strictSame(await noncesOf(stage, ids), upTo(30));
  for (const id of ids) t.equal((await stage.attempts(id)).length, 1, 'the same bytes all the time');
  t.equal(await stage.nonces(), 30);
});

t.test('of two instances that see a gap one fills it, once', async (t) => {
  const stage = await open(t);
  await anvil.rpc('anvil_setNonce', [stage.address, '0x5']);
  stage.front.rule(outage('eth_sendRawTransaction'));
  await stage.start();
  const id = await stage.send();
  await stage.untilStatus(id, 'sent');
  await stage.stop();
  await anvil.rpc('anvil_setNonce', [stage.address, '0x0']);
  stage.front.rule();
  const leases = new InstanceLeases(400);
  await Promise.all([1, 2].map(() => stage.start({ store: leases.storeFor(stage.store) })));
  await stage.untilStatus(id, 'confirmed', { mining: true });
  t.strictSame([await stage.transactionCount(), await stage.nonces()], [6, 6]);
  t.equal(new Set(stage.front.offers.map(({ hash }) => hash)).size, 6, 'no two were ever offered for one nonce');
});

t.test(
  'a signature that takes longer than a gap is waited for: no transaction is lost, and no nonce twice',
  async (t) => {
    const stage = await open(t);
    await anvil.rpc('anvil_setNonce', [stage.address, '0x2']);
    await stage.start();
    const first = await stage.send();
    await stage.untilStatus(first, 'submitted');
    const signer = Promise.withResolvers<void>();
    stage.signing = signer.promise;
    await anvil.rpc('anvil_setNonce', [stage.address, '0x0']);
    const second = await stage.send();
    const since = performance.now();
    await stage.until('a gap would have been believed', () => performance.now() > since + 600);
    signer.resolve();
    await stage.untilStatus([first, second], 'confirmed', { mining: true });
    t.equal(await stage.paid(), 14n);
    const hashes = new Map(stage.front.offers.map(({ nonce, hash }) => [hash, nonce]));
    t.equal(new Set(hashes.values()).size, hashes.size, 'no nonce was signed for two');
  },
);

t.test('the thread with the key dies again and again: each nonce is used once, each payment made once', async (t) => {
  const threads: Worker[] = [];
  let isBusy = false;
  const keeper = new RestartingKeyThread({
    start: () => {
      const thread = startKeyThread();
      threads.push(thread);
      // Every second thread dies at its third message, with its work half done.
      let heard = 0;
      thread.on('message', () => {
        heard += 1;
        if (isBusy && heard === 3 && threads.length % 2 === 0) void thread.terminate();
      });
      return thread;
    },
  });
  t.teardown(() => keeper.close());
  const bytes = (key: string) => Uint8Array.fromHex(key.slice(2));
  const stage = await open(t, {
    signer: (key) => keeper.open('threaded', async () => ({ kind: 'key', bytes: bytes(key) })),
  });
  await stage.start();
  isBusy = true;
  await threads[0]?.terminate();
  const ids = await stage.sendMany(30);
  for (const id of ids) await stage.until(`${id} is signed`, async () => (await stage.get(id)).sequence !== null);
  await threads.at(-1)?.terminate();
  ids.push(...(await stage.sendMany(30)));
  await stage.untilStatus(ids, 'confirmed', { mining: true });
  t.strictSame(await noncesOf(stage, ids), upTo(60));
  t.strictSame([await stage.nonces(), await stage.paid()], [60, 420n]);
  t.ok(threads.length >= 3, `${threads.length} threads`);
});

t.test('a signer that is down takes no nonces: what is canceled meanwhile leaves no gap', async (t) => {
  const stage = await open(t);
  await stage.start();
  const down = Promise.reject(new Error('the signer is down'));
  down.catch(() => {});
  stage.signing = down;
  const ids = await stage.sendMany(3);
  const [canceled = '', ...others] = ids;
  await stage.until('it was tried', async () => /signer is down/.test((await stage.get(canceled)).statusReason ?? ''));
  await stage.cancel(canceled);
  t.match(await stage.get(canceled), { status: 'canceled', sequence: null });
  t.strictSame([(await stage.get(others[0] ?? '')).status, stage.front.offers.length], ['pending', 0]);
  stage.signing = Promise.resolve();
  await stage.untilStatus(others, 'confirmed', { mining: true });
  t.strictSame(await noncesOf(stage, others), [0, 1]);
});

t.test('a slow signer, many hints and a second instance: one nonce, one payment', async (t) => {
  const stage = await open(t);
  const leases = new InstanceLeases(150);
  const signer = Promise.withResolvers<void>();
  stage.signing = signer.promise;
  const engines = [await stage.start({ store: leases.storeFor(stage.store) })];
  const id = await stage.send();
  engines.push(await stage.start({ store: leases.storeFor(stage.store) }));
  const since = performance.now();
  await stage.until('leases would have ended', () => {
    for (const engine of engines) engine.wake(stage.lane);
    return performance.now() > since + 500;
  });
  t.match(await stage.get(id), { status: 'pending', sequence: null });
  signer.resolve();
  await stage.untilStatus(id, 'confirmed', { mining: true });
  t.equal((await stage.attempts(id)).length, 1);
  t.strictSame([await stage.nonces('pending'), await stage.paid()], [1, 7n]);
});
