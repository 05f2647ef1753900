import { Address, Asset, scValToBigInt, type xdr } from '@stellar/stellar-sdk/base';
import { accountOf } from './transaction-envelope.ts';

/** The most lumens that operations take from an account, in stroops, beside what contracts do. */
export function lumensTaken({ source, operations }: Spending, account: string): bigint {
  return operations
    .filter(({ sourceAccount }) => accountOf(sourceAccount ?? source) === account)
    .reduce((sum, { body }) => sum + taken(body), 0n);
}

/**
 * The most lumens that a whole transaction takes from an account beside its fee, with what the account consents to that
 * contracts take.
 */
export function lumensTakenBy(
  { sourceAccount: source, operations }: Pick<xdr.Transaction, 'sourceAccount' | 'operations'>,
  account: string,
  passphrase: string,
): bigint {
  // The source of an operation is who consents, not the source of the transaction.
  const consents = operations
    .filter(({ sourceAccount }) => accountOf(sourceAccount ?? source) === account)
    .flatMap(({ body }) => (body.type === 'invokeHostFunction' ? body.invokeHostFunctionOp.auth : []));
  return lumensTaken({ source, operations }, account) + lumensConsented(consents, passphrase);
}

/** Operations, and the account of those operations that name none. */
export interface Spending {
  source: xdr.MuxedAccount;
  operations: readonly xdr.Operation[];
}

function taken(body: xdr.OperationBody): bigint {
  switch (body.type) {
    case 'createAccount':
      return body.createAccountOp.startingBalance;
    case 'payment':
      return ifLumens(body.paymentOp.asset, body.paymentOp.amount);
    case 'pathPaymentStrictSend':
      return ifLumens(body.pathPaymentStrictSendOp.sendAsset, body.pathPaymentStrictSendOp.sendAmount);
    case 'pathPaymentStrictReceive':
      return ifLumens(body.pathPaymentStrictReceiveOp.sendAsset, body.pathPaymentStrictReceiveOp.sendMax);
    case 'createClaimableBalance':
      return ifLumens(body.createClaimableBalanceOp.asset, body.createClaimableBalanceOp.amount);
    case 'manageSellOffer':
      return ifLumens(body.manageSellOfferOp.selling, body.manageSellOfferOp.amount);
    case 'createPassiveSellOffer':
      return ifLumens(body.createPassiveSellOfferOp.selling, body.createPassiveSellOfferOp.amount);
    case 'manageBuyOffer':
      return ifLumens(body.manageBuyOfferOp.selling, soldFor(body.manageBuyOfferOp));
    // The operation names the pool by its hash only. If one of the pool's two assets is lumens, it is the first
    // (CAP-38).
    case 'liquidityPoolDeposit':
      return body.liquidityPoolDepositOp.maxAmountA;
    default:
      return 0n;
  }
}

/**
 * The most lumens that contracts can take from the source of a transaction. It is the sum of the transfers and
 * approvals of lumens, by the contract of lumens, that the source consents to.
 */
export function lumensConsented(consents: readonly xdr.SorobanAuthorizationEntry[], passphrase: string): bigint {
  const contract = new Address(Asset.native().contractId(passphrase)).toScAddress().toXdr('base64');
  return consents
    .filter(({ credentials }) => credentials.type === 'sorobanCredentialsSourceAccount')
    .reduce((sum, { rootInvocation }) => sum + takenIn(rootInvocation, contract), 0n);
}

function takenIn(invocation: xdr.SorobanAuthorizedInvocation, lumens: string): bigint {
  const { function: asked, subInvocations } = invocation;
  const below = subInvocations.reduce((sum, one) => sum + takenIn(one, lumens), 0n);
  if (asked.type !== 'sorobanAuthorizedFunctionTypeContractFn') return below;
  const { contractAddress, functionName, args } = asked.contractFn;
  if (contractAddress.toXdr('base64') !== lumens || !TAKES.has(functionName.toString())) return below;
  const amount = args[2]?.type === 'scvI128' ? scValToBigInt(args[2]) : 0n;
  return amount > 0n ? below + amount : below;
}

/** Functions of SEP-41 that take from the account that consents, at most the third argument. */
const TAKES: ReadonlySet<string> = new Set(['transfer', 'approve']);

/** How much is sold to buy an amount at a price, rounded up. */
export function soldFor({ buyAmount, price: { n, d } }: xdr.ManageBuyOfferOp): bigint {
  return d === 0 ? 0n : (buyAmount * BigInt(n) + BigInt(d) - 1n) / BigInt(d);
}

const ifLumens = (asset: xdr.Asset, amount: bigint): bigint =>
  asset.type === 'assetTypeNative' && amount > 0n ? amount : 0n;
