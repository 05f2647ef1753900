import t from 'tap';
import {
  authorizationSchema,
  createContractSchema,
  invokeContractSchema,
  uploadWasmSchema,
} from '../../../../../../src/chains/stellar/form/contract.ts';

const CONTRACT = 'CAS3J7GYLGXMF6TDJBBYYSE3HQ6BBSMLNUQ34T6TZMYMW2EVH34XOWMA';
const invoke = { type: 'invoke_contract', contract_address: CONTRACT, function_name: 'hello', args: [] };

t.test('a function has a name that contracts can have', (t) => {
  for (const name of ['a', 'swap_2', 'x'.repeat(32)]) {
    t.ok(invokeContractSchema.safeParse({ ...invoke, function_name: name }).success, name);
  }
  for (const name of ['', 'a b', 'ü', 'x'.repeat(33), 1]) {
    t.notOk(invokeContractSchema.safeParse({ ...invoke, function_name: name }).success, String(name));
  }
  const { args: _, ...without } = invoke;
  t.match(invokeContractSchema.safeParse(without).error?.issues[0], { path: ['args'] }, 'none are none');
  t.end();
});

t.test('what is left out is kept out', (t) => {
  const made = {
    type: 'create_contract',
    source: { from: 'contract', contract: CONTRACT },
    wasm_hash: 'ab'.repeat(32),
  };
  t.strictSame(createContractSchema.parse(made), made);
  t.notOk(createContractSchema.safeParse({ ...made, from: 'contract' }).success, 'nothing is unknown');
  t.end();
});

t.test('code begins as code does, and is not endless', (t) => {
  const wasm = (bytes: Buffer) =>
    uploadWasmSchema.safeParse({ type: 'upload_wasm', wasm: { hex: bytes.toString('hex') } });
  const start = Buffer.from('\0asm', 'latin1');
  t.ok(wasm(start).success);
  t.ok(wasm(Buffer.concat([start, Buffer.alloc(256 * 1024 - 4)])).success);
  t.notOk(wasm(Buffer.concat([start, Buffer.alloc(256 * 1024 - 3)])).success);
  t.notOk(wasm(Buffer.from('#!/bin/sh')).success);
  t.notOk(wasm(Buffer.alloc(0)).success);
  t.end();
});

t.test('who consents is one of four, and one of them is not taken', (t) => {
  t.ok(authorizationSchema.safeParse({ type: 'none' }).success);
  t.ok(authorizationSchema.safeParse({ type: 'source_account' }).success);
  t.ok(authorizationSchema.safeParse({ type: 'xdr', entries: [] }).success);
  const said = (auth: unknown) => authorizationSchema.safeParse(auth).error?.issues[0];
  t.match(said({ type: 'addresses', signers: ['G'] }), { message: 'Address-based auth not yet implemented' });
  t.match(said({ type: 'xdr', entries: ['AAAA'] }), { path: ['entries', 0], message: /SorobanAuthorizationEntry/ });
  t.ok(said({ type: 'none', entries: [] }));
  t.end();
});
