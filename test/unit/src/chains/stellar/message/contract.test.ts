import t from 'tap';
import type { WireContractOperation } from '../../../../../../src/chains/stellar/form/contract.ts';
import {
  authorizedFunctionOf,
  consentsOf,
  hostFunctionOf,
} from '../../../../../../src/chains/stellar/message/contract.ts';

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
