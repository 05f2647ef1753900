// Threats: the thread with the keys dies or hangs, and pending requests with it. Its last error contains a key. A
// request to sign also copies other data from the same memory buffer to the thread.
import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { KeeperLost, KeeperWorker, startKeeperThread } from '../../../../../src/signers/keeper/keeper-worker.ts';
import type { KeeperOrder } from '../../../../../src/signers/keeper/orders.ts';
import { assertSignedBy } from '../../../../../src/signers/secp256k1/ecdsa.ts';

const CANARY = 'c0ffee'.repeat(10);

/** A thread that runs this code on every message. */
const threadThat = (does: string) =>
  new Worker(`require('node:worker_threads').parentPort.on('message', () => { ${does} })`, { eval: true });

function held(t: Test, worker: Worker, overdueMs?: number): KeeperWorker {
  const keeper = new KeeperWorker(worker, overdueMs);
  t.teardown(() => keeper.end());
  return keeper;
}

const use = (key: number, payload = Uint8Array.from(randomBytes(32))) => ({
  key,
  curve: 'secp256k1' as const,
  payload,
});

async function failureOf(asked: Promise<unknown>): Promise<Error> {
  return await asked.then(
    () => new Error('it did not fail'),
    (error: Error) => error,
  );
}

t.test('what is asked at once goes together, and never much at a time', async (t) => {
  const thread = startKeeperThread();
  const sizes: number[] = [];
  const post = thread.postMessage.bind(thread);
  thread.postMessage = (order: KeeperOrder, transfer: readonly ArrayBuffer[]) => {
    if (order.kind === 'use') sizes.push(order.uses.length);
    post(order, transfer);
  };
  const keeper = held(t, thread);
  const bytes = Uint8Array.from(randomBytes(32));
  await keeper.open(1, { kind: 'key', bytes });
  t.equal(bytes.byteLength, 0, 'the bytes of the key are with the thread, and no longer here');
  const publicKey = await keeper.use({ key: 1, curve: 'secp256k1', payload: null });
  const payloads = Array.from({ length: 100 }, () => randomBytes(32));
  const signed = await Promise.all(payloads.map((payload) => keeper.use(use(1, Uint8Array.from(payload)))));
  for (const [place, payload] of payloads.entries()) {
    assertSignedBy(payload, signed[place] ?? new Uint8Array(0), publicKey);
  }
  t.same(sizes, [1, 32, 32, 32, 4]);
  t.match(await failureOf(keeper.use(use(2))), { message: 'it is closed' });
  keeper.forget(1);
  t.match(await failureOf(keeper.use(use(1))), { message: 'it is closed' });
});

t.test('a thread that dies fails all that it was asked, and its last words are not repeated', async (t) => {
  for (const [does, said] of [
    [`throw Object.assign(new Error('${CANARY}'), { key: '${CANARY}' })`, 'it ended by Error'],
    ['process.exit(3)', 'it ended'],
    [`const e = new RangeError('${CANARY}'); e.code = 'ERR_X'; throw e`, 'it ended by ERR_X'],
  ] as const) {
    const keeper = held(t, threadThat(does));
    const asked = [keeper.use(use(1)), keeper.use(use(2)), keeper.open(3, { kind: 'key', bytes: new Uint8Array(32) })];
    for (const failure of await Promise.all(asked.map(failureOf))) {
      t.ok(failure instanceof KeeperLost);
      t.equal(failure.message, `the thread that keeps the keys is gone: ${said}`);
      t.notMatch(inspect(failure, { depth: 9, showHidden: true }), CANARY);
    }
    t.ok((await failureOf(keeper.use(use(1)))) instanceof KeeperLost, 'nor does it take anything more');
    t.ok((await failureOf(keeper.open(4, { kind: 'key', bytes: new Uint8Array(32) }))) instanceof KeeperLost);
    keeper.forget(1);
  }
});

t.test('a thread that hangs is ended', async (t) => {
  const keeper = held(t, threadThat('for (;;);'), 20);
  t.match(await failureOf(keeper.use(use(1))), {
    message: 'the thread that keeps the keys is gone: no answer within 0.02 s',
  });
  await keeper.end();
});

t.test('it can be ended twice, while it is asked and while it hangs', async (t) => {
  const keeper = held(t, startKeeperThread());
  const asked = failureOf(keeper.open(1, { kind: 'keystore', path: '/nowhere', passphrase: new Uint8Array(1) }));
  await Promise.all([keeper.end(), keeper.end()]);
  t.match(await asked, { message: /is gone: it ended|there is no keystore/ });
  const hanging = held(t, threadThat('for (;;);'));
  const lost = failureOf(hanging.use(use(1)));
  await hanging.end();
  t.ok((await lost) instanceof KeeperLost);
});
