import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { getHeapSnapshot } from 'node:v8';
import type { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { SignerDirectory } from '../../../../../src/features/signers/signer-directory.ts';
import { createLog } from '../../../../../src/observability/log.ts';
import { startKeyThread } from '../../../../../src/signers/keys/key-thread.ts';
import { RestartingKeyThread } from '../../../../../src/signers/keys/key-worker.ts';
import { createSignerKinds } from '../../../../../src/signers/registry.ts';
import type { KeyHolder, Signer, SignerKind } from '../../../../../src/signers/signer.ts';
import { FakeSigner } from '../../../../support/fake-signer.ts';
import { signerTools } from '../../../../support/signer-tools.ts';
import { storeFor } from '../../../../support/store.ts';

const [ONE, TWO] = ['01'.repeat(32), '02'.repeat(32)];

/** A signer kind that finds credentials of the machine by itself. */
const AMBIENT: SignerKind = {
  type: 'ambient',
  curves: ['secp256k1'],
  configSchema: z.unknown(),
  limitMs: null,
  variables: ['OWN'],
  async create(_id, _config, { secrets }) {
    if (secrets({ type: 'env', value: 'OWN' }) !== 'of the service') throw new Error('it is not there');
    secrets({ type: 'env', value: 'API_KEY' });
    return new FakeSigner();
  },
};

async function stage(t: Test, keys?: KeyHolder) {
  const store = await storeFor(t);
  const declared = new FakeSigner();
  const directory = new SignerDirectory({
    declared: { ring: { signer: () => declared }, entries: [{ id: 'file', type: 'local', config: {} }] },
    read: store.read,
    kinds: new Map([...createSignerKinds(), ['ambient', AMBIENT]]),
    tools: signerTools('of the service', keys === undefined ? {} : { keys }),
    log: createLog('silent'),
  });
  t.teardown(() => directory.close());
  const make = (id: string, key: string, stamp: string, config: object = { key: { type: 'plain', value: key } }) =>
    store.write((writer) => writer.insertSigner({ id, type: 'plain', stamp, shown: {} }, config as never));
  const remove = (id: string) => store.write((writer) => writer.deleteSigner(id));
  return { store, directory, declared, make, remove };
}

const keyOf = async (signer: Signer) => Buffer.from(await signer.publicKey('ed25519')).toString('hex');

t.test('those of the configuration are there, those of clients once they are needed', async (t) => {
  const { directory, declared, make } = await stage(t);
  t.equal(await directory.signer('file'), declared);
  await t.rejects(directory.signer('mine'), { code: 'SIGNER_NOT_FOUND', status: 404 });
  await make('mine', ONE, 'a');
  const [first, second] = await Promise.all([directory.signer('mine'), directory.signer('mine')]);
  t.equal(first, second, 'opened once');
  t.match(directory.declared, [{ id: 'file' }]);
  t.match(directory.declaredOne('file'), { type: 'local' });
  t.equal(directory.declaredOne('mine'), undefined);
});

t.test('what one can sign for is said by its kind, and by its configuration where that knows it', async (t) => {
  const { directory, make, store } = await stage(t);
  await make('mine', ONE, 'a');
  t.match(await directory.reach('mine'), { curves: ['secp256k1', 'ed25519'] });
  for (const [address, curve] of [
    ['0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf', 'secp256k1'],
    ['11111111111111111111111111111111', 'ed25519'],
  ] as const) {
    const shown = { account_address: address };
    await store.write((writer) => writer.insertSigner({ id: address, type: 'cdp', stamp: 'a', shown }, {}));
    t.match(await directory.reach(address), { curves: [curve], notFor: { stellar: /Solana/ } });
    t.equal((await directory.reach(address)).curves.length, 1);
  }
  await t.rejects(directory.reach('nobody'), { code: 'SIGNER_NOT_FOUND' });
});

t.test('one that was deleted and made again has the new key, and the old one signs no more', async (t) => {
  const { directory, make, remove } = await stage(t);
  await make('mine', ONE, 'a');
  const before = await directory.signer('mine');
  const key = await keyOf(before);
  await remove('mine');
  await t.rejects(directory.signer('mine'), { code: 'SIGNER_NOT_FOUND' });
  await make('mine', TWO, 'b');
  const after = await directory.signer('mine');
  t.not(await keyOf(after), key);
  await t.rejects(before.sign('ed25519', new Uint8Array(32)), { code: 'SIGNER_FAILED', message: /it is closed/ });
});

t.test('one that cannot be opened is tried anew', async (t) => {
  const { directory, make, remove } = await stage(t);
  await make('mine', ONE, 'a', { key: { type: 'env', value: 'API_KEY' } });
  await t.rejects(directory.signer('mine'), { code: 'SIGNER_UNUSABLE', message: /never in the environment/ });
  await t.rejects(directory.signer('mine'), { code: 'SIGNER_UNUSABLE' });
  await remove('mine');
  await make('mine', ONE, 'b');
  t.equal((await directory.signer('mine')).id, 'mine');
});

t.test('a kind finds what it looks for by itself, and nothing else of the environment', async (t) => {
  const { directory, store } = await stage(t);
  const signer = { id: 'mine', type: 'ambient', stamp: 'a', shown: {} };
  await store.write((writer) => writer.insertSigner(signer, {}));
  await t.rejects(directory.signer('mine'), { message: /never in the environment/ });
});

t.test('what a signer can sign for is what its kind can', async (t) => {
  const { directory, make } = await stage(t);
  await make('mine', ONE, 'a');
  t.strictSame((await directory.reach('file')).curves, ['secp256k1', 'ed25519']);
  t.strictSame((await directory.reach('mine')).curves, ['secp256k1', 'ed25519']);
  await t.rejects(directory.reach('nobody'), { code: 'SIGNER_NOT_FOUND' });
});

t.test('closing wipes the keys, twice and late', async (t) => {
  const { directory, make } = await stage(t);
  await make('mine', ONE, 'a');
  const signer = await directory.signer('mine');
  await directory.close();
  await directory.close();
  await t.rejects(signer.sign('ed25519', new Uint8Array(32)), { code: 'SIGNER_FAILED' });
});

t.test('a key that a client gave is not here but in its thread, and is read again when that is lost', async (t) => {
  const threads: Worker[] = [];
  const keeper = new RestartingKeyThread({
    start: () => {
      threads.push(startKeyThread());
      return threads.at(-1) as Worker;
    },
  });
  t.teardown(() => keeper.close());
  const { directory, make } = await stage(t, keeper);
  // Heap snapshots contain strings, but not bytes. So the test itself keeps the key as bytes.
  const key = randomBytes(32);
  await make('mine', key.toString('hex'), 'a');
  const signer = await directory.signer('mine');
  const publicKey = await keyOf(signer);
  // V8 keeps the last string that a regular expression was matched against. This match replaces it.
  /./.exec('another');
  const heap = await buffer(getHeapSnapshot());
  t.ok(heap.includes(publicKey), 'what is here is found');
  t.notOk(heap.includes(key.toString('hex')));
  await threads[0]?.terminate();
  t.equal((await signer.sign('ed25519', new Uint8Array(32))).length, 64);
  t.equal(threads.length, 2);
});
