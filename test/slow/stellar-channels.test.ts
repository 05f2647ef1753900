/**
 * The published channels plugin, unchanged, relays over channel accounts with its own calls to the service. The ledger
 * is the judge.
 */
import { Asset, Operation } from '@stellar/stellar-sdk';
import t from 'tap';
import { relay } from '../support/channels-client.ts';
import { manage, startChannels } from '../support/channels-scene.ts';
import { composeService } from '../support/composed-service.ts';
import { invoke } from '../support/stellar-contract-scene.ts';
import { LUMEN } from '../support/stellar-scene.ts';

const CHANNELS = 6;
const CALLERS = 20;

const world = await startChannels({ channels: CHANNELS, ledgerMs: 1_000, concurrency: CHANNELS });
const { scene, fund, channelIds } = world;
const { net, funded, signed, balanceOf } = scene;
t.teardown(() => world.stop());
const service = await composeService(world.workspace.env);
t.teardown(() => service.stop());

/** Calls as a client, and repeats until the task is done. */
const call = (params: object) => relay({ params, service: async () => service, isDone: async () => false });

t.test('it is managed', async (t) => {
  t.match((await call(manage('setChannelAccounts', { relayerIds: channelIds }))).data, { ok: true });
  t.same((await call(manage('listChannelAccounts'))).data, { relayerIds: channelIds });
  t.equal((await call(manage('stats'))).success, true);
});

t.test('what others have signed goes out in a fee bump of the fund', async (t) => {
  const [owner, to] = [await funded(), await funded()];
  const pays = Operation.payment({ destination: to.publicKey(), asset: Asset.native(), amount: '1' });
  const payment = await signed(owner, [pays], { with: (builder) => builder.setTimeout(40) });
  const { data } = await call({ xdr: payment.toXdr() });
  t.match(data, { status: 'confirmed', hash: /^[0-9a-f]{64}$/ });
  t.equal(await balanceOf(to.publicKey()), 101n * LUMEN);
  t.equal(await balanceOf(owner.publicKey()), 99n * LUMEN, 'it paid no fee');
  const found = await call({ getTransaction: { transactionId: data.transactionId } });
  t.match(found.data, { transactionId: data.transactionId, hash: data.hash });
});

t.test('a call is simulated, given a channel and paid for', async (t) => {
  const transfer = await world.transfer();
  const before = await balanceOf(fund);
  const answer = await call(transfer.params);
  t.match(answer.data, { status: 'confirmed', hash: /^[0-9a-f]{64}$/ }, JSON.stringify(answer));
  t.equal(await world.wrongIn(transfer), null);
  t.ok((await balanceOf(fund)) < before);
  const [one] = (await net.landed()).filter(({ hash }) => hash === answer.data.hash);
  t.ok(one);
  t.equal(one?.feeSource, fund);
  t.not(one?.source, fund, 'the sequence is the channel’s');
});

t.test('a call that only reads sends nothing', async (t) => {
  const probe = await net.contract('probe');
  const operation = invoke(probe, 'count');
  if (operation.body.type !== 'invokeHostFunction') throw new Error('a call');
  const func = operation.body.invokeHostFunctionOp.hostFunction.toXdr('base64');
  t.match((await call({ func, auth: [] })).data, { status: 'readonly', transactionId: null });
});

t.test('many callers at once wait for the channels: each effect once, and nobody is told of a sequence', async (t) => {
  const transfers = await Promise.all(Array.from({ length: CALLERS }, () => world.transfer()));
  const told: string[] = [];
  const answers = await Promise.all(
    transfers.map(({ params }) =>
      relay({
        params,
        service: async () => service,
        isDone: async () => false,
        heard: (_, body) => told.push(JSON.stringify(body)),
      }),
    ),
  );
  for (const answer of answers) t.match(answer.data, { status: 'confirmed' }, JSON.stringify(answer).slice(0, 500));
  for (const transfer of transfers) t.equal(await world.wrongIn(transfer), null);
  t.same(
    told.filter((text) => /bad_?seq|sequence \d+/i.test(text)),
    [],
  );
  t.same(
    told.filter((text) => text.includes('SANDBOX_LOST')),
    [],
    'no process was killed under them',
  );
  const landed = (await net.landed()).filter(({ hash }) => answers.some(({ data }) => data.hash === hash));
  t.equal(landed.length, CALLERS);
  t.ok(new Set(landed.map(({ source }) => source)).size > 1, 'over several channels');
});
