/**
 * What the examples of the reference's public client ask, one row each, with the client itself, against one service
 * over three chains. The requests have the shapes of the public repository's examples, and were written anew. Those of
 * fees by a Soroban contract need a forwarder on the ledger: `stellar-forwarding.test.ts` has them.
 */
import { randomBytes } from 'node:crypto';
import {
  Configuration,
  NetworksApi,
  NotificationsApi,
  PluginsApi,
  RelayersApi,
  SignersApi,
  Speed,
} from '@openzeppelin/relayer-sdk';
import { createTransferCheckedInstruction } from '@solana/spl-token';
import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { Connection, Keypair as SolanaKeypair, Transaction } from '@solana/web3.js';
import { Asset, Keypair, Operation, rpc as stellarRpc, TransactionBuilder } from '@stellar/stellar-sdk';
import { JsonRpcProvider } from 'ethers';
import t from 'tap';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { startJupiter } from '../support/jupiter.ts';
import { openMarket } from '../support/stellar-market.ts';
import { LUMEN, startStellarScene } from '../support/stellar-scene.ts';
import { startSvmScene } from '../support/svm-scene.ts';
import { makeToken } from '../support/token-scene.ts';
import { createWorkspace } from '../support/workspace.ts';

const DEAD = '0x000000000000000000000000000000000000dEaD';
/** Relayers: who pays its own fees on each chain, and for whom users pay. */
const [EVM, SOLANA, SOLANA_SPONSOR, STELLAR, STELLAR_SPONSOR] = [
  'evm',
  'solana',
  'solana-sponsor',
  'stellar',
  'stellar-sponsor',
] as const;

const anvil = await startAnvil({ blockTime: 0.1 });
t.teardown(() => anvil.stop());
const svm = await startSvmScene();
t.teardown(() => svm.svm.stop());
const stellar = await startStellarScene();
t.teardown(() => stellar.net.stop());
const jupiter = await startJupiter(t);

const relayer = (id: string, signer: number, network_type: string, network: string, policies: object = {}) => ({
  id,
  name: id,
  network_type,
  network,
  policies,
  paused: false,
  signer_id: signer === 1 ? 'local-key' : `local-key-${signer}`,
});
const workspace = await createWorkspace({
  rpcUrl: anvil.url,
  accounts: 5,
  config: {
    relayers: [
      relayer(EVM, 1, 'evm', 'local'),
      relayer(SOLANA, 2, 'solana', 'svm', { fee_payment_strategy: 'relayer' }),
      relayer(SOLANA_SPONSOR, 3, 'solana', 'svm', { fee_payment_strategy: 'user' }),
      relayer(STELLAR, 4, 'stellar', 'ledgers', { fee_payment_strategy: 'relayer' }),
      relayer(STELLAR_SPONSOR, 5, 'stellar', 'ledgers', { fee_payment_strategy: 'user' }),
    ],
    networks: [
      { type: 'evm', network: 'local', rpc_urls: [anvil.url] },
      { type: 'solana', network: 'svm', rpc_urls: [svm.svm.url] },
      {
        type: 'stellar',
        network: 'ledgers',
        rpc_urls: [stellar.net.url],
        average_blocktime_ms: 500,
        passphrase: stellar.net.passphrase,
        horizon_url: stellar.net.horizonUrl,
      },
    ],
  },
  plugins: [{ id: 'example', path: 'example.ts', allow_get_invocation: true }],
  pluginFiles: { 'example.ts': 'export const handler = ({ params }) => ({ params });' },
  env: { JUPITER_API_URL: jupiter.url },
});
t.teardown(() => workspace.remove());
const seed = (number: number) => Buffer.from(String(workspace.privateKeys[number - 1]).slice(2), 'hex');
const [solanaPays, solanaSponsor] = [2, 3].map((n) => SolanaKeypair.fromSeed(seed(n)).publicKey) as [
  PublicKey,
  PublicKey,
];
const [stellarPays, stellarSponsor] = [4, 5].map((n) => Keypair.fromRawEd25519Seed(seed(n))) as [Keypair, Keypair];
await anvil.rpc('anvil_setBalance', [workspace.address, '0x56bc75e2d63100000']);
for (const key of [solanaPays, solanaSponsor]) await svm.svm.airdrop(key.toBase58(), 10_000_000_000n);
for (const key of [stellarPays, stellarSponsor]) await stellar.net.fund(key.publicKey(), 1000n * LUMEN);
const usd = await makeToken(svm, { decimals: 6 });
const fees = await makeToken(svm, { decimals: 6, fee: { basisPoints: 100, most: 1000n } });
for (const { mint } of [usd, fees]) jupiter.price(mint.toBase58(), 0.2);
const friend = SolanaKeypair.generate().publicKey;
for (const token of [usd, fees]) {
  for (const wallet of [solanaPays, solanaSponsor, friend]) await token.give(wallet, 100_000_000n);
}
const market = await openMarket(stellar, 'USDC', '1000', '1000');
const [maker, reader] = market.holders as [Keypair, Keypair];
const offer = { selling: market.asset, buying: Asset.native(), amount: '500', price: 2 };
await stellar.land(await stellar.signed(maker, [Operation.manageSellOffer(offer)]));
for (const key of [stellarPays, stellarSponsor]) {
  await stellar.land(await stellar.signed(key, [Operation.changeTrust({ asset: market.asset })]));
}
const give = { destination: stellarPays.publicKey(), asset: market.asset, amount: '100' };
await stellar.land(await stellar.signed(market.issuer, [Operation.payment(give)]));
const USDC = `USDC:${market.issuer.publicKey()}`;

const service = await composeService(workspace.env);
t.teardown(() => service.stop());
const configuration = new Configuration({ basePath: service.url, accessToken: service.apiKey });
const relayers = new RelayersApi(configuration);
const networks = new NetworksApi(configuration);
const notifications = new NotificationsApi(configuration);
const plugins = new PluginsApi(configuration);
const signers = new SignersApi(configuration);

type Data = Record<string, unknown>;
/** The data of the envelope of a successful answer. */
async function data(asked: Promise<{ data: unknown }>): Promise<Data> {
  try {
    return ((await asked).data as { data: Data }).data;
  } catch (error) {
    const { response } = error as { response?: { status: number; data: unknown } };
    if (response === undefined) throw error;
    throw new Error(`${response.status} ${JSON.stringify(response.data)}`, { cause: error });
  }
}
/** Lets the chains go on until a transaction is final. */
async function confirmed(id: string, transaction: unknown): Promise<Data> {
  for (let tries = 0; tries < 600; tries += 1) {
    const seen = await data(relayers.getTransactionById(id, String((transaction as Data)['id'])));
    if (['confirmed', 'failed', 'expired', 'canceled'].includes(String(seen['status']))) return seen;
    if (id.startsWith('solana')) await svm.svm.tick();
    if (id.startsWith('stellar')) await stellar.net.tick();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`transaction ${JSON.stringify(transaction)} of ${id} is not final\n${service.output()}`);
}
async function isPaid(id: string, sent: Promise<{ data: unknown }>): Promise<Data> {
  const ended = await confirmed(id, await data(sent));
  if (ended['status'] !== 'confirmed') throw new Error(JSON.stringify(ended));
  return ended;
}

const { connection } = svm;
/** A token transfer, which the owner signs. */
const transfer = (from: PublicKey, token = usd) => {
  const accounts = [token.accountOf(from), token.mint, token.accountOf(friend)] as const;
  return createTransferCheckedInstruction(...accounts, from, 1_000_000n, token.decimals, [], token.program);
};
/** Base64 of a transaction that nobody has signed. */
const unsigned = async (feePayer: PublicKey, ...instructions: TransactionInstruction[]) => {
  const { blockhash: recentBlockhash } = await connection.getLatestBlockhash();
  const transaction = new Transaction({ feePayer, recentBlockhash }).add(...instructions);
  return transaction.serialize({ requireAllSignatures: false, verifySignatures: false }).toString('base64');
};
const rpc = async (id: string, method: string, params: unknown): Promise<unknown> => {
  const { data: answer } = await relayers.rpc(id, { jsonrpc: '2.0', id: 1, method, params });
  const { result, error } = answer as { result?: unknown; error?: unknown };
  if (error !== undefined && error !== null) throw new Error(JSON.stringify(error));
  return result;
};
/** The envelope of a payment in the token, unsigned. */
const tokenPayment = async (from: Keypair) => {
  const pays = Operation.payment({ destination: reader.publicKey(), asset: market.asset, amount: '0.1' });
  const how = { signers: [], with: (builder: TransactionBuilder) => builder.setTimeout(300) };
  return (await stellar.signed(from, [pays], how)).toXdr();
};
const onStellar = (more: object) => relayers.sendTransaction(STELLAR, { network: 'testnet', ...more });
const withAuth = { auth: { type: 'source_account' } };

/** A small module of WebAssembly that does nothing. */
const WASM = '0061736d01000000';
const EXAMPLES: Record<string, () => Promise<unknown>> = {
  'networks/list': () => data(networks.listNetworks(1, 10)),
  'networks/get': () => data(networks.getNetwork('evm:local')),
  'networks/update': () => data(networks.updateNetwork('evm:sepolia', { rpc_urls: ['https://rpc.example'] })),
  'notifications/create': () =>
    data(
      notifications.createNotification({
        id: 'hook',
        type: 'webhook',
        url: 'https://hooks.example/',
        signing_key: 'a key of thirty-two bytes or more',
      } as never),
    ),
  'notifications/list': () => data(notifications.listNotifications(1, 10)),
  'notifications/get': () => data(notifications.getNotification('hook')),
  'notifications/update': () => data(notifications.updateNotification('hook', { url: 'https://hooks.example/2' })),
  'notifications/delete': () => notifications.deleteNotification('hook'),
  'plugins/list': () => data(plugins.listPlugins(1, 10)),
  'plugins/get': () => data(plugins.getPlugin('example')),
  'plugins/update': () => data(plugins.updatePlugin('example', { timeout: 60, emit_logs: true })),
  'plugins/call': () => data(plugins.callPlugin('example', { params: { to: DEAD } })),
  'signers/create': () =>
    data(
      signers.createSigner({ id: 'made', type: 'plain', config: { key: randomBytes(32).toString('hex') } } as never),
    ),
  'signers/list': () => data(signers.listSigners(1, 10)),
  'signers/get': () => data(signers.getSigner('made')),
  'relayers/create': () =>
    data(
      relayers.createRelayer({
        id: 'made',
        name: 'Made',
        network: 'local',
        network_type: 'evm',
        paused: false,
        signer_id: 'made',
        policies: { eip1559_pricing: true },
      } as never),
    ),
  'relayers/update': () => data(relayers.updateRelayer('made', { name: 'Renamed', policies: { min_balance: 0 } })),
  'relayers/pause': () => data(relayers.updateRelayer('made', { paused: true })),
  'relayers/delete': () => relayers.deleteRelayer('made'),
  'signers/delete': () => signers.deleteSigner('made'),
  'relayers/list': () => data(relayers.listRelayers(1, 10)),
  'relayers/get': () => data(relayers.getRelayer(EVM)),
  'relayers/balance': () => data(relayers.getRelayerBalance(EVM)),
  'relayers/status': () => data(relayers.getRelayerStatus(EVM)),
  'relayers/rpc of EVM': () => rpc(EVM, 'eth_blockNumber', []),
  'relayers/rpc of Solana': () => rpc(SOLANA, 'getLatestBlockhash', [{ commitment: 'finalized' }]),
  'relayers/rpc of Stellar': () => rpc(STELLAR, 'getLatestLedger', {}),
  'evm/by speed': () =>
    isPaid(
      EVM,
      relayers.sendTransaction(EVM, {
        value: 1,
        data: '0x',
        to: DEAD,
        speed: Speed.AVERAGE,
        gas_limit: 21_000,
      }),
    ),
  'evm/EIP-1559': () =>
    isPaid(
      EVM,
      relayers.sendTransaction(EVM, {
        value: 1,
        data: '0x',
        to: DEAD,
        gas_limit: 21_000,
        max_fee_per_gas: 30_000_000_000,
        max_priority_fee_per_gas: 2_000_000_000,
      }),
    ),
  'evm/legacy': () =>
    isPaid(
      EVM,
      relayers.sendTransaction(EVM, {
        value: 1,
        data: '0x',
        to: DEAD,
        gas_limit: 21_000,
        gas_price: 30_000_000_000,
      }),
    ),
  'evm/a client of the chain over the relayer': async () => {
    const url = `${service.url}/api/v1/relayers/${EVM}/rpc`;
    return asClient(url, (request) => new JsonRpcProvider(request, 31337, { staticNetwork: true, batchMaxCount: 1 }));
  },
  'transactions/list': () => data(relayers.listTransactions(EVM, 1, 10)),
  'transactions/by nonce': () => data(relayers.getTransactionByNonce(EVM, 0)),
  'transactions/cancel': async () => {
    // It waits: the price is below what the network takes.
    const waits = { value: 1, data: '0x', to: DEAD, gas_limit: 21_000, speed: Speed.SAFE_LOW };
    await data(relayers.updateRelayer(EVM, { policies: { gas_price_cap: 1 } }));
    const { id } = await data(relayers.sendTransaction(EVM, waits));
    const canceled = await data(relayers.cancelTransaction(EVM, String(id)));
    await data(relayers.updateRelayer(EVM, { policies: { gas_price_cap: null } }));
    return canceled;
  },
  'solana/send a transaction': async () =>
    isPaid(SOLANA, relayers.sendTransaction(SOLANA, { transaction: await unsigned(solanaPays, transfer(solanaPays)) })),
  'solana/send instructions': () => {
    const { programId, keys, data: bytes } = transfer(solanaPays);
    const accounts = keys.map(({ pubkey, isSigner, isWritable }) => ({
      pubkey: pubkey.toBase58(),
      is_signer: isSigner,
      is_writable: isWritable,
    }));
    const instruction = { program_id: programId.toBase58(), accounts, data: Buffer.from(bytes).toString('base64') };
    return isPaid(SOLANA, relayers.sendTransaction(SOLANA, { instructions: [instruction] }));
  },
  'solana/sign a transaction': async () =>
    data(relayers.signTransaction(SOLANA, { transaction: await unsigned(solanaPays, transfer(solanaPays)) })),
  'solana/rpc feeEstimate': async () =>
    rpc(SOLANA_SPONSOR, 'feeEstimate', {
      transaction: await unsigned(friend, transfer(friend)),
      fee_token: usd.mint.toBase58(),
    }),
  'solana/rpc getFeaturesEnabled': () => rpc(SOLANA_SPONSOR, 'getFeaturesEnabled', {}),
  'solana/rpc getSupportedTokens': () => rpc(SOLANA_SPONSOR, 'getSupportedTokens', {}),
  'solana/rpc prepareTransaction': async () =>
    rpc(SOLANA_SPONSOR, 'prepareTransaction', {
      transaction: await unsigned(friend, transfer(friend)),
      fee_token: usd.mint.toBase58(),
    }),
  'solana/rpc prepareTransaction of Token-2022': async () =>
    rpc(SOLANA_SPONSOR, 'prepareTransaction', {
      transaction: await unsigned(friend, transfer(friend, fees)),
      fee_token: fees.mint.toBase58(),
    }),
  'solana/rpc transferTransaction': async () =>
    rpc(SOLANA_SPONSOR, 'transferTransaction', {
      source: friend.toBase58(),
      destination: solanaPays.toBase58(),
      amount: 1_000_000,
      token: usd.mint.toBase58(),
    }),
  'solana/rpc signTransaction': async () =>
    rpc(SOLANA, 'signTransaction', { transaction: await unsigned(solanaPays, transfer(solanaPays)) }),
  'solana/rpc signAndSendTransaction': async () =>
    rpc(SOLANA, 'signAndSendTransaction', { transaction: await unsigned(solanaPays, transfer(solanaPays)) }),
  'solana/a client of the chain over the relayer': () => {
    const url = `${service.url}/api/v1/relayers/${SOLANA}/rpc`;
    const httpHeaders = { authorization: `Bearer ${service.apiKey}` };
    return new Connection(url, { commitment: 'confirmed', httpHeaders }).getLatestBlockhash();
  },
  'solana/sponsored quote': async () =>
    data(
      relayers.quoteSponsoredTransaction(SOLANA_SPONSOR, {
        transaction: await unsigned(friend, transfer(friend)),
        fee_token: usd.mint.toBase58(),
      }),
    ),
  'solana/sponsored build': async () =>
    data(
      relayers.buildSponsoredTransaction(SOLANA_SPONSOR, {
        transaction: await unsigned(friend, transfer(friend)),
        fee_token: usd.mint.toBase58(),
      }),
    ),
  'solana/sponsored, from quote to block': async () => {
    const body = { transaction: await unsigned(solanaPays, transfer(solanaPays)), fee_token: usd.mint.toBase58() };
    await data(relayers.quoteSponsoredTransaction(SOLANA_SPONSOR, body));
    const built = await data(relayers.buildSponsoredTransaction(SOLANA_SPONSOR, body));
    const { transaction } = await data(relayers.signTransaction(SOLANA, { transaction: String(built['transaction']) }));
    return isPaid(SOLANA_SPONSOR, relayers.sendTransaction(SOLANA_SPONSOR, { transaction } as never));
  },
  'stellar/payment': () =>
    isPaid(
      STELLAR,
      onStellar({
        source_account: stellarPays.publicKey(),
        operations: [
          { type: 'payment', destination: reader.publicKey(), asset: { type: 'native' }, amount: 1_000_000 },
        ],
        memo: { type: 'text', value: 'Payment' },
      }),
    ),
  'stellar/an envelope': async () => {
    const pays = Operation.payment({ destination: reader.publicKey(), asset: Asset.native(), amount: '1' });
    const how = { signers: [], with: (builder: TransactionBuilder) => builder.setTimeout(300) };
    return isPaid(STELLAR, onStellar({ transaction_xdr: (await stellar.signed(stellarPays, [pays], how)).toXdr() }));
  },
  'stellar/a fee bump': async () => {
    const pays = Operation.payment({ destination: maker.publicKey(), asset: Asset.native(), amount: '1' });
    const inner = await stellar.signed(reader, [pays], { with: (builder) => builder.setTimeout(0) });
    return isPaid(STELLAR, onStellar({ transaction_xdr: inner.toXdr(), fee_bump: true, max_fee: 1_000_000 }));
  },
  'stellar/upload a contract': () =>
    onAccepted(
      onStellar({
        source_account: stellarPays.publicKey(),
        operations: [{ type: 'upload_wasm', wasm: { type: 'hex', hex: WASM }, ...withAuth }],
      }),
    ),
  'stellar/create a contract': () =>
    onAccepted(
      onStellar({
        source_account: stellarPays.publicKey(),
        operations: [
          {
            type: 'create_contract',
            source: { from: 'address', address: stellarPays.publicKey() },
            wasm_hash: '82'.repeat(32),
            salt: '6f'.repeat(32),
            constructor_args: [{ address: stellarPays.publicKey() }],
            ...withAuth,
          },
        ],
      }),
    ),
  'stellar/call a contract': async () =>
    isPaid(
      STELLAR,
      onStellar({
        source_account: stellarPays.publicKey(),
        operations: [
          {
            type: 'invoke_contract',
            contract_address: await stellar.net.assetContract('native'),
            function_name: 'transfer',
            ...withAuth,
            args: [
              { address: stellarPays.publicKey() },
              { address: reader.publicKey() },
              { i128: { hi: '0', lo: '1000' } },
            ],
          },
        ],
      }),
    ),
  'stellar/a channel’s sequence, the relayer’s operation': async () => {
    const channel = await stellar.funded();
    const pays = { destination: reader.publicKey(), asset: Asset.native(), amount: '1' };
    const operation = Operation.payment({ ...pays, source: stellarPays.publicKey() });
    const how = { with: (builder: TransactionBuilder) => builder.setTimeout(300) };
    const envelope = await stellar.signed(channel, [operation], how);
    const { signedXdr } = await data(relayers.signTransaction(STELLAR, { unsigned_xdr: envelope.toXdr() }));
    const signed = TransactionBuilder.fromXdr(String(signedXdr), stellar.net.passphrase);
    if (signed.signatures.length !== 2) throw new Error(`${signed.signatures.length} signatures`);
    return isPaid(STELLAR, onStellar({ transaction_xdr: String(signedXdr), fee_bump: true, max_fee: 1_000_000 }));
  },
  'stellar/a client of the chain over the relayer': () => {
    const url = `${service.url}/api/v1/relayers/${STELLAR}/rpc`;
    const headers = { Authorization: `Bearer ${service.apiKey}` };
    return new stellarRpc.Server(url, { allowHttp: true, headers }).getLatestLedger();
  },
  'stellar/sponsored quote': async () =>
    data(
      relayers.quoteSponsoredTransaction(STELLAR_SPONSOR, {
        transaction_xdr: await tokenPayment(stellarPays),
        fee_token: USDC,
      }),
    ),
  'stellar/sponsored build': async () =>
    data(
      relayers.buildSponsoredTransaction(STELLAR_SPONSOR, {
        transaction_xdr: await tokenPayment(stellarPays),
        fee_token: USDC,
      }),
    ),
  'stellar/sponsored trust line': async () => isPaid(STELLAR, onStellar({ transaction_xdr: await trustLine() })),
  'stellar/sponsored, from quote to ledger': async () => {
    const body = { transaction_xdr: await tokenPayment(stellarPays), fee_token: USDC } as never;
    await data(relayers.quoteSponsoredTransaction(STELLAR_SPONSOR, body));
    const built = await data(relayers.buildSponsoredTransaction(STELLAR_SPONSOR, body));
    const { signedXdr } = await data(relayers.signTransaction(STELLAR, { unsigned_xdr: String(built['transaction']) }));
    const sent = { network: 'testnet', transaction_xdr: String(signedXdr), fee_bump: true };
    return isPaid(STELLAR_SPONSOR, relayers.sendTransaction(STELLAR_SPONSOR, sent));
  },
};

async function trustLine(): Promise<string> {
  const operation = Operation.changeTrust({ asset: market.asset });
  const how = { signers: [], with: (builder: TransactionBuilder) => builder.setTimeout(300) };
  return (await stellar.signed(stellarPays, [operation], how)).toXdr();
}

/** A transaction that is accepted. It is canceled, where it waits: the test's ledger has no such contract to run. */
async function onAccepted(sent: Promise<{ data: unknown }>): Promise<Data> {
  const accepted = await data(sent);
  await relayers.cancelTransaction(STELLAR, String(accepted['id'])).catch(() => undefined);
  return confirmed(STELLAR, accepted);
}

async function asClient(url: string, open: (url: string) => JsonRpcProvider): Promise<number> {
  const { FetchRequest } = await import('ethers');
  const request = new FetchRequest(url);
  request.setHeader('authorization', `Bearer ${service.apiKey}`);
  const provider = open(request as never);
  try {
    return await provider.getBlockNumber();
  } finally {
    provider.destroy();
  }
}

t.test('every example of the public client is answered', { timeout: 600_000 }, async (t) => {
  for (const [name, run] of Object.entries(EXAMPLES)) {
    const outcome = await run().then(
      (answer) => (answer === undefined || answer === null ? 'nothing' : 'answered'),
      (error: Error) => error.message,
    );
    t.equal(outcome, 'answered', name);
  }
});
