// Threats: the thread with the keys dies and pending signatures are lost. Or a key that was replaced in the meantime
// signs for the account of the old key.
import { randomBytes } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { holdKey } from '../../../../../src/signers/held-key.ts';
import { startKeeperThread } from '../../../../../src/signers/keeper/keeper-worker.ts';
import type { KeeperOrder } from '../../../../../src/signers/keeper/orders.ts';
import { ThreadKeeper } from '../../../../../src/signers/keeper/thread-keeper.ts';
import type { KeyMaterial } from '../../../../../src/signers/signer.ts';

const DIGEST = Buffer.alloc(32, 9);

/** A thread that dies when it is first asked to sign. */
const mortal = () =>
  new Worker(
    `const { parentPort } = require('node:worker_threads');
     parentPort.on('message', (order) => {
       if (order.kind === 'open') parentPort.postMessage({ kind: 'opened', key: order.key, mark: order.material.mark });
       if (order.kind === 'use') process.exit(1);
     })`,
    { eval: true },
  );

function scene(t: Test, threads: (() => Worker)[] = []) {
  const started: Worker[] = [];
  const lost: string[] = [];
  const keeper = new ThreadKeeper({
    start: () => {
      const thread = (threads.shift() ?? startKeeperThread)();
      started.push(thread);
      return thread;
    },
    onLost: ({ message }) => void lost.push(message),
  });
  t.teardown(() => keeper.close());
  return { keeper, started, lost };
}

/** A plain key, and how often it was asked for. */
function someKey() {
  const key = randomBytes(32);
  const twin = holdKey(Buffer.from(key));
  const mark = Buffer.from(twin.publicKey('ed25519')).toString('hex');
  let asked = 0;
  const material = async (): Promise<KeyMaterial> => {
    asked += 1;
    return Object.assign({ kind: 'key' as const, bytes: Uint8Array.from(key) }, { mark });
  };
  return { twin, material, asked: () => asked };
}

t.test('signs as who has the key would, and keeps signers apart', async (t) => {
  const { keeper, started } = scene(t);
  t.equal(started.length, 0, 'without a key there is no thread');
  const [one, other] = [someKey(), someKey()];
  const [first, second] = [await keeper.open('first', one.material), await keeper.open('second', other.material)];
  for (const [signer, { twin }] of [[first, one] as const, [second, other] as const]) {
    for (const curve of ['secp256k1', 'ed25519'] as const) {
      t.same(await signer.publicKey(curve), twin.publicKey(curve));
      t.same(Buffer.from(await signer.sign(curve, DIGEST)), Buffer.from(twin.sign(curve, DIGEST)));
    }
  }
  const asked = Array.from({ length: 50 }, () => first.sign('ed25519', DIGEST));
  await Promise.all([first.close(), first.close()]);
  t.equal((await Promise.all(asked)).length, 50, 'what was asked before is signed');
  await t.rejects(first.sign('ed25519', DIGEST), { message: 'it is closed' });
  t.ok(await second.sign('ed25519', DIGEST));
  t.equal(started.length, 1);
});

t.test('a payload goes alone: what stands beside it in a pool stays here', async (t) => {
  const orders: KeeperOrder[] = [];
  const { keeper } = scene(t, [
    () => {
      const thread = startKeeperThread();
      const post = thread.postMessage.bind(thread);
      thread.postMessage = (order: KeeperOrder, transfer: readonly ArrayBuffer[]) => {
        orders.push(order);
        post(order, transfer);
      };
      return thread;
    },
  ]);
  const signer = await keeper.open('one', someKey().material);
  await signer.sign('secp256k1', Buffer.from('ab'.repeat(32), 'hex'));
  const sizes = orders.flatMap((order) =>
    order.kind === 'use' ? order.uses.map(({ payload }) => payload?.buffer.byteLength) : [],
  );
  t.same(sizes, [32]);
});

t.test('what a thread leaves unanswered is asked of the next one', async (t) => {
  const { keeper, started, lost } = scene(t, [mortal, mortal]);
  const key = someKey();
  const signer = await keeper.open('one', key.material);
  const payloads = Array.from({ length: 50 }, () => randomBytes(32));
  const signed = await Promise.all(payloads.map((payload) => signer.sign('secp256k1', payload)));
  for (const [place, payload] of payloads.entries()) {
    t.same(signed[place], key.twin.sign('secp256k1', payload));
  }
  t.equal(started.length, 3);
  t.equal(key.asked(), 3, 'the key is opened once in each');
  t.same(lost, Array(2).fill('the thread that keeps the keys is gone: it ended'), 'told once for each');
});

t.test('a thread that is killed between two signatures is missed by nobody', async (t) => {
  const { keeper, started } = scene(t);
  const key = someKey();
  const signer = await keeper.open('one', key.material);
  for (let round = 0; round < 2; round += 1) {
    await started.at(-1)?.terminate();
    t.same(await signer.sign('secp256k1', DIGEST), key.twin.sign('secp256k1', DIGEST));
  }
  t.equal(started.length, 3);
});

t.test('what ends every thread is given up, and the next question is asked anew', async (t) => {
  const { keeper, started } = scene(t, [mortal, mortal, mortal]);
  const key = someKey();
  const signer = await keeper.open('one', key.material);
  await t.rejects(signer.sign('secp256k1', DIGEST), { message: 'the thread that keeps the keys is gone: it ended' });
  t.equal(started.length, 3);
  t.same(await signer.sign('secp256k1', DIGEST), key.twin.sign('secp256k1', DIGEST));
});

t.test('a key that was replaced before it is opened again signs nothing', async (t) => {
  const { keeper, started } = scene(t);
  const [old, replaced] = [someKey(), someKey()];
  let current = old;
  const signer = await keeper.open('one', () => current.material());
  await started[0]?.terminate();
  current = replaced;
  await t.rejects(signer.sign('secp256k1', DIGEST), { message: 'its key is another one than before' });
  current = old;
  t.same(await signer.sign('secp256k1', DIGEST), old.twin.sign('secp256k1', DIGEST));
});

t.test('a key that cannot be opened is an error now, and one later when it is to be opened again', async (t) => {
  const { keeper, started } = scene(t);
  const none = async (): Promise<KeyMaterial> => ({
    kind: 'keystore',
    path: '/nowhere',
    passphrase: new Uint8Array(1),
  });
  await t.rejects(keeper.open('none', none), { message: /^there is no keystore at \/nowhere/ });
  const key = someKey();
  let isAway = false;
  const signer = await keeper.open('one', () =>
    isAway ? Promise.reject(new Error('the disk is away')) : key.material(),
  );
  isAway = true;
  await started[0]?.terminate();
  await t.rejects(signer.sign('ed25519', DIGEST), { message: 'the disk is away' });
  isAway = false;
  t.ok(await signer.sign('ed25519', DIGEST));
});

t.test('it is closed with what it is asked, and may be closed twice', async (t) => {
  const { keeper } = scene(t);
  const signer = await keeper.open('one', someKey().material);
  const asked = signer.sign('secp256k1', DIGEST).then(
    () => 'signed',
    ({ message }: Error) => message,
  );
  await Promise.all([keeper.close(), keeper.close()]);
  t.match(await asked, /^(signed|it is closed)$/);
  await t.rejects(signer.sign('secp256k1', DIGEST), { message: 'it is closed' });
  await t.rejects(keeper.open('two', someKey().material), { message: 'it is closed' });
});
