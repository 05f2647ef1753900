import { xdr } from '@stellar/stellar-sdk/base';
import { entryIn } from '../message/authorization.ts';
import { addressValue, amountValue } from '../message/contract-call.ts';

/** What the relayer gives in a swap. */
export interface Given {
  relayer: string;
  token: string;
  amount: bigint;
}

/**
 * Why consents that a simulation has found are refused; undefined where they are what a swap needs. A swap needs
 * consent to the call itself, which is checked elsewhere, and below it to one transfer of the given amount of the
 * token. A path could lead through a contract that asks for more while it is called.
 */
export function consentFault(consents: readonly string[], { relayer, token, amount }: Given): string | undefined {
  const [consent, ...others] = consents.map((text) => entryIn(text));
  if (consent === undefined || others.length > 0) return `it needs ${consents.length} consents, and not one`;
  const { credentials, rootInvocation } = consent;
  if (credentials.type !== 'sorobanCredentialsSourceAccount') return 'it needs somebody else’s consent';
  const [transfer, ...further] = rootInvocation.subInvocations;
  if (transfer === undefined) return 'it takes nothing of the token';
  if (further.length > 0 || transfer.subInvocations.length > 0) return 'it needs the consent to more than one transfer';
  const { function: asked } = transfer;
  if (asked.type !== 'sorobanAuthorizedFunctionTypeContractFn') return 'it needs the consent to make a contract';
  const { contractAddress, functionName, args } = asked.contractFn;
  const [from, to, taken, ...more] = args;
  const isTransfer = functionName.toString() === 'transfer' && more.length === 0 && to?.type === 'scvAddress';
  const isOfToken = same(xdr.ScVal.scvAddress(contractAddress), addressValue(token));
  if (!isTransfer || !isOfToken) return `it calls ${functionName.toString()}, and not the token’s transfer`;
  if (!same(from, addressValue(relayer))) return 'it transfers from somebody else';
  return same(taken, amountValue(amount)) ? undefined : `it transfers another amount than ${amount}`;
}

const same = (one: xdr.ScVal | undefined, other: xdr.ScVal): boolean => one?.toXdr('base64') === other.toXdr('base64');
