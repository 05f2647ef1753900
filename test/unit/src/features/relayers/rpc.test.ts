import t, { type Test } from 'tap';
import { type LocalRpcMethod, OwnRefusal } from '../../../../../src/chains/chain-client.ts';
import { AppError } from '../../../../../src/domain/errors.ts';
import type { RpcOutcome } from '../../../../../src/egress/rpc/rpc-client.ts';
import { rpcMayAct, rpcRights } from '../../../../../src/features/relayers/rpc.ts';
import { EngineWorld, relayerNamed } from '../../../../support/engine-world.ts';
import { keyedEffect } from '../../../../support/keyed-effect.ts';

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

/** A world whose node answers or fails as the test says, and the number of calls it got. */
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
  const first = await rpc.call('r1', call, { effect });
  t.strictSame(await rpc.call('r1', call, { effect }), first);
  t.equal(node.calls, 1);
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { paused: true })));
  t.strictSame(await rpc.call('r1', call, { effect }), first, 'what has happened is not refused');
});

t.test('a read, and what has no method, is asked for each time and leaves no trace', async (t) => {
  const { node, rpc, effect, world } = await askedNode(t);
  for (const call of [{ method: 'eth_blockNumber' }, {}]) {
    await rpc.call('r1', call, { effect });
    await rpc.call('r1', call, { effect });
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
  await t.rejects(rpc.call('r1', acting, { effect }), { message: 'the process dies' });
  await t.rejects(rpc.call('r1', sending, { effect: signed }), { message: 'the process dies' });
  node.answer = async () => ({ jsonrpc: '2.0', error: { code: -33_000, message: 'Request timeout', description: '' } });
  await t.rejects(rpc.call('r1', acting, { effect }), { code: 'EFFECT_UNKNOWN', status: 409 });
  t.match(await rpc.call('r1', sending, { effect: signed }), { error: { code: -33_000 } });
  node.answer = async () => ({ jsonrpc: '2.0', result: '0xhash' });
  t.match(await rpc.call('r1', sending, { effect: signed }), { result: '0xhash' });
  t.match(await rpc.call('r1', sending, { effect: signed }), { result: '0xhash' });
  t.equal(node.calls, 4);
});

t.test("a node's refusal is not the last word for a request, but is what a plugin goes on by", async (t) => {
  const { node, rpc, effect: step } = await askedNode(t);
  const sending = { method: 'eth_sendRawTransaction' };
  const refused: RpcOutcome = { jsonrpc: '2.0', error: { code: -32_000, message: 'nonce too low', description: '' } };
  const request = { ...step, occurrence: 1, isStep: false };
  node.answer = async () => refused;
  t.match(await rpc.call('r1', sending, { effect: step }), refused);
  t.match(await rpc.call('r1', sending, { effect: request }), refused);
  node.answer = async () => ({ jsonrpc: '2.0', result: '0xhash' });
  t.match(await rpc.call('r1', sending, { effect: step }), refused);
  t.match(await rpc.call('r1', sending, { effect: request }), { result: '0xhash' });
  t.equal(node.calls, 3);
});

t.test('which calls may do more than read: all that are not known to only read', (t) => {
  const acting = `eth_sendRawTransaction eth_sendTransaction eth_sendRawTransactionConditional eth_sign eth_submitWork
    eth_getWork eth_newFilter sendTransaction submitTransaction personal_sign personal_unlockAccount anvil_setBalance
    anvil_impersonateAccount hardhat_setCode evm_revert debug_setHead admin_addPeer miner_start engine_newPayloadV3
    parity_postTransaction pm_sponsorUserOperation eth_sendUserOperation wallet_addEthereumChain zks_sendRawTransactionWithDetailedOutput
    eth_call2 ETH_CALL some_unknownMethod requestAirdrop`;
  for (const method of acting.split(/\s+/)) t.ok(rpcMayAct({ method }), method);
  for (const method of [
    'eth_call',
    'eth_getLogs',
    'eth_blockNumber',
    'debug_traceTransaction',
    'net_version',
    'getBalance',
    'simulateTransaction',
  ]) {
    t.notOk(rpcMayAct({ method }), method);
  }
  for (const body of [{ method: 7 }, {}, null, [{ method: 'eth_call' }]]) {
    t.ok(rpcMayAct(body), 'whatever cannot be read');
  }
  t.end();
});

t.test('a batch has one outcome for each call, in order, also for what is none', async (t) => {
  const { node, rpc, world } = await askedNode(t);
  world.client.rpc = async (body) => {
    node.calls += 1;
    const { method, id = 1 } = body as { method?: string; id?: number };
    if (method === undefined) throw new AppError('INVALID_REQUEST', { reason: "Missing 'method' field" });
    return { jsonrpc: '2.0', result: method, id };
  };
  const calls = Array.from({ length: 100 }, (_, id) => ({ method: `eth_${id}`, id }));
  t.strictSame(
    await rpc.batch('r1', calls),
    calls.map(({ method: result, id }) => ({ jsonrpc: '2.0', result, id })),
  );
  t.match(await rpc.batch('r1', [7, { method: 'eth_call', id: 3 }]), [
    { error: { code: -32_600, message: 'Invalid Request', description: "Missing 'method' field" } },
    { result: 'eth_call', id: 3 },
  ]);
  for (const some of [[], Array.from({ length: 1_001 }, () => ({ method: 'eth_call' }))]) {
    await t.rejects(rpc.batch('r1', some), { code: 'INVALID_REQUEST' });
  }
  t.equal(node.calls, 102);
});

t.test('a call that fails is an entry of its own, and the others are answered', async (t) => {
  const { rpc, world } = await askedNode(t);
  world.client.rpc = async (body) => {
    const { method = '', id = 1 } = body as { method?: string; id?: number };
    if (method === 'eth_fails') throw new AppError('UNAVAILABLE', { reason: 'no signer' });
    if (method === 'eth_breaks') throw new Error('a fault of ours');
    return { jsonrpc: '2.0', result: method, id };
  };
  t.strictSame(
    await rpc.batch('r1', [
      { method: 'eth_fails', id: 'a' },
      { method: 'eth_call', id: 3 },
    ]),
    [
      { jsonrpc: '2.0', error: { code: -32_603, message: 'UNAVAILABLE', description: 'no signer' }, id: 'a' },
      { jsonrpc: '2.0', result: 'eth_call', id: 3 },
    ],
  );
  await t.rejects(rpc.batch('r1', [{ method: 'eth_breaks' }]), { message: 'a fault of ours' });
});

t.test('under one name the calls of a batch act once', async (t) => {
  const { node, rpc, effect, world } = await askedNode(t);
  const batch = [{ method: 'eth_call' }, { method: 'eth_sendTransaction' }];
  const first = await rpc.batch('r1', batch, { effect });
  t.strictSame(await rpc.batch('r1', batch, { effect }), first);
  t.equal(node.calls, 2);

  const reads = { ...effect, occurrence: 1 };
  await rpc.batch('r1', [{ method: 'eth_call' }, {}], { effect: reads });
  t.equal(await world.store.read.effect(reads), undefined);

  node.answer = () => Promise.reject(new Error('the process dies'));
  const [acting, signed] = [
    { ...effect, occurrence: 2 },
    { ...effect, occurrence: 3 },
  ];
  const sending = [{ method: 'eth_call' }, { method: 'eth_sendRawTransaction' }];
  await t.rejects(rpc.batch('r1', batch, { effect: acting }));
  await t.rejects(rpc.batch('r1', sending, { effect: signed }));
  node.answer = async () => ({ jsonrpc: '2.0', result: '0xhash' });
  await t.rejects(rpc.batch('r1', batch, { effect: acting }), { code: 'EFFECT_UNKNOWN' });
  t.match(await rpc.batch('r1', sending, { effect: signed }), [{ result: '0xhash' }, { result: '0xhash' }]);
});

t.test('a read that fails beside what acted does not let that be done again', async (t) => {
  const { node, rpc, effect: step } = await askedNode(t);
  const effect = { ...step, isStep: false };
  const batch = [{ method: 'eth_call' }, { method: 'eth_sendTransaction' }];
  const failed: RpcOutcome = { jsonrpc: '2.0', error: { code: 3, message: 'execution reverted', description: '' } };
  node.answer = async () => (node.calls === 1 ? failed : { jsonrpc: '2.0', result: '0xhash' });
  const first = await rpc.batch('r1', batch, { effect });
  t.match(first, [{ error: { code: 3 } }, { result: '0xhash' }]);
  t.strictSame(await rpc.batch('r1', batch, { effect }), first);
  t.equal(node.calls, 2);
});

/** A world whose family answers some methods itself, and a record of their runs. */
async function ownMethods(t: Test) {
  const world = await EngineWorld.open(t);
  const engine = world.engine();
  t.teardown(() => engine.close());
  await engine.start();
  const runs: string[] = [];
  const refusal = (params: unknown) => {
    if (params === 'refused') throw new OwnRefusal(-32_602, 'INVALID_PARAMS', 'refused');
  };
  const run = (kind: string) => async (params: unknown) => {
    runs.push(kind);
    refusal(params);
    return { run: runs.length };
  };
  const methods = new Map<string, LocalRpcMethod>([
    ['feeEstimate', { kind: 'answer', run: run('answer') }],
    ['signTransaction', { kind: 'sign', run: run('sign') }],
    [
      'signAndSendTransaction',
      {
        kind: 'send',
        body: (params) => ({ effect: params }),
        check: async ({ effect }) => refusal(effect),
        answer: ({ id }) => ({ id }),
        refusal: () => undefined,
      },
    ],
  ]);
  Object.assign(world.client, { methods });
  const list = async () => (await world.store.read.transactions('r1', { page: 1, perPage: 50 })).total;
  return { world, runs, list, rpc: world.services(engine).rpc, effect: await keyedEffect(world.store) };
}

t.test('what a family answers itself is passed through to nobody', async (t) => {
  const { world, rpc, runs } = await ownMethods(t);
  world.client.rpc = () => Promise.reject(new Error('passed through'));
  t.match(await rpc.call('r1', { method: 'feeEstimate', id: 9 }), { result: { method: 'feeEstimate', run: 1 }, id: 9 });
  t.match(await rpc.call('r1', { method: 'signTransaction', params: 'refused' }), { error: { code: -32_602 }, id: 1 });
  const outcomes = await rpc.batch('r1', [{ method: 'feeEstimate' }, { method: 'signTransaction' }]);
  t.match(outcomes, [{ result: { method: 'feeEstimate' } }, { result: { method: 'signTransaction' } }]);
  t.strictSame(runs, ['answer', 'sign', 'answer', 'sign']);
  await t.rejects(rpc.call('r1', { method: 'unknown' }), { message: 'passed through' });
});

t.test('under one name a family signs once, unless nobody knows what came of it', async (t) => {
  const { rpc, runs, effect, world } = await ownMethods(t);
  const call = { method: 'signTransaction' };
  const first = await rpc.call('r1', call, { effect });
  t.strictSame(await rpc.call('r1', call, { effect }), first);
  t.strictSame(runs, ['sign']);
  const begun = { ...effect, occurrence: 1 };
  await world.store.write((writer) => writer.insertEffect(begun, {}));
  t.match(await rpc.call('r1', call, { effect: begun }), { result: { method: 'signTransaction' } });
  t.strictSame(runs, ['sign', 'sign'], 'it is harmless to sign again');
});

t.test('under one name a family sends once, alone and in a batch', async (t) => {
  const { rpc, list, effect } = await ownMethods(t);
  const call = (params: string) => ({ method: 'signAndSendTransaction', params });
  const first = await rpc.call('r1', call('a'), { effect });
  t.match(first, { result: { method: 'signAndSendTransaction', id: String } });
  t.strictSame(await rpc.call('r1', call('a'), { effect }), first);
  t.equal(await list(), 1);
  const other = { ...effect, occurrence: 1, isStep: false };
  const batch = [call('b'), call('b'), { method: 'feeEstimate' }];
  const outcomes = await rpc.batch('r1', batch, { effect: other });
  t.strictSame(await rpc.batch('r1', batch, { effect: other }), outcomes);
  t.equal(await list(), 3);
});

t.test('a batch that sent before it was answered does not send again', async (t) => {
  const { rpc, list, effect: step } = await ownMethods(t);
  const effect = { ...step, isStep: false };
  const batch = [
    { method: 'signAndSendTransaction', params: 'b' },
    { method: 'feeEstimate', params: 'refused' },
  ];
  const outcomes = await rpc.batch('r1', [...batch, { method: 'signTransaction', params: 'refused' }], { effect });
  t.match(outcomes, [{ result: { id: String } }, { error: {} }, { error: {} }]);
  const again = await rpc.batch('r1', [...batch, { method: 'signTransaction', params: 'refused' }], { effect });
  t.strictSame(again[0], outcomes[0]);
  t.equal(await list(), 1);
});

t.test('with what a plugin was refused it is refused again; a request may be tried again', async (t) => {
  const { rpc, effect: step } = await ownMethods(t);
  const request = { ...step, occurrence: 1, isStep: false };
  const call = (params: string) => ({ method: 'signAndSendTransaction', params });
  for (const effect of [step, request])
    t.match(await rpc.call('r1', call('refused'), { effect }), { error: { code: -32_602 } });
  t.match(await rpc.call('r1', call('a'), { effect: step }), { error: { code: -32_602 } });
  t.match(await rpc.call('r1', call('a'), { effect: request }), { result: { id: String } });
});

t.test('the right `rpc` alone is for reading', async (t) => {
  const reading = `getBalance eth_call eth_newFilter eth_getFilterChanges eth_getWork debug_traceTransaction trace_block
    alchemy_getAssetTransfers bor_getAuthor arb_getRawBlockMetadata getAsset getAssetsByOwner getPriorityFeeEstimate
    searchAssets getFeeStats getLedgers getLedgerEntries simulateTransaction zks_estimateFee`;
  for (const method of reading.split(/\s+/)) t.strictSame(rpcRights({ method }), ['rpc'], method);
  for (const method of ['eth_sendRawTransaction', 'eth_sendRawTransactionSync', 'sendTransaction']) {
    t.strictSame(rpcRights({ method }), ['rpc', 'send'], method);
  }
  const acting = `eth_sendTransaction eth_sign eth_signTransaction eth_signTypedData_v4 personal_sign personal_getX
    personal_unlockAccount admin_addPeer admin_getX debug_setHead miner_start anvil_setBalance evm_mine hardhat_setCode
    engine_getPayloadV3 wallet_getPermissions pm_sponsorUserOperation eth_submitWork requestAirdrop some_unknownMethod
    ETH_SENDTRANSACTION getaway`;
  for (const method of acting.split(/\s+/)) {
    t.strictSame(rpcRights({ method }), ['rpc', 'send', 'sign'], method);
  }
  t.strictSame(rpcRights({ method: ' eth_call' }), ['rpc', 'send', 'sign']);
});

t.test('what a node may act on is in the audit before it is passed on', async (t) => {
  const { node, rpc, world } = await askedNode(t);
  const by = { keyId: 'k', requestId: 'q' };
  const passed = async () => (await world.store.read.auditRecords({ before: null, limit: 10 }, {})).items;
  node.answer = async () => {
    t.equal((await passed()).length, 1);
    return { jsonrpc: '2.0', result: '0xhash' };
  };
  const call = { method: 'eth_sendTransaction', params: [{ to: '0x1' }] };
  await rpc.call('r1', call, { actor: by });
  const [record] = await passed();
  t.match(record, { action: 'pass', resource: 'signature', resourceId: 'r1', keyId: 'k', requestId: 'q' });
  t.match(record?.after, { what: 'rpc', request: /eth_sendTransaction.*0x1/ });
  node.answer = async () => ({ jsonrpc: '2.0', result: '0x' });
  await rpc.batch('r1', [{ method: 'eth_call' }, { method: 'personal_sign' }, {}], { actor: by });
  t.equal((await passed()).length, 2, 'reads leave none');
});

t.test('for methods that sign or send a plugin needs just these rights', async (t) => {
  t.strictSame(rpcRights({ method: 'feeEstimate' }), ['rpc']);
  t.strictSame(rpcRights({ method: 'prepareTransaction' }), ['sign']);
  t.strictSame(rpcRights({ method: 'signAndSendTransaction' }), ['send']);
  t.strictSame(rpcRights(null), ['rpc']);
  t.notOk(rpcMayAct({ method: 'feeEstimate' }));
  t.ok(rpcMayAct({ method: 'signTransaction' }));
});
