import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transaction as EthersTransaction, encryptKeystoreJsonSync } from 'ethers';
import t from 'tap';
import type { ChainClient } from '../../../../../src/chains/chain-client.ts';
import { evm } from '../../../../../src/chains/evm/configuration/family.ts';
import { createEvmChain } from '../../../../../src/chains/evm/index.ts';
import { isReadMethod } from '../../../../../src/chains/evm/rpc-methods.ts';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { createSignerKinds, openSigner } from '../../../../../src/signers/registry.ts';
import { startAnvil } from '../../../../support/anvil.ts';
import {
  openEvm,
  openRpc,
  sendThrough,
  sequencesOf,
  signerOf,
  storedTransaction,
  untilIncluded,
} from '../../../../support/evm.ts';
import { NO_MARKET } from '../../../../support/no-market.ts';
import { answersByMethod, startRpcDouble } from '../../../../support/rpc-double.ts';
import { signerTools } from '../../../../support/signer-tools.ts';

/** Returns the client's function that signs a transaction without sending it. */
function signUnsent({ signTransaction }: ChainClient): NonNullable<ChainClient['signTransaction']> {
  if (signTransaction === undefined) throw new Error('the family signs what is not sent');
  return signTransaction;
}

const RECEIVER = '0x00000000000000000000000000000000000000b0';

t.test('against a real node', async (t) => {
  const anvil = await startAnvil();
  t.teardown(() => anvil.stop());
  const [alice, bob] = anvil.accounts;
  if (alice === undefined || bob === undefined) throw new Error('anvil has accounts');
  const { client, rpc } = openEvm([anvil.url]);
  t.teardown(() => rpc.close());

  await t.test('a keystore sends both transaction types, and the depth makes them final', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'isolayer-evm-'));
    t.teardown(() => rm(folder, { recursive: true }));
    const path = join(folder, 'key.json');
    await writeFile(path, encryptKeystoreJsonSync(alice, 'open sesame', { scrypt: { N: 1024, r: 8, p: 1 } }));
    const entry = { id: 'demo', type: 'local', config: { path, passphrase: { type: 'env', value: 'PASS' } } };
    const signer = await openSigner(createSignerKinds(), entry, signerTools('open sesame'));
    t.teardown(() => signer.close());

    const account = { address: alice.address, policies: {} };
    const legacy = { to: RECEIVER, value: '1000', gas_price: 3_000_000_000 };
    const bySpeed = { to: RECEIVER, value: 1, data: '0x', speed: 'fast' };
    for (const [body, type] of [
      [legacy, 0],
      [bySpeed, 2],
    ] as const) {
      const sent = await sendThrough(client, account, signer, body);
      const decoded = EthersTransaction.from(sent.attempt.raw);
      t.match(decoded, { type, chainId: 31_337n, from: decoded.from, hash: sent.attempt.hash });
      t.equal(decoded.from?.toLowerCase(), alice.address);

      const mined = await untilIncluded(client, sent.entry);
      t.match(mined, { kind: 'included', hash: sent.attempt.hash, succeeded: true, final: false, reason: null });
      await anvil.rpc('anvil_mine', ['0x1']);
      t.match(await client.observe([sent.entry]), [{ kind: 'included', final: true }]);
    }
    t.equal(await client.balance(RECEIVER), 1001n);
    t.equal(await sequencesOf(client).next(alice.address), 2n);
  });

  await t.test('an unknown network needs nothing but an address of a node', async (t) => {
    t.match(await client.identity(), /^31337@[0-9a-f]{16}$/, 'each start of it is another chain');
    const account = { address: bob.address, policies: {} };
    const pending = storedTransaction(account, { to: RECEIVER, value: 1, speed: 'average' });
    const prepared = await client.prepare(pending, account, { committed: 0n });
    t.match(prepared, { kind: 'ready', fields: { chain_id: 31_337 } });
    t.ok(prepared.kind === 'ready' && 'max_fee_per_gas' in prepared.fields, 'a block showed that it knows EIP-1559');
  });

  await t.test('it tells its own time, which goes on with its blocks', async (t) => {
    const before = await client.moment('31337');
    await anvil.rpc('evm_setNextBlockTimestamp', [Math.floor(before.at / 1_000) + 90]);
    await anvil.rpc('anvil_mine', ['0x1']);
    t.strictSame(await client.moment('31337'), { height: before.height + 1n, at: before.at + 90_000 });
    await t.rejects(client.moment('5'), { code: 'PROVIDER_FAILED' }, 'the time of another chain');
  });

  await t.test('a signer of another account signs nothing', async (t) => {
    const account = { address: bob.address, policies: {} };
    await t.rejects(sendThrough(client, account, signerOf(alice), { to: RECEIVER, value: 1, speed: 'fast' }), {
      code: 'SIGNER_FAILED',
      message: /its key is that of/,
    });
  });

  await t.test('what consumes no nonce is not signed', async (t) => {
    const account = { address: alice.address, policies: {} };
    const pending = storedTransaction(account, { to: RECEIVER, value: 1, speed: 'average' });
    for (const anchor of [{ kind: 'none' }, { kind: 'text', text: '7' }] as const) {
      await t.rejects(async () => client.sign(pending, {}, anchor, signerOf(alice)), {
        message: `an EVM transaction has a nonce, not an anchor of kind ${anchor.kind}`,
      });
    }
  });

  await t.test(
    'a transaction can be signed without being sent, for the chain that is declared or pinned',
    async (t) => {
      const account = { address: alice.address, policies: {} };
      const body = { to: RECEIVER, value: 1, nonce: 99, gas_limit: 21_000, gas_price: 1 };
      const signed = await signUnsent(client)(body, { ...account, identity: '31337' }, signerOf(alice));
      t.match(EthersTransaction.from(String(signed['transaction'])), { nonce: 99, chainId: 31_337n });
      await t.rejects(signUnsent(client)(body, account, signerOf(alice)), { code: 'RELAYER_DISABLED' });
      const declared = openEvm([], { chain_id: 5 });
      t.teardown(() => declared.rpc.close());
      t.match(await signUnsent(declared.client)(body, account, signerOf(alice)), { chain_id: 5n });
    },
  );
});

t.test('the chain behind the endpoints', async (t) => {
  const served = (chain: string) => startRpcDouble(answersByMethod({ eth_chainId: chain }));
  const one = await served('0x1');
  const other = await served('0x7a69');
  const broken = await startRpcDouble(answersByMethod({ eth_chainId: 'mainnet' }));
  t.teardown(() => Promise.all([one.stop(), other.stop(), broken.stop()]));
  const told: string[] = [];
  const identity = async (urls: string[], settings = {}) => {
    const { client, rpc } = openEvm(urls, settings);
    told.length = 0;
    try {
      return await client.identity(undefined, (_host, chain) => told.push(chain));
    } finally {
      await rpc.close();
    }
  };

  t.equal(await identity([one.url]), '1');
  t.strictSame(told, ['1']);
  t.equal(await identity([broken.url, one.url]), '1', 'an endpoint that says nothing does not count');
  await t.rejects(identity([one.url, other.url]), {
    code: 'PROVIDER_FAILED',
    message: `The RPC endpoints of network testnet failed: 127.0.0.1:${other.port} serves chain 31337, not 1`,
  });
  await t.rejects(identity([one.url], { chain_id: 137 }), { message: /serves chain 1, not 137$/ });
  t.strictSame(told, ['1'], 'what is served is told also where it is wrong');
  await t.rejects(identity([broken.url]), { message: /has no chain id$/ });
  await t.rejects(identity([]), { message: /no endpoint is switched on$/ });
  await other.stop();
  await t.rejects(identity([other.url]), { code: 'PROVIDER_FAILED', message: /ECONNREFUSED/ });
});

t.test('a failure of the endpoints is a provider failure', async (t) => {
  const rpc = openRpc([]);
  t.teardown(() => rpc.close());
  const network = { type: 'evm' as const, name: 'nowhere', rpcUrls: [], settings: {} };
  const client = createEvmChain(systemClock).connect(network, rpc, NO_MARKET);
  await t.rejects(client.balance(RECEIVER), {
    code: 'PROVIDER_FAILED',
    message: /network nowhere failed: no RPC endpoint/,
  });
});

t.test('what the chain says of itself', async (t) => {
  const chain = createEvmChain(systemClock);
  t.match(chain, { type: 'evm', curve: 'secp256k1', unit: 'wei', sequence: { statusKey: 'nonce' } });
  t.equal(chain.builtInNetworks.length, 58);
  for (const entry of chain.builtInNetworks) {
    const { type, network, rpc_urls: urls, ...settings } = entry;
    t.ok(chain.networkSchema.safeParse(settings).success, `${String(network)} has the form of an entry`);
    t.equal(type, 'evm');
    const isLocal = String(network).startsWith('localhost-');
    t.ok(isLocal || (urls as string[]).some((url) => url.startsWith('https://')), `${String(network)} has an endpoint`);
  }
  const ids = new Set(chain.builtInNetworks.map(({ network }) => network));
  t.equal(ids.size, 58, 'no name twice');
});

t.test('an endpoint that moves to another chain', async (t) => {
  const anvil = await startAnvil({ args: ['--no-mining'] });
  const other = await startAnvil({ args: ['--chain-id', '4242'] });
  let node = anvil;
  const moving = await startRpcDouble(async ({ method, params }) => {
    try {
      return { result: await node.rpc(method, params) };
    } catch (error) {
      return { error: { code: -32_000, message: String(error) } };
    }
  });
  const { client, rpc } = openEvm([moving.url]);
  t.teardown(() => Promise.all([rpc.close(), moving.stop(), anvil.stop(), other.stop()]));
  const [alice, bob] = anvil.accounts;
  if (alice === undefined || bob === undefined) throw new Error('anvil has accounts');
  const account = { address: alice.address, policies: {} };
  const body = { to: RECEIVER, value: 1, speed: 'fast' };
  const isRefused = { code: 'PROVIDER_FAILED', message: /it serves chain 4242, not 31337$/ };

  await t.test('before the first transaction: nothing is signed for that chain', async (t) => {
    node = other;
    await t.rejects(client.prepare(storedTransaction(account, body), account, { committed: 0n }), isRefused);
    await t.rejects(sequencesOf(client).next(alice.address, '31337'), isRefused);
  });

  await t.test('after a broadcast: a nonce that is used there proves nothing here', async (t) => {
    node = anvil;
    const { entry } = await sendThrough(client, account, signerOf(alice), body);
    node = other;
    await other.rpc('eth_sendTransaction', [{ from: alice.address, to: bob.address, value: '0x1' }]);
    await other.rpc('anvil_mine', ['0x5']);
    await t.rejects(client.observe([entry]), isRefused);
    node = anvil;
    await anvil.rpc('anvil_mine', ['0x3']);
    t.match(await client.observe([entry]), [{ kind: 'included', succeeded: true, final: true }]);
    t.same(await client.observe([]), []);
  });
});

t.test('description', async (t) => {
  const { description, policySchema, transactionView } = createEvmChain(systemClock);

  t.test('each example is a body that is taken', (t) => {
    const { request, signing, policies } = description;
    for (const body of [request, signing.typedData, signing.transaction]) {
      t.ok(body?.schema.safeParse(body.example).success);
    }
    t.ok(policySchema.safeParse(policies).success);
    t.end();
  });

  t.test('a transaction is shown as it is described', (t) => {
    const account = { address: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266', policies: {} };
    const shown = transactionView(storedTransaction(account, { to: account.address, value: 1, speed: 'fast' }));
    const parsed = description.transaction?.safeParse(JSON.parse(JSON.stringify(shown)));
    t.strictSame(parsed?.error?.issues ?? [], []);
    t.equal(parsed?.success, true);
    t.end();
  });
});

t.test('only what is known to read counts as a read', async (t) => {
  for (const method of ['eth_getBalance', 'debug_traceTransaction']) t.ok(isReadMethod(method), method);
  for (const method of ['eth_sendRawTransaction', 'eth_sendTransaction', 'anvil_mine', 'debug_setHead', 'some_other']) {
    t.notOk(isReadMethod(method), method);
  }
});

t.test('the built-in networks keep to what an entry may say', async (t) => {
  t.ok(evm.builtInNetworks.length > 0);
  for (const { type, network, from: _from, rpc_urls, ...settings } of evm.builtInNetworks) {
    t.equal(type, 'evm');
    t.ok(Array.isArray(rpc_urls), String(network));
    t.ok(evm.networkSchema.safeParse(settings).success, String(network));
  }
});
