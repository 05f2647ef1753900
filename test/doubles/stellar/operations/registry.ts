import { xdr } from '@stellar/stellar-sdk';
import { accountMerge } from './account-merge.ts';
import { bumpSequence } from './bump-sequence.ts';
import { changeTrust } from './change-trust.ts';
import { claimClaimableBalance, createClaimableBalance } from './claimable-balance.ts';
import { createAccount } from './create-account.ts';
import { extendFootprintTtl, restoreFootprint } from './footprint-life.ts';
import { invokeHostFunction } from './invoke-host-function.ts';
import { manageData } from './manage-data.ts';
import { createPassiveSellOffer, manageBuyOffer, manageSellOffer } from './manage-offer.ts';
import type { Operation } from './operation.ts';
import { pathPaymentStrictReceive, pathPaymentStrictSend } from './path-payment.ts';
import { payment } from './payment.ts';
import { setOptions } from './set-options.ts';
import { beginSponsoring, END_SPONSORING, revokeSponsorship } from './sponsorship.ts';
import { allowTrust, setTrustLineFlags } from './trust-flags.ts';

/** Thrown for an operation that the tests' network does not have. */
class UnknownOperation extends Error {
  constructor(type: string) {
    super(`The Stellar network of the tests has no operation ${type}.`);
    this.name = 'UnknownOperation';
  }
}

/** @throws UnknownOperation for an operation that is not modelled */
export function operationOf(body: xdr.OperationBody): Operation {
  switch (body.type) {
    case 'createAccount':
      return createAccount(body.createAccountOp);
    case 'payment':
      return payment(body.paymentOp);
    case 'pathPaymentStrictReceive':
      return pathPaymentStrictReceive(body.pathPaymentStrictReceiveOp);
    case 'pathPaymentStrictSend':
      return pathPaymentStrictSend(body.pathPaymentStrictSendOp);
    case 'manageSellOffer':
      return manageSellOffer(body.manageSellOfferOp);
    case 'manageBuyOffer':
      return manageBuyOffer(body.manageBuyOfferOp);
    case 'createPassiveSellOffer':
      return createPassiveSellOffer(body.createPassiveSellOfferOp);
    case 'setOptions':
      return setOptions(body.setOptionsOp);
    case 'changeTrust':
      return changeTrust(body.changeTrustOp);
    case 'allowTrust':
      return allowTrust(body.allowTrustOp);
    case 'setTrustLineFlags':
      return setTrustLineFlags(body.setTrustLineFlagsOp);
    case 'accountMerge':
      return accountMerge(body.destination);
    case 'manageData':
      return manageData(body.manageDataOp);
    case 'bumpSequence':
      return bumpSequence(body.bumpSequenceOp);
    case 'invokeHostFunction':
      return invokeHostFunction(body.invokeHostFunctionOp);
    case 'extendFootprintTtl':
      return extendFootprintTtl(body.extendFootprintTtlOp);
    case 'restoreFootprint':
      return restoreFootprint();
    case 'createClaimableBalance':
      return createClaimableBalance(body.createClaimableBalanceOp);
    case 'claimClaimableBalance':
      return claimClaimableBalance(body.claimClaimableBalanceOp);
    case 'beginSponsoringFutureReserves':
      return beginSponsoring(body.beginSponsoringFutureReservesOp);
    case 'endSponsoringFutureReserves':
      return END_SPONSORING;
    case 'revokeSponsorship':
      return revokeSponsorship(body.revokeSponsorshipOp);
    case 'inflation':
      return INFLATION;
    default:
      throw new UnknownOperation(body.type);
  }
}

/** Not supported since protocol 12. */
const INFLATION: Operation = {
  threshold: 'low',
  check: () => xdr.OperationResult.opNotSupported(),
  apply: () => xdr.OperationResult.opNotSupported(),
};
