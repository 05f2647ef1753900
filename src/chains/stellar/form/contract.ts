import { z } from 'zod';
import { strictObjectSchema } from '../../../domain/json/issue-text.ts';
import type { Json } from '../../../domain/json/json.ts';
import { isAccountAddress, isContractAddress } from '../address.ts';
import { parseAuthorizationEntry } from '../message/authorization.ts';
import { contractValueOf, parseSymbol, ValueFault } from '../message/contract-value.ts';

/** A bound above what any network takes in one transaction. */
const MAX_ENTRIES = 100;

const entry = z
  .string()
  .refine((text) => parseAuthorizationEntry(text) !== undefined, 'expected a SorobanAuthorizationEntry in base64');

/** Who consents to a call, as clients write it. */
export const authorizationSchema = z
  .discriminatedUnion('type', [
    strictObjectSchema({ type: z.literal('none') }),
    strictObjectSchema({ type: z.literal('source_account') }),
    strictObjectSchema({
      type: z.literal('addresses'),
      // In the reference's words.
      signers: z.array(z.string()).refine(() => false, 'Address-based auth not yet implemented'),
    }),
    strictObjectSchema({
      type: z.literal('xdr'),
      entries: z.array(entry).max(MAX_ENTRIES).meta({ description: 'Signed authorization entries, in base64' }),
    }),
  ])
  .meta({
    description:
      'Who authorizes the call. Default: the relayer, for itself only, to all calls that the simulation finds',
  });

export type WireAuthorization = z.output<typeof authorizationSchema>;

/** A contract's argument as clients write it: one key, which names the type. */
export const contractValueSchema = z
  .unknown()
  .transform((value) => value as Json)
  .superRefine((value, context) => {
    try {
      contractValueOf(value);
    } catch (error) {
      if (!(error instanceof ValueFault)) throw error;
      context.addIssue({ code: 'custom', message: error.message, path: [...error.path] });
    }
  })
  .meta({
    description: 'Object with the type as its only key: {"u32": 7}, {"i128": {"hi": 0, "lo": "7"}}, {"address": "C…"}',
    anyOf: [{ type: 'object', minProperties: 1, maxProperties: 1 }, { const: 'void' }],
  });

/** Bounds above what any network takes in one transaction. */
const MAX_VALUES = 1_000;

const MAX_CODE = 256 * 1024;

const contract = z.string().refine(isContractAddress, 'expected a contract (C…)');

const hash = z.string().regex(/^[0-9a-fA-F]{64}$/, 'expected 64 hexadecimal digits');

const values = z.array(contractValueSchema).max(MAX_VALUES);

const functionName = z.string().superRefine((text, context) => {
  try {
    if (text === '') throw new ValueFault('expected the name of a function');
    parseSymbol(text);
  } catch (error) {
    if (!(error instanceof ValueFault)) throw error;
    context.addIssue({ code: 'custom', message: error.message });
  }
});

/** A call of a contract's function as clients write it. */
export const invokeContractSchema = strictObjectSchema({
  type: z.literal('invoke_contract'),
  contract_address: contract.meta({ description: 'Contract to call' }),
  function_name: functionName.meta({ description: 'Function to call' }),
  args: values.meta({ description: 'Arguments of the function, in order' }),
  auth: authorizationSchema.nullish(),
});

/** The creation of a contract as clients write it. */
export const createContractSchema = strictObjectSchema({
  type: z.literal('create_contract'),
  source: z
    .discriminatedUnion('from', [
      strictObjectSchema({
        from: z.literal('address'),
        address: z.string().refine(isAccountAddress, 'expected an account (G…)').meta({
          description: 'Account that creates it',
        }),
      }),
      strictObjectSchema({
        from: z.literal('contract'),
        contract: contract.meta({ description: 'Contract that creates it' }),
      }),
    ])
    .meta({ description: 'Creator, from which the address of the new contract is derived' }),
  wasm_hash: hash.meta({ description: 'Hash of the code, which has been uploaded before' }),
  salt: hash.nullish().meta({ description: 'Each salt gives another address. Default: zeros' }),
  constructor_args: values.nullish().meta({ description: 'Arguments of the constructor. Default: none' }),
  auth: authorizationSchema.nullish(),
});

const SIZE = `expected the code of a contract, of at most ${MAX_CODE} bytes`;

/** Checks that code begins as WebAssembly does, and that its hex or base64 text is canonical. */
const code = (encoding: 'hex' | 'base64') =>
  z.string().refine((text) => {
    const bytes = Buffer.from(text, encoding);
    const isCanonical = bytes.toString(encoding) === (encoding === 'hex' ? text.toLowerCase() : text);
    return isCanonical && bytes.length <= MAX_CODE && bytes.subarray(0, 4).toString('latin1') === '\0asm';
  }, SIZE);

/** Code of contracts as clients write it. */
export const uploadWasmSchema = strictObjectSchema({
  type: z.literal('upload_wasm'),
  wasm: z
    .union(
      [
        strictObjectSchema({ type: z.literal('hex').exactOptional(), hex: code('hex') }),
        strictObjectSchema({ type: z.literal('base64').exactOptional(), base64: code('base64') }),
      ],
      { error: SIZE },
    )
    .meta({ description: 'Code of the contract (WebAssembly)' }),
  auth: authorizationSchema.nullish(),
});

export type WireInvokeContract = z.output<typeof invokeContractSchema>;

export type WireCreateContract = z.output<typeof createContractSchema>;

type WireUploadWasm = z.output<typeof uploadWasmSchema>;

export type WireContractOperation = WireInvokeContract | WireCreateContract | WireUploadWasm;
