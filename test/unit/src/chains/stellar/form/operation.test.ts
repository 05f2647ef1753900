/** For each field of an operation there is one valid value and one invalid value. A field without both fails here. */

import { Keypair, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { z } from 'zod';
import {
  isContractOperation,
  memoSchema,
  operationsSchema,
  paymentSchema,
} from '../../../../../../src/chains/stellar/form/operation.ts';

const ACCOUNT = 'GDLVVGABQKYQVN6VJP7NHSLEA45A5YLS6PNKMIZFV4BBU2HXA5IRVHUR';
const CONTRACT = 'CAS3J7GYLGXMF6TDJBBYYSE3HQ6BBSMLNUQ34T6TZMYMW2EVH34XOWMA';
const CODE = Buffer.from('\0asm\x01\0\0\0', 'latin1');

const payment = { type: 'payment', destination: ACCOUNT, amount: '1', asset: { type: 'native' } };
const invoke = { type: 'invoke_contract', contract_address: CONTRACT, function_name: 'hello', args: [] };
const create = { type: 'create_contract', source: { from: 'address', address: ACCOUNT }, wasm_hash: 'ab'.repeat(32) };
const upload = { type: 'upload_wasm', wasm: { hex: CODE.toString('hex') } };
const credit = (over: object) => ({ ...payment, asset: { type: 'credit4', code: 'TEA', issuer: ACCOUNT, ...over } });
const long = (over: object) => ({
  ...payment,
  asset: { type: 'credit12', code: 'GREENTEA', issuer: ACCOUNT, ...over },
});
const asset = (type: unknown) => ({ ...payment, asset: { type } });
const maker = (over: object) => ({ ...create, source: { from: 'contract', contract: CONTRACT, ...over } });
const auth = (over: unknown) => ({ ...invoke, auth: over });

const consent = new xdr.SorobanAuthorizationEntry({
  credentials: xdr.SorobanCredentials.sorobanCredentialsSourceAccount(),
  rootInvocation: new xdr.SorobanAuthorizedInvocation({
    function: xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeContractFn(
      new xdr.InvokeContractArgs({
        contractAddress: xdr.ScAddress.scAddressTypeAccount(Keypair.fromPublicKey(ACCOUNT).xdrAccountId()),
        functionName: 'hello',
        args: [],
      }),
    ),
    subInvocations: [],
  }),
}).toXdr('base64');

/** By field: a valid operation and an invalid one, which differ in that field only. */
const FIELDS: Record<string, [good: unknown, bad: unknown]> = {
  'payment.type': [payment, { ...payment, type: 'pay' }],
  'payment.destination': [payment, { ...payment, destination: `${ACCOUNT.slice(0, -1)}A` }],
  'payment.amount': [
    { ...payment, amount: 1 },
    { ...payment, amount: 1.5 },
  ],
  'payment.asset': [payment, { ...payment, asset: 'native' }],
  'payment.asset.native.type': [payment, asset('xlm')],
  'payment.asset.credit4.type': [credit({}), credit({ type: 'credit_alphanum4' })],
  'payment.asset.credit4.code': [credit({}), credit({ code: 'GREENTEA' })],
  'payment.asset.credit4.issuer': [credit({}), credit({ issuer: CONTRACT })],
  'payment.asset.credit12.type': [long({}), long({ type: 'credit_alphanum12' })],
  'payment.asset.credit12.code': [long({}), long({ code: 'TEA' })],
  'payment.asset.credit12.issuer': [long({}), long({ issuer: '' })],
  'invoke_contract.type': [invoke, { ...invoke, type: 'invokeContract' }],
  'invoke_contract.contract_address': [invoke, { ...invoke, contract_address: ACCOUNT }],
  'invoke_contract.function_name': [invoke, { ...invoke, function_name: 'with-dash' }],
  'invoke_contract.args': [
    { ...invoke, args: ['void', { u32: 1 }] },
    { ...invoke, args: [{ u33: 1 }] },
  ],
  'invoke_contract.auth': [auth(null), auth('none')],
  'invoke_contract.auth.none.type': [auth({ type: 'none' }), auth({ type: 'nobody' })],
  'invoke_contract.auth.source_account.type': [auth({ type: 'source_account' }), auth({ type: 'source' })],
  // No value is valid: the reference defines this form and refuses it.
  'invoke_contract.auth.addresses.type': [auth(undefined), auth({ type: 'address', signers: [ACCOUNT] })],
  'invoke_contract.auth.addresses.signers': [auth(undefined), auth({ type: 'addresses', signers: [ACCOUNT] })],
  'invoke_contract.auth.xdr.type': [auth({ type: 'xdr', entries: [] }), auth({ type: 'XDR', entries: [] })],
  'invoke_contract.auth.xdr.entries': [
    auth({ type: 'xdr', entries: [consent] }),
    auth({ type: 'xdr', entries: [consent.slice(4)] }),
  ],
  'create_contract.type': [create, { ...create, type: 'deploy' }],
  'create_contract.source': [create, { ...create, source: ACCOUNT }],
  'create_contract.source.address.from': [create, { ...create, source: { from: 'account', address: ACCOUNT } }],
  'create_contract.source.address.address': [create, { ...create, source: { from: 'address', address: CONTRACT } }],
  'create_contract.source.contract.from': [maker({}), maker({ from: 'code' })],
  'create_contract.source.contract.contract': [maker({}), maker({ contract: ACCOUNT })],
  'create_contract.wasm_hash': [create, { ...create, wasm_hash: 'ab'.repeat(31) }],
  'create_contract.salt': [
    { ...create, salt: '01'.repeat(32) },
    { ...create, salt: '1' },
  ],
  'create_contract.constructor_args': [
    { ...create, constructor_args: [{ string: 'tea' }] },
    { ...create, constructor_args: { string: 'tea' } },
  ],
  'create_contract.auth': [
    { ...create, auth: { type: 'none' } },
    { ...create, auth: {} },
  ],
  'upload_wasm.type': [upload, { ...upload, type: 'upload' }],
  'upload_wasm.wasm': [upload, { ...upload, wasm: CODE.toString('hex') }],
  'upload_wasm.wasm.hex.type': [
    { ...upload, wasm: { type: 'hex', hex: CODE.toString('hex') } },
    { ...upload, wasm: { type: 'base64', hex: CODE.toString('hex') } },
  ],
  'upload_wasm.wasm.hex.hex': [upload, { ...upload, wasm: { hex: '0061736' } }],
  'upload_wasm.wasm.base64.type': [
    { ...upload, wasm: { type: 'base64', base64: CODE.toString('base64') } },
    { ...upload, wasm: { type: 7, base64: CODE.toString('base64') } },
  ],
  'upload_wasm.wasm.base64.base64': [
    { ...upload, wasm: { base64: CODE.toString('base64') } },
    { ...upload, wasm: { base64: CODE.toString('base64').slice(0, -1) } },
  ],
  'upload_wasm.auth': [
    { ...upload, auth: { type: 'none' } },
    { ...upload, auth: [] },
  ],
};

type Described = {
  const?: string;
  properties?: Record<string, Described>;
  items?: Described;
  oneOf?: Described[];
  anyOf?: Described[];
};

/** The path of every field in the schema. Variants are named by their `type` or `from`. */
function fieldsIn(schema: Described, path = ''): string[] {
  const variants = schema.oneOf ?? schema.anyOf;
  if (variants !== undefined) return variants.flatMap((variant) => fieldsIn(variant, path));
  const { properties = {} } = schema;
  const tag = (properties['type'] ?? properties['from'])?.const;
  const here = [path, tag].filter((one) => one !== undefined && one !== '').join('.');
  return Object.entries(properties).flatMap(([name, inside]) => [
    `${here}.${name}`,
    ...fieldsIn(inside, `${here}.${name}`),
  ]);
}

t.test('each field has both', (t) => {
  const described = z.toJSONSchema(operationsSchema, { io: 'input', unrepresentable: 'any' }) as Described;
  // `auth` of the other two operations is the same as that of a call. Arguments have a table of their own.
  const told = fieldsIn(described.items ?? {}).filter((field) => !/^(create|upload)\w+\.auth\./.test(field));
  t.same([...new Set(told)].sort(), Object.keys(FIELDS).sort());
  t.end();
});

for (const [field, [good, bad]] of Object.entries(FIELDS)) {
  t.test(field, (t) => {
    t.same(operationsSchema.safeParse([good]).error, undefined, 'the good one');
    t.notOk(operationsSchema.safeParse([bad]).success, 'the bad one');
    t.end();
  });
}

t.test('operations of contracts come alone', (t) => {
  const said = (operations: unknown[]) => operationsSchema.safeParse(operations).error?.issues[0]?.message;
  t.equal(said([invoke, upload]), 'Transaction can contain at most one Soroban operation');
  t.match(said([payment, invoke]), /^Soroban operations must be exclusive/);
  t.equal(said([payment, payment]), undefined);
  t.equal(
    said(Array.from({ length: 101 }, () => payment)),
    'Transaction has 101 operations, but maximum allowed is 100',
  );
  t.ok(isContractOperation(create));
  t.notOk(isContractOperation(payment));
  t.end();
});

t.test('each memo has both', (t) => {
  const memos: Record<string, [good: unknown, bad: unknown]> = {
    none: [{ type: 'none' }, { type: 'none', value: '' }],
    text: [
      { type: 'text', value: 'ü'.repeat(14) },
      { type: 'text', value: 'ü'.repeat(15) },
    ],
    id: [
      { type: 'id', value: '18446744073709551615' },
      { type: 'id', value: '18446744073709551616' },
    ],
    hash: [
      { type: 'hash', value: 'ab'.repeat(32) },
      { type: 'hash', value: 'ab' },
    ],
    return: [
      { type: 'return', value: 'ab'.repeat(32) },
      { type: 'return', value: 'zz'.repeat(32) },
    ],
  };
  t.same(
    Object.keys(memos),
    memoSchema.options.map((option) => option.shape.type.value),
  );
  for (const [type, [good, bad]] of Object.entries(memos)) {
    t.ok(memoSchema.safeParse(good).success, type);
    t.notOk(memoSchema.safeParse(bad).success, type);
  }
  t.end();
});

t.test('a memo is one of five kinds, and no longer than the protocol takes', async (t) => {
  const hash = 'ab'.repeat(32);
  for (const memo of [
    { type: 'none' },
    { type: 'text', value: 'x'.repeat(28) },
    { type: 'id', value: '18446744073709551615' },
    { type: 'hash', value: hash },
    { type: 'return', value: hash },
  ]) {
    t.ok(memoSchema.safeParse(memo).success, memo.type);
  }
  for (const memo of [
    { type: 'text', value: 'ä'.repeat(15) },
    { type: 'id', value: '18446744073709551616' },
    { type: 'hash', value: 'ab' },
    { type: 'other' },
    { type: 'none', value: 1 },
  ]) {
    t.notOk(memoSchema.safeParse(memo).success, JSON.stringify(memo));
  }
});

t.test('payment operation', async (t) => {
  const ACCOUNT = 'GDLVVGABQKYQVN6VJP7NHSLEA45A5YLS6PNKMIZFV4BBU2HXA5IRVHUR';
  const payment = { type: 'payment', destination: ACCOUNT, amount: 1, asset: { type: 'native' } };

  t.test('a payment says whom, what and how much', async (t) => {
    t.ok(paymentSchema.safeParse(payment).success);
    t.ok(paymentSchema.safeParse({ ...payment, amount: '9223372036854775807' }).success);
    t.ok(paymentSchema.safeParse({ ...payment, asset: { type: 'credit4', code: 'USD', issuer: ACCOUNT } }).success);
    t.ok(paymentSchema.safeParse({ ...payment, asset: { type: 'credit12', code: 'DOLLAR', issuer: ACCOUNT } }).success);
  });

  t.test('what the chain would refuse is refused', async (t) => {
    for (const fault of [
      { amount: 0 },
      { amount: -1 },
      { amount: '9223372036854775808' },
      { destination: 'GABC' },
      { asset: { type: 'credit4', code: 'DOLLAR', issuer: ACCOUNT } },
      { asset: { type: 'credit12', code: 'USD', issuer: ACCOUNT } },
      { asset: { type: 'credit4', code: 'USD', issuer: 'nobody' } },
      { source: ACCOUNT },
    ]) {
      t.notOk(paymentSchema.safeParse({ ...payment, ...fault }).success, JSON.stringify(fault));
    }
  });
});
