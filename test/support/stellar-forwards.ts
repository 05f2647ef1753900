import { Asset, type Keypair, xdr } from '@stellar/stellar-sdk/base';
import { contractCall } from '../../src/chains/stellar/message/contract.ts';
import {
  consentedCallOf,
  type FeeForward,
  feeApprovalOf,
  forwardBodyOf,
} from '../../src/chains/stellar/message/forward.ts';
import { address, u32 } from './stellar-contract-scene.ts';
import { CLIENT, envelopeText } from './stellar-envelopes.ts';
import { PASSPHRASE, RELAYER } from './stellar-relayer.ts';

/** The contract of lumens, and contracts that belong to no test account. */
export const LUMENS = Asset.native().contractId(PASSPHRASE);
export const FORWARDER = 'CAS3J7GYLGXMF6TDJBBYYSE3HQ6BBSMLNUQ34T6TZMYMW2EVH34XOWMA';
export const TARGET = 'CAG5LRYQ5JVEUI5TEID72EYOVX44TTUJT5BQR2J6J77FH65PCCFAJDDH';

/** A call for the client: the relayer takes 5,000 stroops in lumens, up to ledger 90. */
export const forwardTo = (over: Partial<FeeForward> = {}): FeeForward => ({
  forwarder: FORWARDER,
  token: LUMENS,
  fee: 5_000n,
  mostFee: 5_250n,
  lastLedger: 90,
  target: contractCall(TARGET, 'add', [address(CLIENT), u32(5)]),
  user: CLIENT.publicKey(),
  relayer: RELAYER.publicKey(),
  ...over,
});

export const below = (call: xdr.InvokeContractArgs, ...subInvocations: xdr.SorobanAuthorizedInvocation[]) =>
  new xdr.SorobanAuthorizedInvocation({
    function: xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeContractFn(call),
    subInvocations,
  });

/** What the user of a call consents to. */
export const rootOf = (forward: FeeForward): xdr.SorobanAuthorizedInvocation =>
  below(consentedCallOf(forward), below(feeApprovalOf(forward)), below(forward.target));

/** An unsigned consent of an account, valid up to a ledger. */
export function consentBy(
  who: Keypair | string,
  rootInvocation: xdr.SorobanAuthorizedInvocation,
  lastLedger = 90,
): xdr.SorobanAuthorizationEntry {
  const given = new xdr.SorobanAddressCredentials({
    address: (address(who) as xdr.ScValAddress).address,
    nonce: 1n,
    signatureExpirationLedger: lastLedger,
    signature: xdr.ScVal.scvVoid(),
  });
  const credentials = xdr.SorobanCredentials.sorobanCredentialsAddress(given);
  return new xdr.SorobanAuthorizationEntry({ credentials, rootInvocation });
}

/** The relayer's envelope of a call, unsigned. */
export function forwardText(forward: FeeForward, consent: xdr.SorobanAuthorizationEntry | null = null): string {
  const operation = new xdr.Operation({ sourceAccount: null, body: forwardBodyOf(forward, consent) });
  return envelopeText(RELAYER, [operation], { signers: [] });
}
