import { VersionedTransaction } from '@solana/web3.js';
import { toBase58 } from '../../../../doubles/svm/base58.ts';
import type { Svm, SvmEndpoint } from '../../../../doubles/svm/svm.ts';
import type { Execution } from '../../../../support/model/judge.ts';
import type { ChainReading } from '../chain.ts';
import { eachOf } from '../each-of.ts';
import type { Lease } from './client-bytes.ts';
import { FINALIZED_AFTER } from './fault-schedule.ts';
import { markOfBytes } from './marks.ts';
import { LAMPORTS, type SolanaIntention } from './plan.ts';

/** A block as a node reports it. */
export interface ChainBlock {
  readonly blockhash: string;
  readonly height: number;
  /** When it was made, in milliseconds since the epoch. */
  readonly at: number;
  readonly entries: readonly ChainEntry[];
}

/** A transaction in a block. */
export interface ChainEntry {
  readonly signature: string;
  /** The fee payer's address, in base58. */
  readonly payer: string;
  readonly mark: string;
  /** In lamports. */
  readonly fee: bigint;
  readonly succeeded: boolean;
  readonly logs: readonly string[];
}

/** What a run did on the chain, read directly from a node. */
export interface ChainRecord {
  /** In the order of the chain. */
  readonly blocks: readonly ChainBlock[];
  /** Balances by receiver, in lamports. */
  readonly received: ReadonlyMap<string, bigint>;
  /** Payments since the start of the run by a relayer's account, in lamports. */
  readonly paid: ReadonlyMap<string, bigint>;
}

/** The most slots that a node lists at once; more than any run has. */
const MAX_BLOCKS = 500_000;

interface BlockAnswer {
  blockhash: string;
  blockHeight: number;
  blockTime: number;
  transactions: EntryAnswer[];
}

interface EntryAnswer {
  transaction: [base64: string, encoding: 'base64'];
  meta: { err: unknown; fee: number; logMessages: string[] };
}

type Node = Pick<SvmEndpoint, 'rpc'>;

/** The accounts and requests whose payments are read. */
export interface Payers {
  /** Balances of the relayers' accounts at the start of the run, in lamports. */
  readonly accounts: ReadonlyMap<string, bigint>;
  readonly intentions: readonly SolanaIntention[];
}

/** Reads every block, and balances, at a node that is not behind. */
export async function readChain(
  svm: Pick<Svm, 'pause' | 'tick'>,
  node: Node,
  { accounts, intentions }: Payers,
): Promise<ChainRecord> {
  // Stops block production, after enough blocks to make everything final.
  await svm.pause();
  await svm.tick(FINALIZED_AFTER + 1);
  const slots = (await node.rpc('getBlocksWithLimit', [0, MAX_BLOCKS])) as number[];
  const receivers = intentions.flatMap(({ transfer }) => transfer?.to ?? []);
  const received = await eachOf(receivers, async (to) => [to, await balanceOf(node, to)] as const);
  const paid = await eachOf([...accounts], async ([account, before]) => {
    return [account, before - (await balanceOf(node, account))] as const;
  });
  return {
    blocks: await eachOf(slots, (slot) => blockOf(node, slot)),
    received: new Map(received),
    paid: new Map(paid),
  };
}

/** {@link ChainReading} of a record. @param leases blockhashes of clients' bytes, by index */
export function readingOf(
  { blocks, received, paid }: ChainRecord,
  intentions: readonly SolanaIntention[],
  leases: ReadonlyMap<number, Lease>,
): ChainReading {
  const entries = blocks.flatMap((block) => block.entries).filter(({ payer }) => paid.has(payer));
  const noted = memosIn(entries);
  const effectsOf = ({ text, transfer }: SolanaIntention) =>
    transfer === null ? (noted.get(text ?? '') ?? 0n) : (received.get(transfer.to) ?? 0n) / LAMPORTS;
  const refused = refusedAmong(intentions, entries);
  const ends = [...leases].flatMap(([index, lease]) => diedAt(lease, blocks).map((at) => [index, at] as const));
  return {
    executions: entries.map(executionOf),
    effects: new Map(intentions.map((intention) => [intention.index, effectsOf(intention)])),
    diedAt: new Map(ends),
    isRefused: (mark) => refused.has(mark),
    judgeAccounts: () => ({ gaps: judgeFees(entries, paid), wrong: [] }),
  };
}

async function blockOf(node: Node, slot: number): Promise<ChainBlock> {
  const options = { encoding: 'base64', maxSupportedTransactionVersion: 0, rewards: false };
  const { blockhash, blockHeight, blockTime, transactions } = (await node.rpc('getBlock', [
    slot,
    options,
  ])) as BlockAnswer;
  return { blockhash, height: blockHeight, at: blockTime * 1_000, entries: transactions.map(entryOf) };
}

function entryOf({ transaction: [base64], meta }: EntryAnswer): ChainEntry {
  const bytes = Buffer.from(base64, 'base64');
  const { message, signatures } = VersionedTransaction.deserialize(bytes);
  return {
    signature: toBase58(signatures[0] ?? Buffer.alloc(0)),
    payer: message.staticAccountKeys[0]?.toBase58() ?? '',
    mark: markOfBytes(bytes),
    fee: BigInt(meta.fee),
    succeeded: meta.err === null,
    logs: meta.logMessages,
  };
}

async function balanceOf(node: Node, key: string): Promise<bigint> {
  return BigInt(((await node.rpc('getBalance', [key])) as { value: number }).value);
}

/** The anchor is the signature, because only the signature prevents a second execution on Solana. */
function executionOf({ signature, mark, succeeded }: ChainEntry): Execution {
  return { hash: signature, effect: mark, anchor: signature, succeeded, isForeign: false };
}

/** How often each memo was executed, by its text. Counts log lines, because memos leave nothing in the state. */
function memosIn(entries: readonly ChainEntry[]): Map<string, bigint> {
  const noted = new Map<string, bigint>();
  for (const { succeeded, logs } of entries) {
    const texts = succeeded ? logs.flatMap((line) => /^Program log: (.*)$/.exec(line)?.[1] ?? []) : [];
    for (const text of texts) noted.set(text, (noted.get(text) ?? 0n) + 1n);
  }
  return noted;
}

/** Marks of requests that move lamports which never existed, or which another request has moved. */
function refusedAmong(intentions: readonly SolanaIntention[], entries: readonly ChainEntry[]): Set<string> {
  const done = new Set(entries.filter(({ succeeded }) => succeeded).map(({ mark }) => mark));
  const userOf = ({ transfer }: SolanaIntention) => transfer?.user.publicKey.toBase58();
  const rivals = Map.groupBy(
    intentions.filter(({ kind }) => kind === 'rival'),
    userOf,
  );
  const isRefused = (one: SolanaIntention) =>
    one.kind === 'pauper' || (rivals.get(userOf(one)) ?? []).some(({ mark }) => mark !== one.mark && done.has(mark));
  return new Set(intentions.filter(isRefused).map(({ mark }) => mark));
}

/**
 * When a blockhash became invalid, in milliseconds since the epoch: at the first block after its last valid one. 0 if a
 * fork removed the blockhash. Empty if it is still valid.
 */
function diedAt({ blockhash, lastValidBlockHeight }: Lease, blocks: readonly ChainBlock[]): number[] {
  if (!blocks.some((block) => block.blockhash === blockhash)) return [0];
  const next = blocks.find(({ height }) => height > lastValidBlockHeight);
  return next === undefined ? [] : [next.at];
}

/** Each account must have paid the fees of its transactions in blocks, and nothing else. */
function judgeFees(entries: readonly ChainEntry[], paid: ReadonlyMap<string, bigint>): string[] {
  return [...paid].flatMap(([account, lamports]) => {
    const fees = entries.filter(({ payer }) => payer === account).reduce((sum, { fee }) => sum + fee, 0n);
    return fees === lamports ? [] : [`${account} paid ${lamports} lamports, its transactions cost ${fees}`];
  });
}
