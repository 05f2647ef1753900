import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { type LocalRpcMethod, type LocalSendMethod, OwnRefusal } from '../../../../../src/chains/chain-client.ts';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { AppError, invalidRequest } from '../../../../../src/domain/errors.ts';
import type { WireObject } from '../../../../../src/domain/json/json.ts';
import { createLocalRpc } from '../../../../../src/features/relayers/local-rpc.ts';
import { RelayerDirectory } from '../../../../../src/features/relayers/relayer-access.ts';
import { createLifecycleService } from '../../../../../src/features/transactions/transaction-changes.ts';
import { createTransactionsService } from '../../../../../src/features/transactions/transactions.ts';
import { EngineWorld, relayerNamed } from '../../../../support/engine-world.ts';
import { keyedEffect } from '../../../../support/keyed-effect.ts';

/** A world with a running engine, and the dependencies of a family's own RPC methods. */
async function open(t: Test, signingMs?: number) {
  const world = await EngineWorld.open(t);
  const engine = world.engine();
  t.teardown(() => engine.close());
  const { store, log, metrics, client, family } = world;
  const chains = new Map([['evm', family] as const]);
  const connections = { clientOf: () => client, close: async () => {} };
  const relayers = new RelayerDirectory({ read: store.read, chains, connections });
  const shared = { store, relayers, engine, log, clock: systemClock };
  const deps = {
    store,
    outbox: world.outbox,
    relayers,
    signerOf: async () => world.signer,
    transactions: createTransactionsService({ ...shared, metrics, newId: randomUUID }),
    lifecycle: createLifecycleService(shared),
    ...(signingMs === undefined ? {} : { signingMs }),
  };
  await engine.start();
  return { world, deps, runOwn: createLocalRpc(deps) };
}

const ANSWER: LocalRpcMethod = {
  kind: 'answer',
  run: async (params, { address, identity }) => ({ params: JSON.stringify(params), address, identity }),
};
const SIGN: LocalRpcMethod = { kind: 'sign', run: async (_params, _account, { id }) => ({ signer: id }) };

/** A method that sends its parameters unchanged. */
const SEND: LocalSendMethod = {
  kind: 'send',
  body: (params) => ({ effect: params }),
  check: async ({ effect }) => {
    if (effect === 'unsound') throw new OwnRefusal(-32_013, 'PREPARATION_ERROR', 'unsound');
  },
  answer: ({ id, hash }): WireObject => ({ id, hash }),
  refusal: ({ code, message }) => (code === 'RELAYER_NOT_FOUND' ? undefined : new OwnRefusal(-1, code, message)),
};

t.test('a method is run for the relayer’s account, with its signer where it signs', async (t) => {
  const { world, runOwn } = await open(t);
  const call = { method: 'tell', params: { a: 1 }, id: 'x' };
  t.strictSame(await runOwn('r1', call, ANSWER, {}), {
    jsonrpc: '2.0',
    id: 'x',
    result: { method: 'tell', params: '{"a":1}', address: '0xaa', identity: '31337' },
  });
  const actor = { keyId: 'k1', requestId: 'q1' };
  const signed = await runOwn('r1', { method: 'sign', id: null }, SIGN, { actor });
  const { items } = await world.store.read.auditRecords({ before: null, limit: 10 }, {});
  t.match(items, [
    { resource: 'signature', resourceId: 'r1', keyId: 'k1', after: { request: '{"method":"sign","params":null}' } },
  ]);
  t.strictSame(signed, { jsonrpc: '2.0', result: { method: 'sign', signer: world.signer.id } });
  t.match(await runOwn('r1', { method: 'tell' }, ANSWER, {}), { id: 1, result: { params: 'null' } });
  await t.rejects(runOwn('r1', { method: 'tell', id: 1.5 }, ANSWER, {}), { code: 'INVALID_REQUEST' });
});

t.test('a paused relayer runs nothing, and an unknown one is not found', async (t) => {
  const { world, runOwn } = await open(t);
  await t.rejects(runOwn('none', {}, ANSWER, {}), { code: 'RELAYER_NOT_FOUND' });
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { paused: true })));
  await t.rejects(runOwn('r1', { method: 'tell' }, ANSWER, {}), { code: 'RELAYER_PAUSED' });
});

t.test('what a method refuses is in the answer, with the id; anything else is thrown', async (t) => {
  const { runOwn } = await open(t);
  const failing = (error: Error): LocalRpcMethod => ({ kind: 'answer', run: () => Promise.reject(error) });
  const refusal = new OwnRefusal(-32_602, 'INVALID_PARAMS', 'no address');
  t.strictSame(await runOwn('r1', { method: 'tell', id: 3 }, failing(refusal), {}), {
    jsonrpc: '2.0',
    id: 3,
    error: { code: -32_602, message: 'INVALID_PARAMS', description: 'no address' },
  });
  await t.rejects(runOwn('r1', { method: 'tell' }, failing(invalidRequest('bad')), {}), { code: 'INVALID_REQUEST' });
});

t.test('what is sent is accepted like any other transaction, and answered once it is signed', async (t) => {
  const { runOwn } = await open(t);
  const { result } = await runOwn('r1', { method: 'send', params: 'a payment' }, SEND, {});
  t.match(result, { method: 'send', id: String, hash: /./ });
  t.match(await runOwn('r1', { method: 'send', params: 'unsound' }, SEND, {}), {
    error: { message: 'PREPARATION_ERROR' },
  });
  t.match(await runOwn('r1', { method: 'send', params: 7 }, SEND, {}), { error: { message: 'INVALID_REQUEST' } });
});

t.test('under one name it is sent once, and what was sent is not refused afterwards', async (t) => {
  const { world, runOwn } = await open(t);
  const effect = await keyedEffect(world.store);
  const call = { method: 'send', params: 'a payment' };
  const first = await runOwn('r1', call, SEND, { effect });
  const strict = { ...SEND, check: () => Promise.reject(new OwnRefusal(-1, 'NO', 'no')) };
  t.strictSame(await runOwn('r1', call, strict, { effect }), first);
});

t.test('what nobody signs in time is withdrawn, and the answer says why', async (t) => {
  // Long enough for the lane to process the transaction once.
  const { world, runOwn, deps } = await open(t, 1_500);
  world.client.onPrepare = () => ({ kind: 'parked', reason: 'no money', retryInMs: 60_000 });
  const { error } = await runOwn('r1', { method: 'send', params: 'a payment' }, SEND, {});
  t.match(error, { message: 'UNAVAILABLE', description: /was withdrawn before it was signed: no money/ });
  const id = /Transaction (\S+) /.exec(error?.description ?? '')?.[1] ?? '';
  t.match(await deps.transactions.get('r1', id), { status: 'canceled' });
});

t.test('a refusal that is none of the method’s is thrown as it is', async (t) => {
  const { deps } = await open(t);
  const gone = new AppError('RELAYER_NOT_FOUND', { id: 'r1' });
  const transactions = { ...deps.transactions, send: () => Promise.reject(gone) };
  const runOwn = createLocalRpc({ ...deps, transactions });
  await t.rejects(runOwn('r1', { method: 'send', params: 'a' }, SEND, {}), gone);
});
