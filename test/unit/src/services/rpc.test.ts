import t, { type Test } from 'tap';
import type { RpcOutcome } from '../../../../src/egress/rpc-client.ts';
import { rpcMayAct } from '../../../../src/services/rpc.ts';
import { EngineWorld, relayerNamed } from '../../../support/engine-world.ts';
import { keyedEffect } from '../../../support/keyed-effect.ts';

t.test('a call goes through as it is', async (t) => {
  const world = await EngineWorld.open(t);
  const call = { method: 'eth_blockNumber', id: null };
  t.strictSame(await world.services().rpc.call('r1', call), { jsonrpc: '2.0', result: call });
});

t.test('a paused relayer calls nobody', async (t) => {
  const world = await EngineWorld.open(t);
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { paused: true })));
  await t.rejects(world.services().rpc.call('r1', { method: 'eth_blockNumber' }), { code: 'RELAYER_PAUSED' });
  await t.rejects(world.services().rpc.call('none', {}), { code: 'RELAYER_NOT_FOUND' });
});

/** A world whose node answers, or fails, as a test says; and how often it was asked. */
async function askedNode(t: Test) {
  const world = await EngineWorld.open(t);
  const node = { calls: 0, answer: async (): Promise<RpcOutcome> => ({ jsonrpc: '2.0', result: '0xhash', id: 1 }) };
  world.client.rpc = async () => {
    node.calls += 1;
    return node.answer();
  };
  return { world, node, rpc: world.services().rpc, effect: await keyedEffect(world.store) };
}

t.test('under one name a node is asked to act once', async (t) => {
  const { node, rpc, effect, world } = await askedNode(t);
  const call = { method: 'eth_sendTransaction', params: [{}] };
  const first = await rpc.call('r1', call, effect);
  t.strictSame(await rpc.call('r1', call, effect), first);
  t.equal(node.calls, 1);
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { paused: true })));
  t.strictSame(await rpc.call('r1', call, effect), first, 'what has happened is not refused');
});

t.test('a read, and what has no method, is asked for each time and leaves no trace', async (t) => {
  const { node, rpc, effect, world } = await askedNode(t);
  for (const call of [{ method: 'eth_blockNumber' }, {}]) {
    await rpc.call('r1', call, effect);
    await rpc.call('r1', call, effect);
  }
  t.equal(node.calls, 4);
  t.equal(await world.store.read.effect(effect), undefined);
});

t.test('what a node may have done is not asked of it again, unless the bytes are signed', async (t) => {
  const { node, rpc, effect: step } = await askedNode(t);
  node.answer = () => Promise.reject(new Error('the process dies'));
  const effect = { ...step, isStep: false };
  const signed = { ...effect, occurrence: 1 };
  const [acting, sending] = [{ method: 'eth_sendTransaction' }, { method: 'eth_sendRawTransaction' }];
  await t.rejects(rpc.call('r1', acting, effect), { message: 'the process dies' });
  await t.rejects(rpc.call('r1', sending, signed), { message: 'the process dies' });
  node.answer = async () => ({ jsonrpc: '2.0', error: { code: -33_000, message: 'Request timeout', description: '' } });
  await t.rejects(rpc.call('r1', acting, effect), { code: 'EFFECT_UNKNOWN', status: 409 });
  t.match(await rpc.call('r1', sending, signed), { error: { code: -33_000 } });
  node.answer = async () => ({ jsonrpc: '2.0', result: '0xhash' });
  t.match(await rpc.call('r1', sending, signed), { result: '0xhash' });
  t.match(await rpc.call('r1', sending, signed), { result: '0xhash' });
  t.equal(node.calls, 4);
});

t.test("a node's refusal is not the last word for a request, but is what a plugin goes on by", async (t) => {
  const { node, rpc, effect: step } = await askedNode(t);
  const sending = { method: 'eth_sendRawTransaction' };
  const refused: RpcOutcome = { jsonrpc: '2.0', error: { code: -32_000, message: 'nonce too low', description: '' } };
  const request = { ...step, occurrence: 1, isStep: false };
  node.answer = async () => refused;
  t.match(await rpc.call('r1', sending, step), refused);
  t.match(await rpc.call('r1', sending, request), refused);
  node.answer = async () => ({ jsonrpc: '2.0', result: '0xhash' });
  t.match(await rpc.call('r1', sending, step), refused);
  t.match(await rpc.call('r1', sending, request), { result: '0xhash' });
  t.equal(node.calls, 3);
});

t.test('which calls may do more than read', (t) => {
  for (const method of ['eth_sendRawTransaction', 'sendTransaction', 'personal_sign', 'submitTransaction']) {
    t.ok(rpcMayAct({ method }), method);
  }
  for (const method of ['eth_call', 'getSignaturesForAddress', 'eth_blockNumber'])
    t.notOk(rpcMayAct({ method }), method);
  t.ok(rpcMayAct({ method: 7 }), 'whatever cannot be read');
  t.end();
});
