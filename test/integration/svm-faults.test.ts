/** The promise: the tests' SVM can produce the faults that happen on Solana. Solana's public client sees them. */
import { TOKEN_PROGRAM_ID } from '@solana/spl-token';
import { Connection, LAMPORTS_PER_SOL, type PublicKey } from '@solana/web3.js';
import t from 'tap';
import { startSvm } from '../doubles/svm/svm.ts';
import { anyone, CONFIRMED, post, refusalOf, startSvmScene, transfer } from '../support/svm-scene.ts';

const scene = await startSvmScene();
t.teardown(() => scene.svm.stop());
const { svm, connection, funded, signed, land, statusOf, answerTo } = scene;

t.test('a fork takes back what was confirmed', async (t) => {
  const [payer, to] = [await funded(), anyone()];
  const raw = await signed([payer], transfer(payer, to, 5_000_000));
  const slot = await connection.getSlot('processed');
  const signature = await land(raw);
  t.match(await statusOf(signature), { confirmationStatus: 'confirmed' });
  await svm.airdrop(payer.publicKey.toBase58(), 7n);
  await svm.fork(2);
  t.equal(await statusOf(signature), null);
  t.equal(await connection.getBalance(to, 'processed'), 0);
  t.equal(await connection.getBalance(payer.publicKey, 'processed'), 10 * LAMPORTS_PER_SOL + 7, 'all but the gift');
  t.ok((await connection.getSlot('processed')) > slot + 2, 'slots go on');
  t.equal(await land(raw), signature, 'the same bytes are good again');
  await svm.fork(2, { again: true });
  t.match(await statusOf(signature), { confirmationStatus: 'processed' }, 'the node offered them anew');
  await t.rejects(svm.fork(3), { message: /Final blocks stay: 2 can be/ }, 'the chain has become shorter');
});

t.test('a transaction is lost, late or offered to a node that is behind', async (t) => {
  const payer = await funded();
  const send = async (lamports: number) =>
    connection.sendRawTransaction(await signed([payer], transfer(payer, payer.publicKey, lamports)));
  await svm.dropNext(1);
  const lost = await send(1);
  await svm.landLater(2);
  const late = await send(2);
  await svm.landLater(0);
  await svm.tick(2);
  t.equal(await statusOf(late), null);
  await svm.tick();
  t.match(await statusOf(late), { confirmationStatus: 'processed' });
  t.equal(await statusOf(lost), null);
  const offers = await svm.offers();
  t.same(offers.slice(-2), [lost, late]);

  const second = await svm.endpoint({ behind: 1 });
  const elsewhere = new Connection(second.url, 'confirmed');
  t.equal((await elsewhere.getSignatureStatus(late)).value, null);
  t.equal(await elsewhere.getSlot('processed'), (await connection.getSlot('processed')) - 1);
  await second.setIll(40);
  t.match(await refusalOf(second.rpc('getHealth')), 'Node is behind by 40 slots');
  t.equal(await svm.rpc('getHealth'), 'ok');
});

t.test('history is pruned', async (t) => {
  const payer = await funded();
  const signature = await land(await signed([payer], transfer(payer, payer.publicKey, 1)));
  await svm.tick(400);
  t.equal(await statusOf(signature), null, 'the status cache is short');
  const searched = await connection.getSignatureStatus(signature, { searchTransactionHistory: true });
  t.match(searched.value, { confirmationStatus: 'finalized' });
  const { slot } = searched.value ?? { slot: 0 };
  await svm.pruneHistory();
  const again = await connection.getSignatureStatus(signature, { searchTransactionHistory: true });
  t.equal(again.value, null);
  t.equal(await connection.getTransaction(signature), null);
  t.match(await answerTo('getBlock', slot), { error: { code: -32001 } });
});

t.test('calls fail, lie and go unanswered as they are told', async (t) => {
  const payer = await funded();
  await svm.fault({ methods: ['getSlot'], times: 1, act: { kind: 'result', result: 5 } });
  await svm.fault({
    methods: ['getSlot'],
    times: 1,
    act: { kind: 'error', code: -32005, message: 'Node is unhealthy' },
  });
  await svm.fault({ methods: ['getSlot'], times: 1, act: { kind: 'http', status: 429, body: 'slow down' } });
  await svm.fault({ methods: ['sendTransaction'], times: 1, afterMs: 5, act: { kind: 'cut' } });
  t.match(await answerTo('getSlot'), { result: 5 });
  t.match(await answerTo('getSlot'), { error: { code: -32005 } });
  t.equal((await post(svm.url, { jsonrpc: '2.0', id: 1, method: 'getSlot' })).status, 429);
  const raw = await signed([payer], transfer(payer, payer.publicKey, 1));
  await t.rejects(answerTo('sendTransaction', raw.toString('base64'), CONFIRMED), 'no answer comes');
  await svm.tick();
  const [signature] = (await svm.landed()).slice(-1);
  t.match(await statusOf(signature?.signature ?? ''), { confirmationStatus: 'processed' }, 'it was done');
  t.equal((await svm.calls('sendTransaction')) > 0, true);
});

t.test('fees and accounts are what they are set to', async (t) => {
  const [busy, quiet] = [anyone(), anyone()];
  await svm.setPrioritizationFee(10);
  await svm.setPrioritizationFee(700, busy.toBase58());
  const feesOf = async (...keys: PublicKey[]) => {
    const fees = await connection.getRecentPrioritizationFees({ lockedWritableAccounts: keys });
    return [...new Set(fees.map(({ prioritizationFee }) => prioritizationFee))];
  };
  t.same(await feesOf(quiet), [10]);
  t.same(await feesOf(quiet, busy), [700]);
  await svm.setPrioritizationFee(0);
  const owner = TOKEN_PROGRAM_ID.toBase58();
  await svm.setAccount(quiet.toBase58(), { lamports: 2n ** 60n, data: new Uint8Array([1, 2]), owner });
  t.match(await connection.getAccountInfo(quiet, 'finalized'), { data: Buffer.from([1, 2]), owner: TOKEN_PROGRAM_ID });
  const raw = await post(svm.url, { jsonrpc: '2.0', id: 1, method: 'getBalance', params: [quiet.toBase58()] });
  t.match(await raw.text(), '"value":1152921504606846976', 'all digits are told');
});

t.test('blocks come by themselves', async (t) => {
  const lively = await startSvm({ slotMs: 20 });
  t.teardown(() => lively.stop());
  const client = new Connection(lively.url, 'processed');
  const before = await client.getBlockHeight();
  while ((await client.getBlockHeight()) < before + 3) await new Promise((resolve) => setTimeout(resolve, 20));
  await lively.pause();
  const height = await client.getBlockHeight();
  await lively.tick();
  t.equal(await client.getBlockHeight(), height + 1);
  await lively.stop();
  await lively.stop();
});
