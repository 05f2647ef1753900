import type { xdr } from '@stellar/stellar-sdk/base';
import { soldFor } from './lumens.ts';

/** More than there is of any asset. */
const ALL = 2n ** 63n;

/**
 * The most that an operation moves from its account, in the smallest units of what it moves. All counts as moved where
 * the amount cannot be told beforehand, as for the call of a contract, and where the operation gives power over the
 * account.
 */
export function amountsTaken(body: xdr.OperationBody): bigint {
  const taken = takenBy(body);
  // No ledger takes a negative amount.
  return taken > 0n ? taken : 0n;
}

function takenBy(body: xdr.OperationBody): bigint {
  switch (body.type) {
    case 'createAccount':
      return body.createAccountOp.startingBalance;
    case 'payment':
      return body.paymentOp.amount;
    case 'pathPaymentStrictSend':
      return body.pathPaymentStrictSendOp.sendAmount;
    case 'pathPaymentStrictReceive':
      return body.pathPaymentStrictReceiveOp.sendMax;
    case 'createClaimableBalance':
      return body.createClaimableBalanceOp.amount;
    case 'manageSellOffer':
      return body.manageSellOfferOp.amount;
    case 'createPassiveSellOffer':
      return body.createPassiveSellOfferOp.amount;
    case 'manageBuyOffer':
      return soldFor(body.manageBuyOfferOp);
    case 'liquidityPoolDeposit':
      return body.liquidityPoolDepositOp.maxAmountA + body.liquidityPoolDepositOp.maxAmountB;
    case 'setOptions':
      return givesPower(body.setOptionsOp) ? ALL : 0n;
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
export function givesPower({
  signer,
  masterWeight,
  lowThreshold,
  medThreshold,
  highThreshold,
}: xdr.SetOptionsOp): boolean {
  return [signer, masterWeight, lowThreshold, medThreshold, highThreshold].some((given) => given !== null);
}
