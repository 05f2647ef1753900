import { PublicKey } from '@solana/web3.js';
import type { Test } from 'tap';
import { rpcDialect } from '../../src/chains/solana/rpc-error-dialect.ts';
import type { ReadFromEndpoint, RpcClient } from '../../src/egress/rpc/rpc-client.ts';
import { openRpc } from './evm.ts';
import {
  answersByMethod,
  type DoubleAnswer,
  type DoubleHandler,
  type RpcDouble,
  startRpcDouble,
} from './rpc-double.ts';

/** The content of an account at a node. */
export interface NodeAccount {
  owner: string;
  data: Buffer;
  lamports?: number;
}

/** What a node answers about a signature. */
export interface NodeStatus {
  slot: number;
  confirmationStatus: 'processed' | 'confirmed' | 'finalized';
  err?: unknown;
}

type Commitment = NodeStatus['confirmationStatus'];

/** A node's view of its chain. It answers as real nodes do (agave 2). A test sets each part. */
export interface NodeWorld {
  genesis?: string;
  /** The newest slot. Confirmed is 2 slots behind it, final 32. */
  slot?: number;
  /** The newest final slot. */
  final?: number;
  /** The slot that answers about statuses give. */
  statusSlot?: number;
  /** The first slot of its history. */
  first?: number;
  statuses?: Readonly<Record<string, NodeStatus>>;
  /** By signature: what `getTransaction` answers. */
  landed?: Readonly<Record<string, unknown>>;
  accounts?:
    | Readonly<Record<string, NodeAccount>>
    | ((commitment: Commitment) => Readonly<Record<string, NodeAccount>>);
  /** The latest blockhash. */
  latest?: string;
  /** The blockhashes that the node still accepts; absent: all. */
  valid?: readonly string[];
  balance?: number;
  /** The result of simulating a transaction, which is in base64. */
  simulation?: object | ((transaction: string) => object);
  fee?: number | null;
  prices?: readonly number[];
  /** Methods with other answers. */
  instead?: Readonly<Record<string, DoubleAnswer>>;
}

/** Slots without a block before the tests' chain, so that heights differ from slots. */
const SKIPPED = 100;

/** The height of a slot's block. */
const heightOf = (slot: number): number => slot - SKIPPED;

/** A key that is always the same, and whose secret is unknown. */
export const keyOf = (seed: number): string => new PublicKey(Buffer.alloc(32, seed)).toBase58();

const SUCCESS = { err: null, logs: [], unitsConsumed: 1_000, accounts: null, returnData: null };

/** Answers as a node with this view. */
export function solanaNode(world: NodeWorld = {}): DoubleHandler {
  const { slot = 1_000, final = slot - 32, statuses = {}, latest = keyOf(7), valid } = world;
  const slots: Record<Commitment, number> = { processed: slot, confirmed: slot - 2, finalized: final };
  const at = (options: { commitment?: Commitment } = {}) => slots[options.commitment ?? 'finalized'];
  const context = (value: unknown, of = slots.confirmed) => ({ context: { apiVersion: '2.3.0', slot: of }, value });
  const accountsAt = (commitment: Commitment = 'finalized') =>
    typeof world.accounts === 'function' ? world.accounts(commitment) : (world.accounts ?? {});
  const answer = answersByMethod({
    getGenesisHash: world.genesis ?? keyOf(1),
    getEpochInfo: (options: object) => {
      const absoluteSlot = at(options);
      return {
        absoluteSlot,
        blockHeight: heightOf(absoluteSlot),
        epoch: 0,
        slotIndex: absoluteSlot,
        slotsInEpoch: 432_000,
      };
    },
    getFirstAvailableBlock: world.first ?? 0,
    minimumLedgerSlot: world.first ?? 0,
    getBlockTime: (of: number) => 1_700_000_000 + of,
    getBalance: () => context(world.balance ?? 1_000_000_000),
    getLatestBlockhash: (options: object) =>
      context({ blockhash: latest, lastValidBlockHeight: heightOf(at(options)) + 150 }, at(options)),
    isBlockhashValid: (hash: string, options: object) =>
      context(valid === undefined || valid.includes(hash), at(options)),
    getFeeForMessage: () => context(world.fee === undefined ? 5_000 : world.fee),
    getRecentPrioritizationFees: () =>
      (world.prices ?? []).map((prioritizationFee, index) => ({ slot: index, prioritizationFee })),
    getMinimumBalanceForRentExemption: (bytes: number) => (bytes + 128) * 6_960,
    getSignatureStatuses: (signatures: string[]) =>
      context(
        signatures.map((signature) => statusAnswer(statuses[signature])),
        world.statusSlot ?? slot,
      ),
    getTransaction: (signature: string) => world.landed?.[signature] ?? null,
    getMultipleAccounts: (keys: string[], options: { commitment?: Commitment }) => {
      const accounts = accountsAt(options.commitment);
      return context(
        keys.map((key) => accountAnswer(accounts[key])),
        at(options),
      );
    },
    simulateTransaction: (transaction: string) => {
      const { simulation = {} } = world;
      return context({ ...SUCCESS, ...(typeof simulation === 'function' ? simulation(transaction) : simulation) });
    },
  });
  return (call) => world.instead?.[call.method] ?? answer(call);
}

function statusAnswer(status: NodeStatus | undefined) {
  if (status === undefined) return null;
  const { slot, confirmationStatus, err = null } = status;
  const confirmations = confirmationStatus === 'finalized' ? null : 1;
  return { slot, confirmations, err, status: err === null ? { Ok: null } : { Err: err }, confirmationStatus };
}

function accountAnswer(account: NodeAccount | undefined) {
  if (account === undefined) return null;
  const { owner, data, lamports = 1_000_000 } = account;
  return {
    lamports,
    owner,
    executable: false,
    rentEpoch: 2 ** 64,
    space: data.length,
    data: [data.toString('base64'), 'base64'],
  };
}

/** Opens a client of nodes with these views. Everything ends with the test. */
export async function openSolana(
  t: Test,
  ...nodes: (NodeWorld | DoubleHandler)[]
): Promise<{ rpc: RpcClient; doubles: RpcDouble[]; asked(method: string): number }> {
  const handlers = nodes.map((node) => (typeof node === 'function' ? node : solanaNode(node)));
  const doubles = await Promise.all(handlers.map((handler) => startRpcDouble(handler)));
  const rpc = openRpc(
    doubles.map(({ url }) => url),
    undefined,
    rpcDialect,
  );
  t.teardown(() => Promise.all([rpc.close(), ...doubles.map((double) => double.stop())]));
  const asked = (method: string) =>
    doubles.flatMap(({ calls }) => calls).filter((call) => call.method === method).length;
  return { rpc, doubles, asked };
}

/** Reads from one node that gives each method its listed answer, whatever the parameters. */
export function readOf(answers: Readonly<Record<string, unknown>>): ReadFromEndpoint & { asked: [string, unknown][] } {
  const asked: [string, unknown][] = [];
  const read: ReadFromEndpoint = async (method, params, parse) => {
    asked.push([method, params]);
    return parse((answers[method] ?? null) as never);
  };
  return Object.assign(read, { asked });
}
