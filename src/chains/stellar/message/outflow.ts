import { Address, Asset, scValToBigInt, xdr } from '@stellar/stellar-sdk/base';
import { accountOfMuxed } from './transaction-envelope.ts';

/** What an operation pays away in one asset: at most this much of it. */
interface Payment {
  asset: xdr.Asset;
  amount: bigint;
}

/** Undefined for an operation of another kind. */
function paymentOf(body: xdr.OperationBody): Payment | undefined {
  switch (body.type) {
    case 'createAccount':
      return { asset: LUMENS, amount: body.createAccountOp.startingBalance };
    case 'payment':
      return { asset: body.paymentOp.asset, amount: body.paymentOp.amount };
    case 'pathPaymentStrictSend':
      return { asset: body.pathPaymentStrictSendOp.sendAsset, amount: body.pathPaymentStrictSendOp.sendAmount };
    case 'pathPaymentStrictReceive':
      return { asset: body.pathPaymentStrictReceiveOp.sendAsset, amount: body.pathPaymentStrictReceiveOp.sendMax };
    case 'createClaimableBalance':
      return { asset: body.createClaimableBalanceOp.asset, amount: body.createClaimableBalanceOp.amount };
    case 'manageSellOffer':
      return { asset: body.manageSellOfferOp.selling, amount: body.manageSellOfferOp.amount };
    case 'createPassiveSellOffer':
      return { asset: body.createPassiveSellOfferOp.selling, amount: body.createPassiveSellOfferOp.amount };
    case 'manageBuyOffer':
      return { asset: body.manageBuyOfferOp.selling, amount: soldFor(body.manageBuyOfferOp) };
    default:
      return undefined;
  }
}

const LUMENS = xdr.Asset.assetTypeNative();

/** How much is sold to buy an amount at a price, rounded up. */
function soldFor({ buyAmount, price: { n, d } }: xdr.ManageBuyOfferOp): bigint {
  return d === 0 ? 0n : (buyAmount * BigInt(n) + BigInt(d) - 1n) / BigInt(d);
}

/** No ledger takes a negative amount. */
const atLeastZero = (amount: bigint): bigint => (amount > 0n ? amount : 0n);

/** More than there is of any asset. */
const ALL = 2n ** 63n;

/**
 * The most that an operation moves from its account, in the smallest units of what it moves. All counts as moved where
 * the amount cannot be told beforehand, as for the call of a contract, and where the operation gives power over the
 * account.
 */
export function operationOutflow(body: xdr.OperationBody): bigint {
  const payment = paymentOf(body);
  if (payment !== undefined) return atLeastZero(payment.amount);
  switch (body.type) {
    case 'liquidityPoolDeposit':
      return atLeastZero(body.liquidityPoolDepositOp.maxAmountA + body.liquidityPoolDepositOp.maxAmountB);
    case 'setOptions':
      return changesSigners(body.setOptionsOp) ? ALL : 0n;
    case 'invokeHostFunction':
      return body.invokeHostFunctionOp.hostFunction.type === 'hostFunctionTypeUploadContractWasm' ? 0n : ALL;
    default:
      return MOVES_NOTHING.has(body.type) ? 0n : ALL;
  }
}

const MOVES_NOTHING: ReadonlySet<string> = new Set([
  'bumpSequence',
  'changeTrust',
  'claimClaimableBalance',
  'endSponsoringFutureReserves',
  'extendFootprintTtl',
  'inflation',
  'liquidityPoolWithdraw',
  'manageData',
  'restoreFootprint',
]);

/** Whether an operation changes who may sign, or which weight is enough. */
export function changesSigners({
  signer,
  masterWeight,
  lowThreshold,
  medThreshold,
  highThreshold,
}: xdr.SetOptionsOp): boolean {
  return [signer, masterWeight, lowThreshold, medThreshold, highThreshold].some((given) => given !== null);
}

/** Operations, and the account of those operations that name none. */
interface Operations {
  source: xdr.MuxedAccount;
  operations: readonly xdr.Operation[];
}

/** The most lumens that operations take from an account, in stroops, beside what contracts do. */
export function lumensOutflow({ source, operations }: Operations, account: string): bigint {
  return operations
    .filter(({ sourceAccount }) => accountOfMuxed(sourceAccount ?? source) === account)
    .reduce((sum, { body }) => sum + lumensIn(body), 0n);
}

function lumensIn(body: xdr.OperationBody): bigint {
  // The operation names the pool by its hash only. If one of the pool's two assets is lumens, it is the first
  // (CAP-38).
  if (body.type === 'liquidityPoolDeposit') return body.liquidityPoolDepositOp.maxAmountA;
  const payment = paymentOf(body);
  return payment?.asset.type === 'assetTypeNative' ? atLeastZero(payment.amount) : 0n;
}

/**
 * The most lumens that a whole transaction takes from an account beside its fee, with what the account consents to that
 * contracts take.
 */
export function totalLumensOutflow(
  { sourceAccount: source, operations }: Pick<xdr.Transaction, 'sourceAccount' | 'operations'>,
  account: string,
  passphrase: string,
): bigint {
  // The source of an operation is who consents, not the source of the transaction.
  const consents = operations
    .filter(({ sourceAccount }) => accountOfMuxed(sourceAccount ?? source) === account)
    .flatMap(({ body }) => (body.type === 'invokeHostFunction' ? body.invokeHostFunctionOp.auth : []));
  return lumensOutflow({ source, operations }, account) + consentedLumens(consents, passphrase);
}

/**
 * The most lumens that contracts can take from the source of a transaction. It is the sum of the transfers and
 * approvals of lumens, by the contract of lumens, that the source consents to.
 */
export function consentedLumens(consents: readonly xdr.SorobanAuthorizationEntry[], passphrase: string): bigint {
  const contract = new Address(Asset.native().contractId(passphrase)).toScAddress().toXdr('base64');
  return consents
    .filter(({ credentials }) => credentials.type === 'sorobanCredentialsSourceAccount')
    .reduce((sum, { rootInvocation }) => sum + consentedIn(rootInvocation, contract), 0n);
}

function consentedIn(invocation: xdr.SorobanAuthorizedInvocation, lumens: string): bigint {
  const { function: call, subInvocations } = invocation;
  const below = subInvocations.reduce((sum, one) => sum + consentedIn(one, lumens), 0n);
  if (call.type !== 'sorobanAuthorizedFunctionTypeContractFn') return below;
  const { contractAddress, functionName, args } = call.contractFn;
  if (contractAddress.toXdr('base64') !== lumens || !TAKES.has(functionName.toString())) return below;
  const amount = args[2]?.type === 'scvI128' ? scValToBigInt(args[2]) : 0n;
  return amount > 0n ? below + amount : below;
}

/** Functions of SEP-41 that take from the account that consents, at most the third argument. */
const TAKES: ReadonlySet<string> = new Set(['transfer', 'approve']);
