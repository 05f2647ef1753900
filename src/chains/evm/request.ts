import { z } from 'zod';
import { amountSchema } from '../../domain/amount.ts';
import { invalidRequest } from '../../domain/errors.ts';
import { strictObjectSchema } from '../../domain/json/issue-text.ts';
import type { Timestamp } from '../../features/transactions/records/transaction.ts';
import type { ParsedRequest, RelayerAccount } from '../chain-client.ts';
import { parseRequestForm, readValidUntil } from '../request-form.ts';
import { ADDRESS_PATTERN, addressFault, normalAddress } from './address.ts';
import { chainIdOf } from './chain-identity.ts';
import { type EvmPolicy, type EvmSubjects, policyFault, readPolicy } from './configuration/policy.ts';
import { accessListSchema } from './form/access-list.ts';
import { authorityOf, authorizationFault, authorizationListSchema } from './form/authorization.ts';
import { errorAbiSchema } from './form/error-abi.ts';
import { INTEGER_PATTERN, readInteger } from './form/integer.ts';
import { callData, intrinsicGas, MAX_INIT_CODE } from './price/gas-amount.ts';
import { type EvmRequest, readStoredRequest, type StoredEvmRequest, speedSchema } from './schema.ts';

/** The largest encoded transaction that nodes take, in bytes (`txMaxSize` of go-ethereum's pool). */
const MAX_TRANSACTION = 131_072;

const IN_WEI = 'expected wei as a non-negative integer of at most 256 bits; write amounts beyond 2^53 as a string';

const valueSchema = z
  .union([z.number(), z.string()], IN_WEI)
  .transform((value, context): string => {
    const amount = readInteger(value);
    if (amount !== undefined && amount >= 0n && amount < 1n << 256n) return `0x${amount.toString(16)}`;
    context.addIssue({ code: 'custom', message: IN_WEI });
    return z.NEVER;
  })
  .meta({
    anyOf: [
      { type: 'integer', minimum: 0 },
      { type: 'string', pattern: INTEGER_PATTERN },
    ],
  });

/** Null stands for absent. */
const optionalText = z
  .string()
  .nullish()
  .transform((text) => text ?? null);

const price = amountSchema(128).nullish().transform(orNull);
const accessList = accessListSchema.nullish();
const authorizationList = authorizationListSchema.nullish();
const callDataText = optionalText
  .refine(
    (data) => data === null || (data.length % 2 === 0 && /^(0x)?[0-9a-fA-F]*$/.test(data)),
    'expected an even number of hexadecimal digits',
  )
  .meta({ pattern: '^(0x)?([0-9a-fA-F]{2})*$' });

const NO_BLOBS = 'blob transactions (EIP-4844) are not supported';

/** Advice on keys that JSON-RPC and its libraries use, and that a request does not have. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ['nonce', 'a relayer gives each transaction its nonce itself; `sign-transaction` takes one of your own'],
  ['from', 'a relayer sends from its own address'],
  ['gas', 'did you mean `gas_limit`?'],
  ['chainId', 'the network of the relayer decides it'],
  ['chain_id', 'the network of the relayer decides it'],
  ['type', 'the fields for prices and lists decide it'],
  ...['blobs', 'blob_versioned_hashes', 'blobVersionedHashes', 'max_fee_per_blob_gas', 'maxFeePerBlobGas'].map(
    (key): [string, string] => [key, NO_BLOBS],
  ),
]);

/**
 * The form of a send request; {@link parseSendRequest} checks what must hold between its fields. Fields that are not listed
 * here are refused: if a misspelt limit were dropped silently, money would move that the limit was to hold back. The
 * reference's public client (1.10.0) sends only `to`, `value`, `data`, the five fields for gas and prices, `speed` and
 * `valid_until`. The other fields are ours.
 */
export const sendRequestSchema = strictObjectSchema(
  {
    to: optionalText
      .transform((to) => (to === '' ? null : to))
      .superRefine((to, context) => {
        const message = to === null ? undefined : addressFault(to);
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      })
      .meta({
        pattern: `^$|${ADDRESS_PATTERN}`,
        description:
          'Address of the receiver, 20 bytes in hexadecimal; in mixed case with its checksum (EIP-55). Absent: `data` creates a contract',
      }),
    value: valueSchema.meta({ description: 'In wei, decimal or hexadecimal with 0x' }),
    data: callDataText,
    input: callDataText.meta({
      pattern: '^(0x)?([0-9a-fA-F]{2})*$',
      description: 'Other name of `data`, as in JSON-RPC',
    }),
    gas_limit: amountSchema(64)
      .nullish()
      .transform(orNull)
      .meta({ description: 'In units of gas. Default: estimated' }),
    gas_price: price.meta({ description: 'In wei per unit of gas; makes it a legacy transaction' }),
    max_fee_per_gas: price.meta({ description: 'In wei per unit of gas (EIP-1559)' }),
    max_priority_fee_per_gas: price.meta({ description: 'In wei per unit of gas (EIP-1559)' }),
    speed: speedSchema
      .nullish()
      .transform(orNull)
      .meta({ description: 'Takes prices from the network; replaces the price fields' }),
    valid_until: z.string().nullish().transform(orNull).meta({
      format: 'date-time',
      description: 'Latest time to get into a block (RFC 3339); after it the transaction expires',
    }),
    access_list: accessList.meta({ description: 'Access list (EIP-2930); with gas_price the transaction has type 1' }),
    accessList: accessList.meta({ description: 'Other name of `access_list`, as in JSON-RPC' }),
    authorization_list: authorizationList.meta({
      description: 'Authorization list (EIP-7702); the transaction has type 4',
    }),
    authorizationList: authorizationList.meta({ description: 'Other name of `authorization_list`, as in JSON-RPC' }),
    abi: errorAbiSchema
      .nullish()
      .meta({ description: 'ABI of the called contract, to decode its errors in the reason of a revert' }),
  },
  ADVICE,
);

type Body = z.output<typeof sendRequestSchema>;

/**
 * Checks a send request. A body that does not have the form of a request fails before everything else. Then come the
 * rules of the reference, in its order; the first failure wins. The rules of the chain come last: a request that no
 * node takes, or that no chain would apply, never gets a nonce.
 * @throws AppError `INVALID_REQUEST`
 */
export function parseSendRequest(body: unknown, account: RelayerAccount, now: Timestamp): ParsedRequest {
  const parsed = parseRequestForm(sendRequestSchema, body);
  const stored = storedForm(parsed);
  const request = readStoredRequest(stored);
  const policy = readPolicy(account.policies);

  assertAllowed(policy, { receiver: { to: request.to, relayer: account.address } });
  if (request.to === null && request.data === null) {
    throw invalidRequest('Both txs `to` and `data` fields are missing. At least one of them has to be set.');
  }
  assertAllowed(policy, { request });
  const least = intrinsicGas(request);
  if (request.gasLimit !== null && request.gasLimit < least) {
    throw invalidRequest(`gas_limit is too low, intrinsic gas is ${least} and gas_limit is ${request.gasLimit}`);
  }
  const validUntil = parsed.valid_until === null ? null : readValidUntil(parsed.valid_until, now);
  checkPrice(parsed);
  assertAllowed(policy, { price: request.price });
  checkSize(request);
  checkTotal(request);
  checkAuthorizations(request, policy, account);
  return { request: stored, validUntil, ...PLAIN };
}

/** The lane assigns every nonce. If something else used the nonce, somebody else has the key: the request fails. */
const PLAIN = { anchorKind: 'sequence', onDeath: 'end', contentKey: null } as const;

/** The stored form of a request. Lists and errors are stored only where there are any. */
function storedForm(body: Body): StoredEvmRequest {
  const {
    valid_until: _,
    input,
    access_list,
    accessList: access,
    authorization_list,
    authorizationList: list,
    ...rest
  } = body;
  const { abi, ...request } = rest;
  // Libraries that do not know whether a node reads `data` or `input` send both.
  const data = input !== null && request.data === input ? input : oneOf('data', request.data, 'input', input);
  const accesses = oneOf('access_list', access_list, 'accessList', access);
  const authorizations = oneOf('authorization_list', authorization_list, 'authorizationList', list);
  return {
    ...request,
    data: data ?? null,
    ...(accesses === undefined || accesses.length === 0 ? {} : { access_list: accesses }),
    ...(authorizations === undefined ? {} : { authorization_list: authorizations }),
    ...(abi == null || abi.length === 0 ? {} : { abi }),
  };
}

function oneOf<T>(name: string, value: T | null | undefined, other: string, also: T | null | undefined): T | undefined {
  if (value != null && also != null) throw invalidRequest(`Give ${name} or ${other}, not both`);
  return value ?? also ?? undefined;
}

const PRICES = 'give gas_price, or speed, or max_fee_per_gas and max_priority_fee_per_gas';

/**
 * Each message begins with the reference's words, which its clients may look for. Our fields and the figures follow.
 */
function checkPrice(body: Body): void {
  const { gas_price: gasPrice, max_fee_per_gas: maxFee, max_priority_fee_per_gas: priorityFee, speed } = body;
  const kinds = [gasPrice !== null, maxFee !== null || priorityFee !== null, speed !== null].filter(Boolean).length;
  if (kinds === 0) {
    throw invalidRequest(`Transaction must specify either gasPrice, speed, or EIP1559 parameters: ${PRICES}`);
  }
  if (kinds > 1) {
    const mixed = 'Cannot mix different transaction types. Use either gasPrice, speed, or EIP1559 parameters';
    throw invalidRequest(`${mixed}: ${PRICES}`);
  }
  if ((maxFee === null) !== (priorityFee === null)) {
    const missing = maxFee === null ? 'max_fee_per_gas' : 'max_priority_fee_per_gas';
    throw invalidRequest(
      `EIP1559 transactions require both maxFeePerGas and maxPriorityFeePerGas: ${missing} is missing`,
    );
  }
  if (maxFee !== null && priorityFee !== null && BigInt(maxFee) < BigInt(priorityFee)) {
    const figures = `max_fee_per_gas is ${maxFee}, max_priority_fee_per_gas ${priorityFee}`;
    throw invalidRequest(`maxFeePerGas must be greater than or equal to maxPriorityFeePerGas: ${figures}`);
  }
}

/**
 * The most bytes that the rest of an encoded transaction takes: numbers, addresses, signature and the lengths of lists.
 */
const ENCODED_FRAME = 256;
/** The bytes of an access list entry with the lengths around it, of one of its keys, and of an authorization. */
const ENCODED_ACCESS = 29;
const ENCODED_KEY = 33;
const ENCODED_AUTHORIZATION = 136;

function checkSize({ to, data, accessList: accesses, authorizationList: authorizations }: EvmRequest): void {
  const { length } = callData(data);
  if (to === null && length > MAX_INIT_CODE) {
    throw invalidRequest(`data is too large, init code has ${length} bytes and ${MAX_INIT_CODE} are allowed`);
  }
  const keys = accesses.reduce((count, { storage_keys: one }) => count + one.length, 0);
  const lists = accesses.length * ENCODED_ACCESS + keys * ENCODED_KEY + authorizations.length * ENCODED_AUTHORIZATION;
  const most = MAX_TRANSACTION - ENCODED_FRAME;
  if (length + lists > most) {
    throw invalidRequest(`Transaction is too large, it has ${length + lists} bytes and ${most} are allowed`);
  }
}

/** Nodes calculate in 256 bits, and refuse larger sums. */
function checkTotal(request: EvmRequest): void {
  const { price: requestedPrice, value } = request;
  const perGas =
    requestedPrice.kind === 'speed'
      ? 0n
      : requestedPrice.kind === 'legacy'
        ? requestedPrice.gasPrice
        : requestedPrice.maxFeePerGas;
  const gas = request.gasLimit ?? intrinsicGas(request);
  if (value + perGas * gas >= 1n << 256n) throw invalidRequest('The sum of value and fees exceeds 256 bits');
}

function checkAuthorizations(request: EvmRequest, policy: EvmPolicy, account: RelayerAccount): void {
  const { to, price: requestedPrice, authorizationList: list } = request;
  if (list.length === 0) return;
  if (to === null) throw invalidRequest('authorization_list requires `to`: such a transaction creates no contract');
  assertAllowed(policy, { authorizations: request });
  const chain = account.identity === undefined ? undefined : chainIdOf(account.identity);
  const fault = authorizationFault(list, chain, requestedPrice.kind === 'legacy' ? 'legacy' : 'eip1559');
  if (fault !== undefined) throw invalidRequest(fault);
  // Applying an authorization uses up a nonce of its signer. If the signer is the sender, the lane has already given
  // that nonce to the next transaction. The code that the authorization sets would also move the account's money past
  // every policy.
  const authorities = list.map(authorityOf);
  const nobodys = authorities.indexOf(undefined);
  if (nobodys !== -1) throw invalidRequest(`invalid \`authorization_list.${nobodys}\`: no key can have signed this`);
  const own = authorities.indexOf(normalAddress(account.address));
  if (own === -1) return;
  throw invalidRequest(
    `authorization_list.${own} is signed by the relayer's own key: it would use up the nonce of the relayer's next ` +
      'transaction, and its code could send to others than whitelist_receivers',
  );
}

function orNull<T>(value: T | null | undefined): T | null {
  return value ?? null;
}

/** @throws AppError `INVALID_REQUEST` when a policy forbids one of these */
export function assertAllowed(policy: EvmPolicy, subjects: Partial<EvmSubjects>): void {
  const fault = policyFault(policy, subjects);
  if (fault !== undefined) throw invalidRequest(fault.reason);
}

/**
 * Why the account's policies forbid signing a request now; undefined when they allow it. The policies and the network
 * may have changed since the request was accepted. Price cap and reserve are not checked here: they limit what is
 * signed, and a transaction waits until it fits them.
 */
export function policyViolation(
  request: EvmRequest,
  { policies, address: relayer }: RelayerAccount,
  network: EvmSubjects['network'],
): string | undefined {
  const receiver = { to: request.to, relayer };
  const fault = policyFault(readPolicy(policies), { receiver, request, authorizations: request, network });
  return fault && `Policy ${fault.policy}: ${fault.reason}`;
}
