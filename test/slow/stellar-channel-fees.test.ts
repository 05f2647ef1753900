/**
 * The published channels plugin counts each client's fees, takes unsigned transactions, and can answer without waiting.
 */
import { Asset, Operation, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { relay } from '../support/channels-client.ts';
import { manage, startChannels } from '../support/channels-scene.ts';
import { composeService } from '../support/composed-service.ts';
import type { AnswerBody } from '../support/service.ts';
import { LUMEN } from '../support/stellar-scene.ts';

/** Per client, in stroops. */
const LIMIT = 1_000_000;
const settings = { API_KEY_HEADER: 'X-Client', FEE_LIMIT: String(LIMIT) };
const world = await startChannels({ channels: 2, ledgerMs: 1_000, concurrency: 2, settings });
const { scene, channelIds } = world;
const { funded, signed, balanceOf } = scene;
t.teardown(() => world.stop());
const service = await composeService(world.workspace.env);
t.teardown(() => service.stop());

/** Makes one call as the client of this name. */
const onceAs = (client: string | null) => async (plugin: string, params: unknown) => {
  const answer = await fetch(`${service.url}/api/v1/plugins/${plugin}/call`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${service.apiKey}`,
      'Content-Type': 'application/json',
      ...(client !== null && { 'x-client': client }),
    },
    body: JSON.stringify({ params }),
  });
  return { status: answer.status, body: (await answer.json()) as AnswerBody };
};
/** Calls as this client, and repeats until the task is done. */
const callAs = (client: string | null) => (params: object) =>
  relay({ params, isDone: async () => false, service: async () => ({ call: onceAs(client) }) });
const managed = async (action: string, more: object) => (await callAs(null)(manage(action, more))).data;
const ann = callAs('ann');
const to = await funded();
const payment = async () => {
  const pays = Operation.payment({ destination: to.publicKey(), asset: Asset.native(), amount: '1' });
  return (await signed(await funded(), [pays], { with: (builder) => builder.setTimeout(40) })).toXdr();
};

t.match(await managed('setChannelAccounts', { relayerIds: channelIds }), { ok: true });

t.test('a client pays fees up to its limit, and then nothing', async (t) => {
  t.match(await callAs(null)({ xdr: await payment() }), { success: false, data: { code: 'API_KEY_REQUIRED' } });
  t.match((await ann({ xdr: await payment() })).data, { status: 'confirmed' });
  const { consumed } = await managed('getFeeUsage', { apiKey: 'ann' });
  t.ok(consumed > 0 && consumed < LIMIT, `${consumed} stroops`);
  t.match(await managed('setFeeLimit', { apiKey: 'ann', limit: consumed }), { ok: true });
  const before = await balanceOf(to.publicKey());
  const refused = await ann({ xdr: await payment() });
  t.match(refused, { success: false, data: { code: 'FEE_LIMIT_EXCEEDED', details: { consumed, remaining: 0 } } });
  t.equal(await balanceOf(to.publicKey()), before);
  t.match((await callAs('bob')({ xdr: await payment() })).data, { status: 'confirmed' }, 'another has its own');
  await managed('setFeeLimit', { apiKey: 'ann', limit: Number(LUMEN) });
});

t.test('who does not wait has an id, and asks by it', async (t) => {
  const before = await balanceOf(to.publicKey());
  const { data } = (await onceAs('ann')('channels', { xdr: await payment(), skipWait: true })).body;
  t.match(data, { status: 'pending', transactionId: /./ });
  const found = await ann({ getTransaction: { transactionId: data.transactionId } });
  t.match(found.data, { transactionId: data.transactionId, status: 'confirmed' });
  t.equal(await balanceOf(to.publicKey()), before + LUMEN);
});

t.test('what nobody has signed yet is given a channel', async (t) => {
  const transfer = await world.transfer();
  const func = xdr.HostFunction.fromXdr(transfer.params.func, 'base64');
  const auth = transfer.params.auth.map((entry) => xdr.SorobanAuthorizationEntry.fromXdr(entry, 'base64'));
  const call = Operation.invokeHostFunction({ func, auth });
  const asked = await signed(await funded(), [call], { signers: [] });
  const answer = await ann({ xdr: asked.toXdr() });
  t.match(answer.data, { status: 'confirmed' }, JSON.stringify(answer));
  t.equal(await world.wrongIn(transfer), null);
  const paid = Operation.payment({ destination: to.publicKey(), asset: Asset.native(), amount: '1' });
  const classic = await signed(await funded(), [paid], { signers: [] });
  t.match(await ann({ xdr: classic.toXdr() }), { success: false, data: { code: 'INVALID_UNSIGNED_XDR' } });
});
