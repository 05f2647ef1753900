import { AppError, invalidRequest } from '../../domain/errors.ts';
import { type ReadFromEndpoint, type RpcClient, RpcError } from '../../egress/rpc/rpc-client.ts';
import type { RelayerAccount } from '../chain-client.ts';
import { readPolicy, type StellarPolicy, timeoutSecondsOf } from './configuration/policy.ts';
import { timeBoundsFault } from './guard/gasless.ts';
import { memoRequiredKeys, missingMemoFault, type PaymentParts } from './guard/memo.ts';
import { otherSources, relayerWeightFault, signatureWeightFault } from './guard/signatures.ts';
import { assertTrustLines } from './guard/tokens.ts';
import { draftTransaction, type TransactionDraft } from './message/draft.ts';
import { accountOfMuxed, type Envelope, readEnvelope } from './message/transaction-envelope.ts';
import { getAccounts, getPayer, type LedgerAccount, latestLedger } from './rpc-calls.ts';
import type { FeeBumpRequest, StellarRequest } from './schema.ts';
import { assertForwardPaid, type ForwardMarket } from './sponsor/forward-price.ts';
import { assertPaid } from './sponsor/payment.ts';

export interface NetworkCheckParts {
  rpc: RpcClient;
  /** The passphrase of the account's chain. */
  passphrase(): Promise<string>;
  marketOn(passphrase: string): ForwardMarket;
}

/**
 * Checks what only the network can tell of a request, before it is accepted.
 * @throws AppError `INVALID_REQUEST`, `PROVIDER_FAILED`
 */
export async function checkOnNetwork(
  request: StellarRequest,
  account: RelayerAccount,
  parts: NetworkCheckParts,
): Promise<void> {
  const { rpc, passphrase, marketOn } = parts;
  if ('forward' in request) {
    const market = marketOn(await passphrase());
    return rpc.onOne((read) => assertForwardPaid(read, request, account, market));
  }
  if ('inner' in request) return checkFeeBumpOnNetwork(request, account, parts);
  if ('transaction' in request) await rpc.onOne((read) => assertTrustLines(read, request, account));
  if ('swap' in request) return;
  const draft = draftTransaction(request, account.address);
  await unlessSilent(rpc.onOne((read) => assertSignedAlone(read, draft, account.address)));
}

async function checkFeeBumpOnNetwork(
  request: FeeBumpRequest,
  account: RelayerAccount,
  { rpc, passphrase, marketOn }: NetworkCheckParts,
): Promise<void> {
  const policy = readPolicy(account.policies);
  const isUsers = policy.feePaymentStrategy === 'user';
  const chain = await passphrase();
  const checked = rpc.onOne(async (read) => {
    await assertTimely(read, request, chain, policy);
    if (isUsers) await assertPaid(read, request, account.address, policy, marketOn(chain).books);
  });
  // Where neither a payment, a time limit nor the relayer's funds have to be checked, nodes that do not answer now do not
  // stop the request.
  const isBound = isUsers || policy.timeoutSeconds !== null || request.own !== undefined;
  await (isBound ? checked : unlessSilent(checked));
  const { transaction } = readEnvelope(request.inner);
  await unlessSilent(rpc.onOne((read) => assertMemo(read, transaction, account.address)));
}

/** A check that nodes cannot make now is left to the preparation. Whatever they say against the request counts. */
async function unlessSilent(checked: Promise<void>): Promise<void> {
  await checked.catch((error: unknown) => {
    if (error instanceof AppError ? error.code === 'INVALID_REQUEST' : !(error instanceof RpcError)) throw error;
  });
}

/**
 * Checks what shows at once of a transaction that only the relayer signs.
 * @throws AppError `INVALID_REQUEST`
 */
async function assertSignedAlone(read: ReadFromEndpoint, draft: TransactionDraft, address: string): Promise<void> {
  await assertMemo(read, draft, address);
  const others = otherSources(draft, address);
  if (others.length === 0) return;
  const { accounts } = await getAccounts(read, others);
  const fault = relayerWeightFault(draft, address, authoritiesOf(accounts));
  if (fault !== undefined) throw invalidRequest(fault);
}

/** @throws AppError `INVALID_REQUEST` where a receiver asks for a memo that the transaction does not have (SEP-29) */
async function assertMemo(read: ReadFromEndpoint, paying: PaymentParts, address: string): Promise<void> {
  if (memoRequiredKeys(paying, address).size === 0) return;
  const { memoRequiredBy } = await getPayer(read, address, paying);
  if (memoRequiredBy !== undefined) throw invalidRequest(missingMemoFault(memoRequiredBy));
}

/** How far ahead of its account's next sequence a user's transaction may be. It cannot land before those below it. */
const MAX_AHEAD = 4n;

/**
 * Checks that a ledger can take what another account has signed, within the time that the relayer's policy gives. Until
 * its end the transaction holds a place among the relayer's fee bumps.
 * @throws AppError `INVALID_REQUEST`
 */
export async function assertTimely(
  read: ReadFromEndpoint,
  { inner }: FeeBumpRequest,
  passphrase: string,
  policy: StellarPolicy,
): Promise<void> {
  const envelope = readEnvelope(inner);
  const { sourceAccount, seqNum } = envelope.transaction;
  const source = accountOfMuxed(sourceAccount);
  const [latest, { accounts }] = await Promise.all([latestLedger(read), getAccounts(read, accountsOf(envelope))]);
  const isUsers = policy.feePaymentStrategy === 'user';
  const late = timeBoundsFault(
    envelope.transaction,
    latest,
    isUsers ? timeoutSecondsOf(policy) : policy.timeoutSeconds,
  );
  if (late !== undefined) throw invalidRequest(late);
  const used = accounts.get(source)?.sequence;
  if (isUsers && used !== undefined && (seqNum <= used || seqNum > used + 1n + MAX_AHEAD)) {
    throw invalidRequest(`Its sequence ${seqNum} is not the next of ${source}, ${used + 1n}`);
  }
  const lacking = signatureWeightFault(envelope, passphrase, authoritiesOf(accounts));
  if (lacking !== undefined) throw invalidRequest(lacking);
}

/** The accounts in whose names a transaction acts. */
function accountsOf({ transaction: { sourceAccount, operations } }: Envelope): string[] {
  const named = operations.flatMap((one) => one.sourceAccount ?? []);
  return [...new Set([sourceAccount, ...named].map(accountOfMuxed))];
}

function authoritiesOf(accounts: ReadonlyMap<string, LedgerAccount>): Map<string, LedgerAccount['authority']> {
  return new Map([...accounts].map(([address, { authority }]) => [address, authority]));
}
