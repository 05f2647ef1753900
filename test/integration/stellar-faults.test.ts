/**
 * The promise: the tests' Stellar network can produce the faults that happen on Stellar. Stellar's public client sees
 * them.
 */
import { Account, Asset, Keypair, Operation, rpc } from '@stellar/stellar-sdk';
import t from 'tap';
import { startStellar } from '../doubles/stellar/stellar-net.ts';
import { LUMEN, startStellarScene } from '../support/stellar-scene.ts';

const scene = await startStellarScene();
t.teardown(() => scene.net.stop());
const { net, server, funded, signed, bumped, send, land, balanceOf, sequenceOf } = scene;

const pay = (to: Keypair, amount = '1') =>
  Operation.payment({ destination: to.publicKey(), amount, asset: Asset.native() });
const hashOf = (transaction: { hash(): Uint8Array }) => Buffer.from(transaction.hash()).toString('hex');
const clientOf = (url: string) => new rpc.Server(url, { allowHttp: true });

t.test('a node that is behind tells the past, and takes in what the network has done already', async (t) => {
  const [payer, to] = [await funded(), await funded()];
  const late = await net.endpoint({ behind: 2 });
  const client = clientOf(late.url);
  const transaction = await signed(payer, [pay(to)]);
  t.equal((await client.sendTransaction(transaction)).status, 'PENDING');
  await net.tick();
  t.match(await server.getTransaction(hashOf(transaction)), { status: 'SUCCESS' }, 'it went from node to node');
  t.match(await client.getTransaction(hashOf(transaction)), { status: 'NOT_FOUND' });
  t.equal((await client.sendTransaction(transaction)).status, 'DUPLICATE', 'the node waits for it still');
  const { sequence } = await client.getLatestLedger();
  t.equal(sequence, (await server.getLatestLedger()).sequence - 2);
  t.equal((await client.getAccountEntry(payer.publicKey())).seqNum, BigInt(transaction.sequence) - 1n);
  const rival = await signed(payer, [pay(to, '2')], { sequence: BigInt(transaction.sequence) });
  t.equal(await send(rival), 'txBadSeq');
  t.equal((await client.sendTransaction(rival)).status, 'TRY_AGAIN_LATER');
  await net.tick(2);
  t.match(await client.getTransaction(hashOf(transaction)), { status: 'SUCCESS' });

  const other = await funded();
  const first = await signed(other, [pay(to)]);
  await land(first);
  const newcomer = await net.endpoint({ behind: 3 });
  const second = await signed(other, [pay(to, '2')], { sequence: BigInt(first.sequence) });
  const taken = await clientOf(newcomer.url).sendTransaction(second);
  t.equal(taken.status, 'PENDING', 'it takes a sequence for free that is used');
  await newcomer.setBehind(0);
  t.match(await clientOf(newcomer.url).getTransaction(hashOf(first)), { status: 'SUCCESS' });
  t.equal(
    (await clientOf(newcomer.url).sendTransaction(second)).status,
    'TRY_AGAIN_LATER',
    'it has dropped the second',
  );
});

t.test('a transaction is lost, or late', async (t) => {
  const [payer, other, to] = [await funded(), await funded(), await funded()];
  await net.dropNext(1);
  const lost = await signed(payer, [pay(to)]);
  t.equal(await send(lost), 'PENDING');
  await net.landLater(2);
  const late = await signed(other, [pay(to)]);
  t.equal(await send(late), 'PENDING');
  await net.landLater(0);
  await net.tick(2);
  t.match(await server.getTransaction(hashOf(late)), { status: 'NOT_FOUND' });
  await net.tick();
  t.match(await server.getTransaction(hashOf(late)), { status: 'SUCCESS' });
  t.match(await server.getTransaction(hashOf(lost)), { status: 'NOT_FOUND' });
  t.equal(await send(lost), 'DUPLICATE');
  t.same((await net.offers()).slice(-3), [hashOf(lost), hashOf(late), hashOf(lost)]);
});

t.test('history is pruned', async (t) => {
  const payer = await funded();
  const transaction = await signed(payer, [pay(payer)]);
  await land(transaction);
  await net.tick();
  t.match(await server.getTransaction(hashOf(transaction)), { status: 'SUCCESS' });
  await net.pruneHistory();
  const told = await server.getTransaction(hashOf(transaction));
  t.match(told, { status: 'NOT_FOUND', oldestLedger: told.latestLedger });
  const short = await startStellarScene({ retention: 3 });
  t.teardown(() => short.net.stop());
  const owner = await short.funded();
  const kept = await short.signed(owner, [pay(owner)]);
  await short.land(kept);
  await short.net.tick(2);
  t.match(await short.server.getTransaction(hashOf(kept)), { status: 'SUCCESS' });
  await short.net.tick();
  t.match(await short.server.getTransaction(hashOf(kept)), { status: 'NOT_FOUND' });
});

t.test('calls fail, lie and go unanswered as they are told', async (t) => {
  const payer = await funded();
  const methods = ['getLatestLedger'];
  await net.fault({ methods, times: 1, act: { kind: 'error', code: -32603, message: 'could not get latest ledger' } });
  await net.fault({ methods, times: 1, act: { kind: 'http', status: 429, body: 'slow down' } });
  await net.fault({ methods, times: 1, act: { kind: 'http', status: 504 } });
  await net.fault({ methods, times: 1, act: { kind: 'http', status: 200, body: '<html>' } });
  await net.fault({ methods, times: 1, act: { kind: 'refuse' } });
  await net.fault({ methods, times: 1, act: { kind: 'merge', fields: { sequence: 5, headerXdr: null } } });
  await t.rejects(net.rpc('getLatestLedger'), /could not get latest ledger/);
  t.same([await status('getLatestLedger'), await status('getLatestLedger')], [429, 504]);
  await t.rejects(net.rpc('getLatestLedger'), /JSON/);
  await t.rejects(net.rpc('getLatestLedger'), /fetch failed/);
  const lie = (await net.rpc('getLatestLedger')) as Record<string, unknown>;
  t.match(lie, { sequence: 5, headerXdr: undefined, id: String });

  await net.fault({ methods: ['sendTransaction'], times: 1, afterMs: 5, act: { kind: 'cut' } });
  const transaction = await signed(payer, [pay(payer)]);
  await t.rejects(server.sendTransaction(transaction), 'no answer comes');
  t.equal(await send(transaction), 'DUPLICATE', 'it was taken in');
  await net.tick();
  t.match(await server.getTransaction(hashOf(transaction)), { status: 'SUCCESS' });
  t.ok((await net.calls('sendTransaction')) > 0);
  await net.fault({ methods: ['getHealth'], act: { kind: 'result', result: { status: 'fine' } } });
  t.match(await net.rpc('getHealth'), { status: 'fine' });
  await net.clearFaults();
  t.match(await net.rpc('getHealth'), { status: 'healthy' });
  await net.setIll('latency (45s) since last known ledger closed is too high (>30s)');
  await t.rejects(server.getHealth(), { message: /too high/ });
  await net.setIll(null);
});

const status = async (method: string): Promise<number> => {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method });
  return (await fetch(net.url, { method: 'POST', headers, body })).status;
};

t.test('a node says that it belongs to another network', async (t) => {
  await net.setPassphrase('Public Global Stellar Network ; September 2015');
  t.match(await server.getNetwork(), { passphrase: 'Public Global Stellar Network ; September 2015' });
  const payer = await funded();
  const foreign = await signed(payer, [pay(payer)], { passphrase: 'Public Global Stellar Network ; September 2015' });
  t.equal(await send(foreign), 'txBadAuth');
  await net.setPassphrase(net.passphrase);
});

t.test('the chain starts anew', async (t) => {
  const fresh = await startStellarScene();
  t.teardown(() => fresh.net.stop());
  const payer = await fresh.funded();
  const transaction = await fresh.signed(payer, [pay(payer)]);
  await fresh.land(transaction);
  await fresh.net.tick(5);
  const before = await fresh.server.getLatestLedger();
  await fresh.net.reset();
  const after = await fresh.server.getLatestLedger();
  t.ok(after.sequence < before.sequence);
  t.not(after.id, before.id);
  t.match(await fresh.server.getNetwork(), { passphrase: fresh.net.passphrase });
  t.match(await fresh.server.getTransaction(hashOf(transaction)), { status: 'NOT_FOUND' });
  await t.rejects(fresh.balanceOf(payer.publicKey()), /Account not found/);
  await fresh.net.fund(payer.publicKey(), 10n * LUMEN);
  t.equal(await fresh.sequenceOf(payer.publicKey()), BigInt(after.sequence) << 32n, 'accounts begin again');
});

t.test('a transaction goes out bare, and bumped by somebody else', async (t) => {
  const [owner, one, two] = [await funded(), await funded(), await funded()];
  const inner = await signed(owner, [pay(one)]);
  const other = await net.endpoint();
  await net.dropNext(1);
  t.equal(await send(bumped(inner, one, 200n)), 'PENDING');
  const rival = bumped(inner, two, 300n);
  t.equal((await clientOf(other.url).sendTransaction(rival)).status, 'PENDING');
  await net.tick();
  t.match(await server.getTransaction(hashOf(rival)), { status: 'SUCCESS' });
  t.match(await server.getTransaction(hashOf(bumped(inner, one, 200n))), { status: 'NOT_FOUND' });
  t.match(await server.getTransaction(hashOf(inner)), { status: 'SUCCESS', txHash: hashOf(inner) });
  t.equal(await sequenceOf(owner.publicKey()), BigInt(inner.sequence));
  t.equal(await balanceOf(one.publicKey()), 101n * LUMEN, 'the first bump cost nothing');
});

t.test('ledgers close by themselves', async (t) => {
  const lively = await startStellar({ ledgerMs: 20 });
  t.teardown(() => lively.stop());
  const client = clientOf(lively.url);
  const before = (await client.getLatestLedger()).sequence;
  while ((await client.getLatestLedger()).sequence < before + 3)
    await new Promise((resolve) => setTimeout(resolve, 20));
  await lively.pause();
  const { sequence } = await client.getLatestLedger();
  t.equal(await lively.tick(), sequence + 1);
  t.equal(new Account(Keypair.random().publicKey(), '1').sequenceNumber(), '1');
  await lively.stop();
  await lively.stop();
});
