import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { Worker } from 'node:worker_threads';
import { encryptKeystoreJsonSync, Wallet } from 'ethers';
import t, { type Test } from 'tap';
import { holdKey } from '../../../../../src/signers/held-key.ts';
import { KeyTable } from '../../../../../src/signers/keys/key-table.ts';
import {
  KeyThreadConnection,
  KeyThreadLost,
  type KeyThreadRequest,
  startKeyThread,
} from '../../../../../src/signers/keys/key-thread.ts';
import { RestartingKeyThread } from '../../../../../src/signers/keys/key-worker.ts';
import { assertSignedBy } from '../../../../../src/signers/secp256k1.ts';
import type { KeySource } from '../../../../../src/signers/signer.ts';

// Threats: the thread with the keys dies and pending signatures are lost. Or a key that was replaced in the meantime
// signs for the account of the old key.
t.test('thread keeper', async (t) => {
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
    const keeper = new RestartingKeyThread({
      start: () => {
        const thread = (threads.shift() ?? startKeyThread)();
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
    const material = async (): Promise<KeySource> => {
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
    const orders: KeyThreadRequest[] = [];
    const { keeper } = scene(t, [
      () => {
        const thread = startKeyThread();
        const post = thread.postMessage.bind(thread);
        thread.postMessage = (order: KeyThreadRequest, transfer: readonly ArrayBuffer[]) => {
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
    const none = async (): Promise<KeySource> => ({
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
});

// Threats: the thread with the keys dies or hangs, and pending requests with it. Its last error contains a key. A
// request to sign also copies other data from the same memory buffer to the thread.
t.test('keeper worker', async (t) => {
  const CANARY = 'c0ffee'.repeat(10);

  /** A thread that runs this code on every message. */
  const threadThat = (does: string) =>
    new Worker(`require('node:worker_threads').parentPort.on('message', () => { ${does} })`, { eval: true });

  function held(t: Test, worker: Worker, overdueMs?: number): KeyThreadConnection {
    const keeper = new KeyThreadConnection(worker, overdueMs);
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
    const thread = startKeyThread();
    const sizes: number[] = [];
    const post = thread.postMessage.bind(thread);
    thread.postMessage = (order: KeyThreadRequest, transfer: readonly ArrayBuffer[]) => {
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
      const asked = [
        keeper.use(use(1)),
        keeper.use(use(2)),
        keeper.open(3, { kind: 'key', bytes: new Uint8Array(32) }),
      ];
      for (const failure of await Promise.all(asked.map(failureOf))) {
        t.ok(failure instanceof KeyThreadLost);
        t.equal(failure.message, `the thread that keeps the keys is gone: ${said}`);
        t.notMatch(inspect(failure, { depth: 9, showHidden: true }), CANARY);
      }
      t.ok((await failureOf(keeper.use(use(1)))) instanceof KeyThreadLost, 'nor does it take anything more');
      t.ok((await failureOf(keeper.open(4, { kind: 'key', bytes: new Uint8Array(32) }))) instanceof KeyThreadLost);
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
    const keeper = held(t, startKeyThread());
    const asked = failureOf(keeper.open(1, { kind: 'keystore', path: '/nowhere', passphrase: new Uint8Array(1) }));
    await Promise.all([keeper.end(), keeper.end()]);
    t.match(await asked, { message: /is gone: it ended|there is no keystore/ });
    const hanging = held(t, threadThat('for (;;);'));
    const lost = failureOf(hanging.use(use(1)));
    await hanging.end();
    t.ok((await lost) instanceof KeyThreadLost);
  });
});

t.test('kept keys', async (t) => {
  const DIGEST = Buffer.alloc(32, 7);
  const sign = (key: number) => ({ key, curve: 'secp256k1' as const, payload: DIGEST });

  t.test('keeps keys by their numbers: from bytes, and from a keystore', async (t) => {
    const keys = new KeyTable();
    const { address, privateKey } = Wallet.createRandom();
    const path = join(t.testdir(), 'key.json');
    await writeFile(path, encryptKeystoreJsonSync({ address, privateKey }, 'passphrase', { scrypt: { N: 2 } }));
    const passphrase = Uint8Array.from(Buffer.from('passphrase'));
    const twin = holdKey(Buffer.from(privateKey.slice(2), 'hex'));
    const mark = Buffer.from(twin.publicKey('ed25519')).toString('hex');

    t.same(await keys.open(1, { kind: 'keystore', path, passphrase }), { kind: 'opened', key: 1, mark });
    t.same(passphrase, new Uint8Array(10), 'the passphrase is wiped');
    t.match(await keys.open(2, { kind: 'key', bytes: randomBytes(32) }), { kind: 'opened', key: 2 });
    const [first, second, third, none] = keys.use([
      sign(1),
      { key: 1, curve: 'ed25519', payload: null },
      { key: 1, curve: 'ed25519', payload: DIGEST },
      sign(9),
    ]);
    t.same(first, { bytes: twin.sign('secp256k1', DIGEST) });
    t.same(second, { bytes: twin.publicKey('ed25519') });
    t.match(third, { bytes: twin.sign('ed25519', DIGEST) });
    t.same(none, { reason: 'it is closed' });
  });

  t.test('what cannot be opened or signed says why, and nothing of a key', async (t) => {
    const keys = new KeyTable();
    const path = join(t.testdir(), 'none.json');
    t.match(await keys.open(1, { kind: 'keystore', path, passphrase: new Uint8Array(1) }), {
      kind: 'unopened',
      reason: /^there is no keystore at /,
    });
    await keys.open(2, { kind: 'key', bytes: Uint8Array.from(Buffer.alloc(32)) });
    t.match(keys.use([sign(2)]), [{ reason: /zero or not below the order/ }]);
    // A library's error about bytes that it rejects may contain those bytes.
    const canary = randomBytes(31);
    const odd = await keys.open(3, { kind: 'key', bytes: Uint8Array.from(canary) });
    t.match(odd, { kind: 'unopened', reason: /^an error where the keys are \(\w+\)$/ });
    t.notMatch(JSON.stringify(odd), canary.toString('hex'));
  });

  t.test('a key that is forgotten is wiped, also while it is being opened', async (t) => {
    const keys = new KeyTable();
    const [first, second] = [Uint8Array.from(randomBytes(32)), Uint8Array.from(randomBytes(32))];
    await keys.open(1, { kind: 'key', bytes: first });
    keys.forget(1);
    keys.forget(1);
    t.same(first, new Uint8Array(32));
    const opening = keys.open(2, { kind: 'key', bytes: second });
    keys.forgetAll();
    await opening;
    t.same(second, new Uint8Array(32));
    t.same(keys.use([sign(1), sign(2)]), [{ reason: 'it is closed' }, { reason: 'it is closed' }]);
  });
});
