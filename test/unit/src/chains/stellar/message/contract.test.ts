import { nativeToScVal, scValToNative, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import type { WireContractOperation } from '../../../../../../src/chains/stellar/form/contract.ts';
import {
  authorizedFunctionOf,
  authorizingAddress,
  lastLedgerOfConsent,
  parseAuthorizationEntry,
} from '../../../../../../src/chains/stellar/message/authorization.ts';
import {
  addressValue,
  amountOfValue,
  amountValue,
  callOperation,
  consentsOf,
  hostFunctionOf,
  listValue,
} from '../../../../../../src/chains/stellar/message/contract.ts';
import { TOKEN } from '../../../../../support/stellar-swap-scene.ts';

const ACCOUNT = 'GDLVVGABQKYQVN6VJP7NHSLEA45A5YLS6PNKMIZFV4BBU2HXA5IRVHUR';
const CONTRACT = 'CAS3J7GYLGXMF6TDJBBYYSE3HQ6BBSMLNUQ34T6TZMYMW2EVH34XOWMA';

const invoke: WireContractOperation = {
  type: 'invoke_contract',
  contract_address: CONTRACT,
  function_name: 'hello',
  args: [{ u32: 1 }],
};
const create: WireContractOperation = {
  type: 'create_contract',
  source: { from: 'address', address: ACCOUNT },
  wasm_hash: 'ab'.repeat(32),
};
const upload: WireContractOperation = { type: 'upload_wasm', wasm: { hex: '0061736d' } };

t.test('each operation is a function of the host', (t) => {
  const asked = hostFunctionOf(invoke);
  t.match(asked, { type: 'hostFunctionTypeInvokeContract', invokeContract: { args: [{ u32: 1 }] } });
  t.equal(hostFunctionOf(create).type, 'hostFunctionTypeCreateContract');
  t.equal(hostFunctionOf({ ...create, constructor_args: [] }).type, 'hostFunctionTypeCreateContract');
  t.equal(hostFunctionOf({ ...create, constructor_args: ['void'] }).type, 'hostFunctionTypeCreateContractV2');
  const salted = (salt: string | null) => hostFunctionOf({ ...create, salt }).toXdr('base64');
  t.equal(salted(null), salted('00'.repeat(32)));
  t.not(salted(null), salted('01'.repeat(32)));
  const other = { ...create, source: { from: 'contract', contract: CONTRACT } } as const;
  t.not(hostFunctionOf(other).toXdr('base64'), salted(null));
  const base64 = { type: 'upload_wasm', wasm: { base64: Buffer.from('0061736d', 'hex').toString('base64') } } as const;
  t.equal(hostFunctionOf(base64).toXdr('base64'), hostFunctionOf(upload).toXdr('base64'));
  t.end();
});

t.test('the source consents to the call itself', (t) => {
  t.equal(consentsOf(invoke), null, 'not said: found out');
  t.equal(consentsOf({ ...invoke, auth: null }), null);
  t.same(consentsOf({ ...invoke, auth: { type: 'none' } }), []);
  t.same(consentsOf({ ...upload, auth: { type: 'source_account' } }), [], 'code needs none');
  const types = {
    invoke_contract: 'sorobanAuthorizedFunctionTypeContractFn',
    create_contract: 'sorobanAuthorizedFunctionTypeCreateContractHostFn',
  };
  for (const operation of [invoke, create] as const) {
    const [entry, ...more] = consentsOf({ ...operation, auth: { type: 'source_account' } }) ?? [];
    t.equal(more.length, 0);
    t.equal(entry?.credentials.type, 'sorobanCredentialsSourceAccount');
    t.equal(entry?.rootInvocation.function.type, types[operation.type]);
    t.same(entry?.rootInvocation.subInvocations, []);
    const text = entry?.toXdr('base64') ?? '';
    const [read] = consentsOf({ ...invoke, auth: { type: 'xdr', entries: [text] } }) ?? [];
    t.equal(read?.toXdr('base64'), text);
  }
  t.equal(
    authorizedFunctionOf(hostFunctionOf({ ...create, constructor_args: ['void'] }))?.type,
    'sorobanAuthorizedFunctionTypeCreateContractV2HostFn',
  );
  t.throws(() => consentsOf({ ...invoke, auth: { type: 'xdr', entries: ['AAAA'] } }), TypeError);
  t.end();
});

t.test('authorization', async (t) => {
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
    t.ok(parseAuthorizationEntry(text));
    for (const none of [text.slice(4), `${text}AAAA`, text.replace('=', ''), '', 'no']) {
      t.equal(parseAuthorizationEntry(none), none === text ? source : undefined, none);
    }
    t.end();
  });

  t.test('each kind of consent but the source’s is of an address, and ends with a ledger', (t) => {
    t.equal(lastLedgerOfConsent(source), null);
    t.equal(authorizingAddress(source.credentials), undefined);
    const delegated = new xdr.SorobanAddressCredentialsWithDelegates({
      addressCredentials: credentials,
      delegates: [],
    });
    for (const one of [
      Credentials.sorobanCredentialsAddress(credentials),
      Credentials.sorobanCredentialsAddressV2(credentials),
      Credentials.sorobanCredentialsAddressWithDelegates(delegated),
    ]) {
      t.equal(lastLedgerOfConsent(consent(one)), 4_000_000_000n);
      t.equal(authorizingAddress(one), 'CAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABSC4');
    }
    t.end();
  });
});

t.test('a call is what Stellar’s library makes of it', async (t) => {
  const call = callOperation(TOKEN, 'transfer', [addressValue(TOKEN), amountValue(7n)]);
  const body = call.body.type === 'invokeHostFunction' ? call.body.invokeHostFunctionOp : undefined;
  t.equal(body?.hostFunction.type, 'hostFunctionTypeInvokeContract');
  t.strictSame(body?.auth, []);
  t.strictSame(scValToNative(listValue([addressValue(TOKEN), amountValue(2n ** 100n)])), [TOKEN, 2n ** 100n]);
});

t.test('an amount is one of a token, and nothing else', async (t) => {
  for (const amount of [0n, 1n, 2n ** 127n - 1n]) t.equal(amountOfValue(amountValue(amount)), amount);
  for (const none of [amountValue(-1n), nativeToScVal(5n, { type: 'u128' }), xdr.ScVal.scvVoid(), null, undefined]) {
    t.throws(() => amountOfValue(none), TypeError);
  }
});
