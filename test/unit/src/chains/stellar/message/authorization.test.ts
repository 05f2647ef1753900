import { xdr } from '@stellar/stellar-sdk/base';
import t from 'tap';
import { addressIn, entryIn, lastLedgerOf } from '../../../../../../src/chains/stellar/message/authorization.ts';
import { authorizedFunctionOf, hostFunctionOf } from '../../../../../../src/chains/stellar/message/contract.ts';

const CONTRACT = 'CAS3J7GYLGXMF6TDJBBYYSE3HQ6BBSMLNUQ34T6TZMYMW2EVH34XOWMA';

function consent(credentials: xdr.SorobanCredentials): xdr.SorobanAuthorizationEntry {
  const call = { type: 'invoke_contract', contract_address: CONTRACT, function_name: 'hello', args: [] } as const;
  const authorized = authorizedFunctionOf(hostFunctionOf({ ...call, args: [] }));
  if (authorized === undefined) throw new Error('a call is consented to');
  const rootInvocation = new xdr.SorobanAuthorizedInvocation({ function: authorized, subInvocations: [] });
  return new xdr.SorobanAuthorizationEntry({ credentials, rootInvocation });
}

const credentials = new xdr.SorobanAddressCredentials({
  address: xdr.ScAddress.scAddressTypeContract(new xdr.ContractId(Buffer.alloc(32))),
  nonce: 1n,
  signatureExpirationLedger: 4_000_000_000,
  signature: xdr.ScVal.scvVoid(),
});
const Credentials = xdr.SorobanCredentials;
const source = consent(Credentials.sorobanCredentialsSourceAccount());

t.test('a consent comes whole or not at all', (t) => {
  const text = source.toXdr('base64');
  t.ok(entryIn(text));
  for (const none of [text.slice(4), `${text}AAAA`, text.replace('=', ''), '', 'no']) {
    t.equal(entryIn(none), none === text ? source : undefined, none);
  }
  t.end();
});

t.test('each kind of consent but the source’s is of an address, and ends with a ledger', (t) => {
  t.equal(lastLedgerOf(source), null);
  t.equal(addressIn(source.credentials), undefined);
  const delegated = new xdr.SorobanAddressCredentialsWithDelegates({ addressCredentials: credentials, delegates: [] });
  for (const one of [
    Credentials.sorobanCredentialsAddress(credentials),
    Credentials.sorobanCredentialsAddressV2(credentials),
    Credentials.sorobanCredentialsAddressWithDelegates(delegated),
  ]) {
    t.equal(lastLedgerOf(consent(one)), 4_000_000_000n);
    t.equal(addressIn(one), 'CAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABSC4');
  }
  t.end();
});
