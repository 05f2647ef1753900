import { Keypair, xdr } from '@stellar/stellar-sdk/base';
import { jsonAmount } from '../../domain/amount.ts';
import type { ReadFromEndpoint, RpcClient } from '../../egress/rpc/rpc-client.ts';
import type { Transaction } from '../../features/transactions/records/transaction.ts';
import type { AccountHistoryQuery, PastTransaction, PastTransactionsAnswer, RelayerAccount } from '../chain-client.ts';
import { answersInTime, type EndpointHistory, mergeEndpointHistories } from '../quorum.ts';
import { draftTransaction } from './message/draft.ts';
import { encodeEnvelope, transactionHash } from './message/transaction.ts';
import { accountOfMuxed, readEnvelope, timeBoundsOf } from './message/transaction-envelope.ts';
import { closeTimeOf, getAccount, type ListedTransactions, latestLedger, transactionsFrom } from './rpc-calls.ts';
import { readStoredRequest, type StellarFields } from './schema.ts';

/** How far the chain's clock and ours may be apart. */
const SLACK_MS = 300_000;
/** The most pages of 200 transactions that are read: a quarter of an hour of the public network. */
const MAX_PAGES = 400;
/** How long the endpoints have. Other work of the lane does not wait for them. */
const PATIENCE = { withinMs: 180_000 };

/**
 * The operations and the memo of a request. Null for a fee bump, because the chain executes what is inside it once, and
 * for a swap: after the first, nothing is left for a second.
 */
export function requestContentOf({ request }: Pick<Transaction, 'request'>, account: RelayerAccount): string | null {
  const parsed = readStoredRequest(request);
  if ('inner' in parsed || 'swap' in parsed) return null;
  return textOf(draftTransaction(parsed, account.address));
}

function textOf({ operations, memo }: { operations: readonly xdr.Operation[]; memo: xdr.Memo }): string {
  return [...operations.map(withoutConsents), memo].map((part) => part.toXdr('base64')).join(' ');
}

/** The consents of a call are found when it is prepared, and differ each time. */
function withoutConsents(operation: xdr.Operation): xdr.Operation {
  const { body, sourceAccount } = operation;
  if (body.type !== 'invokeHostFunction') return operation;
  const { hostFunction } = body.invokeHostFunctionOp;
  const call = new xdr.InvokeHostFunctionOp({ hostFunction, auth: [] });
  return new xdr.Operation({ sourceAccount, body: xdr.OperationBody.invokeHostFunction(call) });
}

/** Looks through the ledgers since a moment for transactions under the account's sequences. */
export async function readAccountHistory(
  rpc: RpcClient,
  question: AccountHistoryQuery,
  blockTimeMs: number,
): Promise<PastTransactionsAnswer> {
  const looks = await answersInTime(
    rpc.onAll((read) => lookOn(read, question, blockTimeMs)),
    PATIENCE,
  );
  const answer = mergeEndpointHistories(looks, rpc.endpointCount);
  const unknown: PastTransaction[] = [];
  for (const one of answer.found) if (!(await question.isKnown(one.hash))) unknown.push(one);
  return { ...answer, found: unknown };
}

async function lookOn(
  read: ReadFromEndpoint,
  question: AccountHistoryQuery,
  blockTimeMs: number,
): Promise<EndpointHistory> {
  const { account, identity, sequences } = question;
  if (sequences === null) throw new TypeError('a Stellar account has sequences');
  const { from, to } = sequences;
  const { account: now } = await getAccount(read, account.address);
  const latest = await latestLedger(read);
  const since = question.since - SLACK_MS;
  const tail = await transactionsFrom(read, { ledger: latest.sequence, limit: 1 });
  const start = await firstLedger(read, { latest, since, oldest: tail.oldest, blockTimeMs });
  const found = new Map<bigint, PastTransaction>();
  // A new account begins at its ledger's number times 2^32, so the first sequence that it can use is one more.
  const first = from ?? (((to - 1n) >> 32n) << 32n) + 1n;
  const isAll = () => BigInt(found.size) === to - first;
  let page: ListedTransactions = await transactionsFrom(read, { ledger: start, limit: 200 });
  let isWhole = start > tail.oldest || tail.oldestClosedAt <= since;
  for (let pages = 1; ; pages += 1) {
    for (const one of page.transactions) {
      const past = pastOf(one, account.address, identity);
      if (past === undefined || past.sequence < (from ?? 0n) || past.sequence >= to) continue;
      found.set(past.sequence, past.past);
    }
    // A page that is not full is the last one.
    if (isAll() || page.transactions.length < 200) break;
    if (pages === MAX_PAGES) {
      isWhole = false;
      break;
    }
    page = await transactionsFrom(read, { cursor: page.cursor, limit: 200 });
  }
  const list = [...found].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, past]) => past);
  if ((now?.sequence ?? 0n) + 1n < to) {
    return { found: list, lack: { kind: 'waiting', reason: 'an endpoint is behind' } };
  }
  if (isWhole || isAll()) return { found: list };
  const reason = `the endpoints show no ledgers before ${tail.oldest}, or too many transactions since then`;
  return { found: list, lack: { kind: 'unproved', reason } };
}

interface Span {
  latest: { sequence: bigint; closedAt: number };
  since: number;
  oldest: bigint;
  blockTimeMs: number;
}

/** A ledger that closed before the moment, or the oldest that the node has. */
async function firstLedger(read: ReadFromEndpoint, { latest, since, oldest, blockTimeMs }: Span): Promise<bigint> {
  let span = BigInt(Math.ceil(Math.max(latest.closedAt - since, 0) / blockTimeMs)) + 10n;
  for (;;) {
    const first = latest.sequence - span;
    if (first <= oldest) return oldest;
    // Ledgers may close faster than the network's setting says.
    if ((await closeTimeOf(read, first)) <= since) return first;
    span *= 2n;
  }
}

/** A transaction under a sequence of the account that its key has signed; undefined for any other. */
function pastOf(
  { envelope, ledger }: ListedTransactions['transactions'][number],
  address: string,
  passphrase: string,
): { sequence: bigint; past: PastTransaction } | undefined {
  const { transaction, signatures, isFeeBump } = readEnvelope(envelope);
  if (accountOfMuxed(transaction.sourceAccount) !== address) return undefined;
  const { seqNum: sequence, operations, memo } = transaction;
  const hash = transactionHash(transaction, passphrase);
  const keypair = Keypair.fromPublicKey(address);
  const own = signatures.filter(({ signature }) => keypair.verify(hash, signature.toBytes()));
  const fields: StellarFields = {
    passphrase,
    source: address,
    fee: jsonAmount(BigInt(transaction.fee)),
    max_time: jsonAmount(timeBoundsOf(transaction).maxTime),
    ledger: jsonAmount(ledger - 1n),
    sequence: jsonAmount(sequence),
  };
  return {
    sequence,
    past: {
      content: own.length === 0 ? null : textOf({ operations, memo }),
      anchor: { kind: 'sequence', sequence },
      raw: encodeEnvelope(transaction, isFeeBump ? own : signatures),
      hash: hash.toString('hex'),
      fields,
    },
  };
}
