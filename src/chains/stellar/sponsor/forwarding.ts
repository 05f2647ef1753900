import { randomBytes } from 'node:crypto';
import { Address, Keypair, xdr } from '@stellar/stellar-sdk/base';
import { invalidRequest } from '../../../domain/errors.ts';
import type { WireObject } from '../../../domain/json/json.ts';
import { wireTime } from '../../../domain/wire-time.ts';
import type { ReadFromEndpoint } from '../../../egress/rpc/rpc-client.ts';
import { MAX_FEE, maxFeeFault, type StellarPolicy } from '../configuration/policy.ts';
import { forwardConsentFault } from '../form/forward.ts';
import { authorizingAddress } from '../message/authorization.ts';
import { type FeeForward, forwardBodyOf } from '../message/forward.ts';
import { encodeEnvelope } from '../message/transaction.ts';
import { accountOfMuxed } from '../message/transaction-envelope.ts';
import { type SimulationResult, simulateOperation, tokenBalance } from '../price/simulation.ts';
import { type LatestLedger, latestLedger } from '../rpc-calls.ts';
import { assertWithinLimit, contractTokenOf, tokenContractOf } from './asset.ts';
import { tokensPerStroopText, unitsText, VALIDITY_SECONDS } from './figures.ts';
import { type ForwardMarket, forwarderOf, forwardPriceInToken, sorobanInclusionFee } from './forward-price.ts';
import { insufficientTokenError } from './payment.ts';
import type { UserDraft } from './user-draft.ts';

/** What quoting and building a call by the fee forwarder needs. */
export interface ForwardContext extends ForwardMarket {
  relayer: string;
  policy: StellarPolicy;
  /** The time from one ledger to the next, in milliseconds. */
  blockTimeMs: number;
}

/** A call by the forwarder, at its price. */
interface ForwardPrice {
  forward: FeeForward;
  /** What the relayer asks for, in stroops. */
  stroops: bigint;
  latest: LatestLedger;
}

/** What is asked on top of the cost of a trial, in percent: the user's signature costs too, and ledgers change. */
const RESERVE = 15n;

/** How much more than the fee the user consents to, in percent, as in the reference. */
const HEADROOM = 5n;

/**
 * Tells what a user has to pay in a token for a call of a contract.
 * @throws AppError `INVALID_REQUEST`, `PROVIDER_FAILED`
 */
export async function quoteForward(
  read: ReadFromEndpoint,
  draft: UserDraft,
  feeToken: string,
  how: ForwardContext,
): Promise<WireObject> {
  const { forward, stroops } = await priceForward(read, draft, feeToken, how);
  return { ...shown(forward), conversion_rate: tokensPerStroopText(forward.fee, stroops), ...shownMost(forward) };
}

/**
 * Builds the relayer's transaction for a user's call, and the consent that the user has to sign for it. The transaction
 * gets a sequence only after the client has posted it.
 * @throws AppError `INVALID_REQUEST`, `PROVIDER_FAILED`
 */
export async function buildForward(
  read: ReadFromEndpoint,
  draft: UserDraft,
  feeToken: string,
  how: ForwardContext,
): Promise<WireObject> {
  const { forward, stroops, latest } = await priceForward(read, draft, feeToken, how);
  const { data, fee, consent } = await simulateForward(read, forward);
  const until = Math.floor(latest.closedAt / 1_000) + VALIDITY_SECONDS;
  const maxTime = BigInt(until);
  const body = forwardBodyOf(forward, consent);
  const transaction = new xdr.Transaction({
    sourceAccount: Keypair.fromPublicKey(how.relayer).xdrMuxedAccount(),
    fee: Number(fee + (await sorobanInclusionFee(read))),
    seqNum: 0n,
    cond: xdr.Preconditions.precondTime(new xdr.TimeBounds({ minTime: 0n, maxTime })),
    memo: xdr.Memo.memoNone(),
    operations: [new xdr.Operation({ sourceAccount: null, body })],
    ext: xdr.TransactionExt.sorobanData(data),
  });
  return {
    transaction: encodeEnvelope(transaction, []),
    ...shown(forward),
    fee_in_stroops: String(stroops),
    fee_token: forward.token,
    valid_until: wireTime(until * 1_000),
    user_auth_entry: consent.toXdr('base64'),
    ...shownMost(forward),
  };
}

async function priceForward(
  read: ReadFromEndpoint,
  draft: UserDraft,
  feeToken: string,
  how: ForwardContext,
): Promise<ForwardPrice> {
  const { relayer, policy, passphrase, blockTimeMs } = how;
  const forwarder = forwarderOf(how);
  const token = await contractTokenOf(read, tokenContractOf(feeToken, passphrase), policy, passphrase);
  const { user, target } = callIn(draft);
  const [latest, held] = await Promise.all([latestLedger(read), tokenBalance(read, token.contract, user)]);
  if (held === 0n) throw insufficientTokenError(token, held, 1n);
  const ledgers = Math.ceil((VALIDITY_SECONDS * 1_000) / blockTimeMs);
  const bound = { forwarder, token: token.contract, target, user, relayer };
  const least: FeeForward = { ...bound, fee: 1n, mostFee: 1n, lastLedger: Number(latest.sequence) + ledgers };
  const { fee: resources } = await simulateForward(read, least);
  const stroops = onTop(resources, RESERVE) + (await sorobanInclusionFee(read));
  const tooDear = maxFeeFault(stroops, policy.maxFee ?? MAX_FEE);
  if (tooDear !== undefined) throw invalidRequest(tooDear);
  const fee = await forwardPriceInToken(how, token, policy, stroops);
  const mostFee = onTop(fee, HEADROOM);
  assertWithinLimit(token, mostFee);
  if (held < fee) throw insufficientTokenError(token, held, fee);
  return { forward: { ...least, fee, mostFee }, stroops, latest };
}

/** An amount plus a percentage, rounded up. */
const onTop = (amount: bigint, percent: bigint): bigint => (amount * (100n + percent) + 99n) / 100n;

/** The user's own call. */
function callIn({ user, transaction }: UserDraft): Pick<FeeForward, 'user' | 'target'> {
  const { body, sourceAccount: own } = transaction.operations[0] ?? {};
  if (own != null && accountOfMuxed(own) !== user)
    throw invalidRequest('operations.0: its source is another account than the user');
  const asked = body?.type === 'invokeHostFunction' ? body.invokeHostFunctionOp : undefined;
  if (asked?.hostFunction.type !== 'hostFunctionTypeInvokeContract') throw new TypeError('not a call of a contract');
  const other = asked.auth.findIndex(({ credentials }) => (authorizingAddress(credentials) ?? user) !== user);
  if (other >= 0) throw invalidRequest(`auth.${other}: only the user can authorize what a fee forwarder calls`);
  return { user, target: asked.hostFunction.invokeContract };
}

/**
 * Has a node run a call by the forwarder without effect. Finds what the call takes, and what the user has to consent
 * to.
 */
async function simulateForward(
  read: ReadFromEndpoint,
  forward: FeeForward,
): Promise<
  Pick<Extract<SimulationResult, { kind: 'ran' }>, 'data' | 'fee'> & { consent: xdr.SorobanAuthorizationEntry }
> {
  const source = Keypair.fromPublicKey(forward.relayer).xdrMuxedAccount();
  const operation = new xdr.Operation({ sourceAccount: null, body: forwardBodyOf(forward, null) });
  const found = await simulateOperation(read, { source, operation, data: null, isBare: false });
  if (found.kind === 'failed') throw invalidRequest(found.reason);
  if (found.kind === 'archived') throw invalidRequest('It uses archived ledger entries: restore them first');
  const own = found.consents.find(({ credentials }) => authorizingAddress(credentials) === undefined);
  if (own !== undefined && own.rootInvocation.subInvocations.length > 0) {
    throw invalidRequest('The call needs the relayer’s own authorization, which it does not give');
  }
  const others = found.consents.filter(({ credentials }) => authorizingAddress(credentials) !== undefined);
  const [entry] = others;
  if (entry === undefined || others.length > 1) {
    throw invalidRequest(`It needs the authorization of ${others.length} addresses: expected only that of the user`);
  }
  const fault = forwardConsentFault(entry, forward);
  if (fault !== undefined) throw invalidRequest(`The fee forwarder asks for another authorization: ${fault}`);
  return { data: found.data, fee: found.fee, consent: unsigned(entry, forward) };
}

/** The consent for the user to sign: as the node found it, with a nonce that nobody else knows. */
function unsigned({ rootInvocation }: xdr.SorobanAuthorizationEntry, { user, lastLedger }: FeeForward) {
  const given = new xdr.SorobanAddressCredentials({
    address: new Address(user).toScAddress(),
    nonce: randomBytes(8).readBigInt64BE(),
    signatureExpirationLedger: lastLedger,
    signature: xdr.ScVal.scvVec([]),
  });
  const credentials = xdr.SorobanCredentials.sorobanCredentialsAddress(given);
  return new xdr.SorobanAuthorizationEntry({ credentials, rootInvocation });
}

function shown({ fee }: FeeForward): WireObject {
  return { fee_in_token: String(fee), fee_in_token_ui: unitsText(fee) };
}

function shownMost({ mostFee }: FeeForward): WireObject {
  return { max_fee_in_token: String(mostFee), max_fee_in_token_ui: unitsText(mostFee) };
}
