import type { xdr } from '@stellar/stellar-sdk/base';
import { accountOf } from './envelope.ts';

/** The most lumens that operations take from an account, in stroops, beside what contracts do. */
export function lumensTaken({ source, operations }: Spending, account: string): bigint {
  return operations
    .filter(({ sourceAccount }) => accountOf(sourceAccount ?? source) === account)
    .reduce((sum, { body }) => sum + taken(body), 0n);
}

/** Operations, and whose they are where they do not say. */
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
    // The pool is known by its hash only; where one of its two is lumens, it is the first (CAP-38).
    case 'liquidityPoolDeposit':
      return body.liquidityPoolDepositOp.maxAmountA;
    default:
      return 0n;
  }
}

/** What is sold for what is bought at the price, rounded up. */
export function soldFor({ buyAmount, price: { n, d } }: xdr.ManageBuyOfferOp): bigint {
  return d === 0 ? 0n : (buyAmount * BigInt(n) + BigInt(d) - 1n) / BigInt(d);
}

const ifLumens = (asset: xdr.Asset, amount: bigint): bigint =>
  asset.type === 'assetTypeNative' && amount > 0n ? amount : 0n;
