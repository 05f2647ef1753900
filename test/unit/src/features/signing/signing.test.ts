import t from 'tap';
import type { RelayerAccount } from '../../../../../src/chains/chain-client.ts';
import type { Signer } from '../../../../../src/signers/signer.ts';
import { EngineWorld, relayerNamed } from '../../../../support/engine-world.ts';
import { keyedEffect } from '../../../../support/keyed-effect.ts';

t.test('the chain signs what the body says', async (t) => {
  const world = await EngineWorld.open(t);
  t.strictSame(await world.services().signing.signTransaction('r1', { a: 1 }), { signed: '{"a":1}' });
});

t.test('a paused or disabled relayer signs nothing', async (t) => {
  const world = await EngineWorld.open(t);
  const { signing } = world.services();
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { paused: true })));
  await t.rejects(signing.signTransaction('r1', {}), { code: 'RELAYER_PAUSED' });
  const disabledReason = { type: 'BalanceCheckFailed', details: 'Insufficient balance' } as const;
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { disabledReason })));
  await t.rejects(signing.signTransaction('r1', {}), { code: 'RELAYER_DISABLED' });
  await t.rejects(signing.signTransaction('none', {}), { code: 'RELAYER_NOT_FOUND' });
});

t.test('the family signs texts and typed data, gated alike; one that cannot says so', async (t) => {
  const world = await EngineWorld.open(t);
  const { signing } = world.services();
  for (const [method, what] of [
    ['signMessage', 'Signing messages'],
    ['signTypedData', 'Signing typed data'],
  ] as const) {
    await t.rejects(signing[method]('r1', {}), {
      code: 'NOT_SUPPORTED',
      status: 501,
      message: `${what} is not supported for evm relayers`,
    });
    Object.assign(world.family, {
      [method]: async (body: unknown, { address }: RelayerAccount, { id }: Signer) => ({
        body: JSON.stringify(body),
        address,
        id,
      }),
    });
    t.match(await signing[method]('r1', { a: 1 }), { body: '{"a":1}', address: '0xaa', id: world.signer.id });
    await t.rejects(signing[method]('none', {}), { code: 'RELAYER_NOT_FOUND' });
  }
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { paused: true })));
  await t.rejects(signing.signMessage('r1', {}), { code: 'RELAYER_PAUSED' });
  await t.rejects(signing.signTypedData('r1', {}), { code: 'RELAYER_PAUSED' });
});

t.test('what a family does not have is refused in its own words, where it has some', async (t) => {
  const world = await EngineWorld.open(t);
  const { signing } = world.services();
  Object.assign(world.family, {
    description: { ...world.family.description, refusals: { typedData: 'No typed data', sponsorship: 'No sponsors' } },
  });
  await t.rejects(signing.signTypedData('r1', {}), { code: 'INVALID_REQUEST', status: 400, message: 'No typed data' });
  await t.rejects(signing.quoteSponsored('r1', {}), { code: 'INVALID_REQUEST', message: 'No sponsors' });
  await t.rejects(signing.signMessage('r1', {}), { code: 'NOT_SUPPORTED' });
});

t.test('a family that signs no transactions without sending them says so', async (t) => {
  const world = await EngineWorld.open(t);
  Object.assign(world.client, { signTransaction: undefined });
  await t.rejects(world.services().signing.signTransaction('r1', {}), {
    code: 'NOT_SUPPORTED',
    message: 'Signing transactions is not supported for evm relayers',
  });
});

t.test('a transaction is signed for the chain that the network is pinned to', async (t) => {
  const world = await EngineWorld.open(t);
  const asked: (string | undefined)[] = [];
  world.client.signTransaction = async (_body: unknown, account?: RelayerAccount) => {
    asked.push(account?.identity);
    return {};
  };
  await world.services().signing.signTransaction('r1', {});
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r2', { network: 'new' })));
  await world.services().signing.signTransaction('r2', {});
  t.strictSame(asked, ['31337', undefined]);
});

t.test('what users pay is quoted and built by the family, for the chain that the network is pinned to', async (t) => {
  const world = await EngineWorld.open(t);
  const { signing } = world.services();
  const unsupported = { code: 'NOT_SUPPORTED', message: 'Sponsoring transactions is not supported for evm relayers' };
  await t.rejects(signing.quoteSponsored('r1', {}), unsupported);
  await t.rejects(signing.buildSponsored('r1', {}), unsupported);
  const echo = async (body: unknown, { address, identity }: RelayerAccount, signer?: Signer) => ({
    body: JSON.stringify(body),
    address,
    identity,
    signer: signer?.id,
  });
  Object.assign(world.client, { sponsorship: { quote: echo, build: echo } });
  const asked = { body: '{"a":1}', address: '0xaa', identity: '31337' };
  t.match(await signing.quoteSponsored('r1', { a: 1 }), { ...asked, signer: undefined });
  t.match(await signing.buildSponsored('r1', { a: 1 }), { ...asked, signer: world.signer.id });
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { paused: true })));
  await t.rejects(signing.quoteSponsored('r1', {}), { code: 'RELAYER_PAUSED' });
  await t.rejects(signing.buildSponsored('r1', {}), { code: 'RELAYER_PAUSED' });
});

t.test('each signature leaves a record, one under a key once, and what was refused leaves none', async (t) => {
  const world = await EngineWorld.open(t);
  const { signing } = world.services();
  const by = { keyId: 'k1', requestId: 'q1' };
  const records = async () => (await world.store.read.auditRecords({ before: null, limit: 10 }, {})).items;
  await signing.signTransaction('r1', { a: 1 }, { actor: by });
  const effect = await keyedEffect(world.store);
  await signing.signTransaction('r1', { a: 2 }, { effect, actor: { ...by, pluginId: 'p' } });
  await signing.signTransaction('r1', { a: 2 }, { effect, actor: { ...by, pluginId: 'p' } });
  await t.rejects(signing.signMessage('r1', { message: 'x' }, { actor: by }), { code: 'NOT_SUPPORTED' });
  t.match(await records(), [
    { action: 'sign', resourceId: 'r1', after: { plugin_id: 'p', what: 'transaction', request: '{"a":2}' } },
    { action: 'sign', resourceId: 'r1', keyId: 'k1', after: { what: 'transaction', request: '{"a":1}' } },
  ]);
  t.equal((await records()).length, 2);
});
