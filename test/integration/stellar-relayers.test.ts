/** The state of a Stellar relayer, on the tests' Stellar network. */
import { Operation } from '@stellar/stellar-sdk';
import t from 'tap';
import { openStellar } from '../support/stellar-client.ts';
import { LUMEN, startStellarScene } from '../support/stellar-scene.ts';

const scene = await startStellarScene();
t.teardown(() => scene.net.stop());
const { net, server, funded, signed, land } = scene;

function open(t: { teardown(end: () => Promise<void>): void }, urls: readonly string[], settings = {}) {
  const { client, close } = openStellar(urls, settings);
  t.teardown(close);
  return client;
}

t.test('the passphrase tells the network, and a wrong one is found out before anything is signed', async (t) => {
  t.equal(await open(t, [net.url]).identity(), net.passphrase);
  t.equal(await open(t, [net.url], { passphrase: net.passphrase }).identity(), net.passphrase);
  await t.rejects(open(t, [net.url], { passphrase: 'Another Network' }).identity(), {
    code: 'PROVIDER_FAILED',
    message: /serves chain Isolayer Test Network, not Another Network/,
  });
  const stray = await net.endpoint();
  await stray.setPassphrase('Another Network');
  t.equal(await open(t, [stray.url, net.url]).identity(net.passphrase), net.passphrase, 'one that is right is enough');
});

t.test('a balance and a sequence are those of the ledger', async (t) => {
  const client = open(t, [net.url]);
  const key = await funded(7n * LUMEN);
  const address = key.publicKey();
  const before = await client.sequences?.next(address, net.passphrase);
  t.equal(before, (await scene.sequenceOf(address)) + 1n);
  t.equal(await client.balance(address), 7n * LUMEN);
  await land(await signed(key, [Operation.bumpSequence({ bumpTo: String((before ?? 0n) + 99n) })]));
  t.equal(await client.sequences?.next(address, net.passphrase), (before ?? 0n) + 100n, 'a leap is legal');
  t.equal(await client.balance(address, { identity: net.passphrase }), 7n * LUMEN - 100n);
  const { sequence } = await server.getLatestLedger();
  t.match(await client.moment(net.passphrase), { height: BigInt(sequence) });
});

t.test('an account that is not there has nothing, and no sequence', async (t) => {
  const client = open(t, [net.url]);
  const nobody = 'GDLVVGABQKYQVN6VJP7NHSLEA45A5YLS6PNKMIZFV4BBU2HXA5IRVHUR';
  t.equal(await client.balance(nobody), 0n);
  await t.rejects(async () => client.sequences?.next(nobody), { code: 'PROVIDER_FAILED', message: /does not exist/ });
});

t.test('a node that lags makes no account poor, and takes no sequence back', async (t) => {
  const late = await net.endpoint({ behind: 3 });
  const key = await funded(20n * LUMEN);
  await land(await signed(key, [Operation.bumpSequence({ bumpTo: '0' })]));
  const client = open(t, [late.url, net.url]);
  const next = (await scene.sequenceOf(key.publicKey())) + 1n;
  t.equal(await client.sequences?.next(key.publicKey(), net.passphrase, next), next);
  t.equal(await client.sequences?.next(key.publicKey(), net.passphrase, null), next);
});

t.test('calls are passed through by the network’s own names', async (t) => {
  const client = open(t, [net.url]);
  t.match(await client.rpc({ jsonrpc: '2.0', id: '7', method: 'getHealth' }), {
    id: '7',
    result: { status: 'healthy' },
  });
  t.match(await client.rpc({ id: 1, method: 'getNetwork', params: {} }), { result: { passphrase: net.passphrase } });
  t.match(await client.rpc({ id: 1, method: 'nothing', params: {} }), { error: { code: -32601 } });
  t.match(await client.rpc({ id: 1, method: 'sendTransaction', params: { transaction: '!' } }), {
    error: { code: -32602 },
  });
});
