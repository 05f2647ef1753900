import type {
  AccountSequences,
  ChainClient,
  ObservedTransaction,
  RelayerAccount,
  TransactionObservation,
} from '../../src/chains/chain-client.ts';
import { createEvmChain } from '../../src/chains/evm/index.ts';
import { rpcDialect as evmDialect } from '../../src/chains/evm/rpc-error-dialect.ts';
import { systemClock } from '../../src/domain/clock.ts';
import type { JsonObject } from '../../src/domain/json/json.ts';
import { createAddressGuard } from '../../src/egress/address-guard.ts';
import { createHttpClient } from '../../src/egress/http-client.ts';
import {
  createRpcClient,
  type InspectableRpcClient,
  type RpcSettings,
} from '../../src/egress/rpc/failover-rpc-client.ts';
import type { RpcClient } from '../../src/egress/rpc/rpc-client.ts';
import type { RpcDialect } from '../../src/egress/rpc/rpc-verdict.ts';
import type { Network } from '../../src/features/networks/record.ts';
import { type Attempt, UNACCEPTED_ATTEMPT } from '../../src/features/transactions/records/attempt.ts';
import { newTransaction, type Transaction } from '../../src/features/transactions/records/transaction.ts';
import { createKeySigner } from '../../src/signers/held-key.ts';
import type { Signer } from '../../src/signers/signer.ts';
import { NO_MARKET } from './no-market.ts';

/** RPC settings without retries, so that tests of failures are quick. */
const QUICK: Partial<RpcSettings> = { timeoutMs: 2_000, tries: 1, baseDelayMs: 1, maxDelayMs: 2 };

/** An RPC client to loopback endpoints, with its family's rules for nodes' errors. The test has to close it. */
export function openRpc(
  urls: readonly string[],
  settings: Partial<RpcSettings> = QUICK,
  dialect: RpcDialect = evmDialect,
): InspectableRpcClient {
  const http = createHttpClient(createAddressGuard({ allowedHosts: [], blockPrivate: false }));
  const endpoints = urls.map((url) => ({ url, weight: 100 }));
  const rpc = createRpcClient({ endpoints, http, clock: systemClock, random: () => 0, settings, dialect });
  return {
    ...rpc,
    async close() {
      await rpc.close();
      await http.close();
    },
  };
}

/** The live side of an EVM network over loopback endpoints. */
export function openEvm(
  urls: readonly string[],
  settings: JsonObject = {},
  rpcSettings: Partial<RpcSettings> = QUICK,
): { client: ChainClient; rpc: RpcClient; network: Network } {
  const rpc = openRpc(urls, rpcSettings);
  const rpcUrls = urls.map((url) => ({ url, weight: 100 }));
  const network: Network = { type: 'evm', name: 'testnet', rpcUrls, settings };
  return { client: createEvmChain(systemClock).connect(network, rpc, NO_MARKET), rpc, network };
}

/** The identity of the chain behind an endpoint. A development chain gets a new one at each start. */
export async function identityAt(url: string): Promise<string> {
  const { client, rpc } = openEvm([url]);
  try {
    return await client.identity();
  } finally {
    await rpc.close();
  }
}

/** A signer over one of anvil's keys. */
export function signerOf(account: { privateKey: string }): Signer {
  return createKeySigner('test', Buffer.from(account.privateKey.slice(2), 'hex'));
}

/** A transaction as the engine would have stored it, pending. */
export function storedTransaction(
  account: RelayerAccount,
  body: JsonObject,
  overrides: Partial<Transaction> = {},
): Transaction {
  const parsed = createEvmChain(systemClock).parseRequest(body, account, 0);
  return {
    ...newTransaction({
      id: '00000000-0000-4000-8000-000000000001',
      relayerId: 'relayer',
      networkType: 'evm',
      lane: `evm:31337:${account.address}`,
      createdAt: 1_700_000_000_000,
      ...parsed,
    }),
    nextActionAt: 0,
    ...overrides,
  };
}

/** A signed version as the engine would have stored it. */
export function storedAttempt(transaction: Transaction, sequence: bigint, raw: string, hash: string): Attempt {
  const { id, lane, request, fields } = transaction;
  const anchor = { kind: 'sequence', sequence } as const;
  const about = { transactionId: id, ordinal: 1, lane, anchor, purpose: 'send', request, fields } as const;
  return { ...about, raw, hash, createdAt: 0, ...UNACCEPTED_ATTEMPT };
}

/** The client's part for sequences, which the EVM family has. */
export function sequencesOf({ sequences }: ChainClient): AccountSequences {
  if (sequences === undefined) throw new Error('the family counts transactions');
  return sequences;
}

/** Takes a transaction through preparing, signing and broadcasting, as the engine would. */
export async function sendThrough(
  client: ChainClient,
  account: RelayerAccount,
  signer: Signer,
  body: JsonObject,
): Promise<{ transaction: Transaction; attempt: Attempt; entry: ObservedTransaction }> {
  const pending = storedTransaction(account, body);
  const prepared = await client.prepare(pending, account, { committed: 0n });
  if (prepared.kind !== 'ready') throw new Error(`not ready: ${prepared.reason}`);
  const sequence = await sequencesOf(client).next(account.address);
  const signed = await client.sign(pending, prepared.fields, { kind: 'sequence', sequence }, signer);
  const transaction = { ...pending, fields: signed.fields, sequence, hash: signed.hash };
  const attempt = storedAttempt(transaction, sequence, signed.raw, signed.hash);
  const [outcome] = await client.broadcast([attempt]);
  if (outcome?.kind !== 'accepted') throw new Error(`${outcome?.kind}: ${outcome?.reason}`);
  return { transaction, attempt, entry: { transaction, attempts: [attempt], account } };
}

/** Looks until the node has the transaction in a block. Anvil answers a broadcast before it mines. */
export async function untilIncluded(client: ChainClient, entry: ObservedTransaction): Promise<Included> {
  const giveUpAt = performance.now() + 20_000;
  for (;;) {
    const [seen] = await client.observe([entry]);
    if (seen?.kind === 'included') return seen;
    if (performance.now() > giveUpAt) throw new Error(`still ${String(seen?.kind)} after 20 s`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

type Included = Extract<TransactionObservation, { kind: 'included' }>;
