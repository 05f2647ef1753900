// The node's simulation decides what is signed. So these tests try each answer that could make it sign something else.

import { xdr } from '@stellar/stellar-sdk/base';
import t from 'tap';
import { authorizedFunctionOf } from '../../../../../../src/chains/stellar/message/authorization.ts';
import { hostFunctionOf } from '../../../../../../src/chains/stellar/message/contract.ts';
import { draftTransaction } from '../../../../../../src/chains/stellar/message/draft.ts';
import { contractNeeds } from '../../../../../../src/chains/stellar/price/contract-call.ts';
import type { StellarOperation } from '../../../../../../src/chains/stellar/schema.ts';
import type { Json } from '../../../../../../src/domain/json/json.ts';
import type { ReadFromEndpoint } from '../../../../../../src/egress/rpc/rpc-client.ts';
import { RELAYER } from '../../../../../support/stellar-relayer.ts';

const CONTRACT = 'CAS3J7GYLGXMF6TDJBBYYSE3HQ6BBSMLNUQ34T6TZMYMW2EVH34XOWMA';
const call = (name: string) =>
  ({ type: 'invoke_contract', contract_address: CONTRACT, function_name: name, args: [] }) satisfies StellarOperation;

const data = new xdr.SorobanTransactionData({
  ext: xdr.SorobanTransactionDataExt.v0(),
  resources: new xdr.SorobanResources({
    footprint: new xdr.LedgerFootprint({ readOnly: [], readWrite: [] }),
    instructions: 5,
    diskReadBytes: 0,
    writeBytes: 0,
  }),
  resourceFee: 4_000n,
}).toXdr('base64');

function consent(
  name: string,
  credentials: xdr.SorobanCredentials = xdr.SorobanCredentials.sorobanCredentialsSourceAccount(),
): string {
  const authorized = authorizedFunctionOf(hostFunctionOf(call(name)));
  if (authorized === undefined) throw new Error('a call is consented to');
  const rootInvocation = new xdr.SorobanAuthorizedInvocation({ function: authorized, subInvocations: [] });
  return new xdr.SorobanAuthorizationEntry({ credentials, rootInvocation }).toXdr('base64');
}

const until = (ledger: number) =>
  xdr.SorobanCredentials.sorobanCredentialsAddress(
    new xdr.SorobanAddressCredentials({
      address: xdr.ScAddress.scAddressTypeContract(new xdr.ContractId(Buffer.alloc(32))),
      nonce: 1n,
      signatureExpirationLedger: ledger,
      signature: xdr.ScVal.scvVoid(),
    }),
  );

const ran = (auth: string[] = []): Json => ({ transactionData: data, minResourceFee: '4000', results: [{ auth }] });

function needs(operation: StellarOperation, answer: Json) {
  const read: ReadFromEndpoint = async (_method, _params, parse) => parse(answer);
  return contractNeeds(read, draftTransaction({ operations: [operation] }, RELAYER.publicKey()), 50n);
}

t.test('the source’s consent to the call itself is taken from the node', async (t) => {
  const own = consent('add');
  t.strictSame(await needs(call('add'), ran([own])), { kind: 'needs', fields: { data, consents: [own] }, fee: 4_000n });
  t.match(await needs(call('add'), ran()), { fields: { consents: [] } });
  for (const other of [consent('steal'), consent('add', until(90))]) {
    t.match(await needs(call('add'), ran([own, other])), { kind: 'refused', reason: /another account/ });
  }
});

t.test('consents that are given are kept, and end with the first of them', async (t) => {
  const entries = [consent('add', until(90)), consent('add', until(60)), consent('add')];
  const operation = { ...call('add'), auth: { type: 'xdr' as const, entries } };
  t.match(await needs(operation, ran([consent('steal')])), { fields: { consents: entries, last_ledger: 60 } });
  const late = { ...call('add'), auth: { type: 'xdr' as const, entries: [consent('add', until(50))] } };
  t.match(await needs(late, ran()), { kind: 'refused', end: 'expired' });
});

t.test('what failed is refused, what is archived comes back first', async (t) => {
  t.match(await needs(call('add'), { error: 'HostError: Error(Contract, #3)' }), {
    kind: 'refused',
    reason: /simulation failed: HostError: Error\(Contract, #3\)$/,
  });
  const archived = { restorePreamble: { transactionData: data, minResourceFee: '4000' } };
  const first = await needs(call('add'), archived);
  t.match(first, {
    kind: 'first',
    first: { request: { operations: [{ type: 'restore_footprint', data }] }, anchorKind: 'sequence', onDeath: 'renew' },
  });
  const restore = { type: 'restore_footprint', data } as const;
  t.match(await needs(restore, ran()), { kind: 'needs', fields: { data, consents: [] }, fee: 4_000n });
  t.match(await needs(restore, { error: 'can not restore a missing entry' }), { kind: 'refused', reason: /missing/ });
  t.match(await needs(restore, archived), { kind: 'refused' }, 'one is enough');
});
