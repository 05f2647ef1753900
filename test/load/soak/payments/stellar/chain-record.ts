import type { OnChain } from '../../../../doubles/stellar/control.ts';
import type { StellarEndpoint, StellarNet } from '../../../../doubles/stellar/stellar-net.ts';
import type { Execution } from '../../../../support/model/judge.ts';
import type { ChainReading } from '../chain.ts';
import { eachOf } from '../each-of.ts';
import { RECEIVER_FUNDS } from './client-bytes.ts';
import { markOfEnvelope } from './marks.ts';
import { markOf, STROOPS, type StellarIntention } from './plan.ts';
import { balanceOf } from './sequence-of.ts';

/** What a run did on the chain, read directly from a node. */
export interface ChainRecord {
  /** In the order of the ledgers. */
  readonly landed: readonly ChainEntry[];
  /** Payments by receiver, in stroops, without its initial balance. */
  readonly received: ReadonlyMap<string, bigint>;
  /** Payments since the start of the run by a relayer's account, in stroops. */
  readonly paid: ReadonlyMap<string, bigint>;
}

/** A transaction in a ledger. */
export interface ChainEntry extends Omit<OnChain, 'envelope'> {
  readonly mark: string | null;
}

/** Enough ledgers for all waiting transactions. */
const REST = 12;

type Node = Pick<StellarEndpoint, 'rpc'>;

/** The accounts and requests whose payments are read. */
export interface Payers {
  /** Balances of the relayers' accounts at the start of the run, in stroops. */
  readonly accounts: ReadonlyMap<string, bigint>;
  readonly intentions: readonly StellarIntention[];
}

/** Reads every transaction, and balances at a node that is not behind. */
export async function readChain(
  net: Pick<StellarNet, 'pause' | 'tick' | 'landed'>,
  node: Node,
  { accounts, intentions }: Payers,
): Promise<ChainRecord> {
  await net.pause();
  await net.tick(REST);
  const received = await eachOf(intentions, async ({ to }) => [to, await receivedBy(node, to)] as const);
  const paid = await eachOf([...accounts], async ([account, before]) => {
    return [account, before - (await balanceOf(node, account))] as const;
  });
  const landed = (await net.landed()).map(({ envelope, ...rest }) => ({ ...rest, mark: markOfEnvelope(envelope) }));
  return { landed, received: new Map(received), paid: new Map(paid) };
}

async function receivedBy(node: Node, to: string): Promise<bigint> {
  const balance = await balanceOf(node, to);
  return balance === 0n ? 0n : balance - RECEIVER_FUNDS;
}

/**
 * {@link ChainReading} of a record.
 * @param options `ends`: when clients' bytes become invalid, in milliseconds since the epoch, by index; `foreign`:
 *   hashes of transactions that were sent without the service
 */
export function readingOf(
  { landed, received, paid }: ChainRecord,
  intentions: readonly StellarIntention[],
  { ends, foreign }: { ends: ReadonlyMap<number, number>; foreign: ReadonlySet<string> },
): ChainReading {
  const refused = refusedAmong(intentions, landed);
  return {
    executions: landed.map((entry) => executionOf(entry, foreign)),
    effects: new Map(intentions.map(({ index, to }) => [index, (received.get(to) ?? 0n) / STROOPS])),
    diedAt: ends,
    isRefused: (mark) => refused.has(mark),
    judgeAccounts: () => ({ gaps: judgeMoney(intentions, landed, paid), wrong: [] }),
  };
}

function executionOf(entry: ChainEntry, foreign: ReadonlySet<string>): Execution {
  const { hash, source, sequence, isSuccessful, mark } = entry;
  return {
    hash,
    effect: mark,
    anchor: `${source} ${sequence}`,
    succeeded: isSuccessful,
    isForeign: foreign.has(hash),
  };
}

/** Marks of requests that call a missing function, or whose sequence a rival has consumed. */
function refusedAmong(intentions: readonly StellarIntention[], landed: readonly ChainEntry[]): Set<string> {
  const done = new Set(landed.map(({ mark }) => mark));
  const rivals = Map.groupBy(
    intentions.filter(({ kind }) => kind === 'rival'),
    ({ user }) => user?.publicKey(),
  );
  const isBeaten = ({ user, mark }: StellarIntention) =>
    (rivals.get(user?.publicKey()) ?? []).some((other) => other.mark !== mark && done.has(other.mark));
  const isRefused = (one: StellarIntention) => one.kind === 'broken call' || (one.kind === 'rival' && isBeaten(one));
  return new Set(intentions.filter(isRefused).map(({ mark }) => mark));
}

/** Each account must have paid the fees and the payments of its transactions, and nothing else. */
function judgeMoney(
  intentions: readonly StellarIntention[],
  landed: readonly ChainEntry[],
  paid: ReadonlyMap<string, bigint>,
): string[] {
  const own = new Set(intentions.filter(({ user }) => user === null).map(({ to }) => markOf(to)));
  return [...paid].flatMap(([account, stroops]) => {
    const fees = landed.filter(({ feeSource }) => feeSource === account).reduce((sum, one) => sum + one.feeCharged, 0n);
    const payments = landed.filter((one) => one.source === account && one.isSuccessful && own.has(one.mark ?? ''));
    const due = fees + BigInt(payments.length) * STROOPS;
    return due === stroops ? [] : [`${account} paid ${stroops} stroops, its transactions cost ${due}`];
  });
}
