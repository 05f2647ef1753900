import { hash } from 'node:crypto';
import { z } from 'zod';
import { amountOf, amountSchema } from '../../../domain/amount.ts';
import type { JsonObject } from '../../../domain/json/json.ts';
import { recoverPublicKey } from '../../../signers/secp256k1.ts';
import { addressOfPublicKey, addressSchema } from '../address.ts';
import { toQuantity } from '../rpc-calls.ts';
import { integerUpTo } from './integer.ts';
import { encodeRlp, type RlpItem, rlpInteger } from './rlp.ts';

/** The most authorizations in a list. Computing who signed each of them blocks the thread of all requests. */
const MAX_AUTHORIZATIONS = 16;
/** The order of secp256k1. The protocol ignores a signature whose s is above half of it (EIP-2). */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const word = (most: bigint, fault: string) => integerUpTo(most, fault).transform((value) => hex32(amountOf(value)));
const chainId = integerUpTo((1n << 256n) - 1n, 'expected a chain id, or 0 for any chain').optional();
const yParity = integerUpTo(1n, 'expected 0 or 1').optional();

const entrySchema = z
  .strictObject({
    chain_id: chainId,
    chainId: chainId.meta({ description: 'Other name of `chain_id`, as in JSON-RPC' }),
    address: addressSchema,
    nonce: integerUpTo((1n << 64n) - 2n, 'expected a nonce below 2^64 - 1'),
    y_parity: yParity,
    yParity: yParity.meta({ description: 'Other name of `y_parity`, as in JSON-RPC' }),
    v: integerUpTo(28n, 'expected 27 or 28').optional().meta({
      description: '27 plus `y_parity`, as some libraries add',
    }),
    r: word(ORDER - 1n, 'expected r below the order of secp256k1'),
    s: word(ORDER / 2n, 'expected s in the lower half of the order of secp256k1'),
  })
  .transform((given, context): StoredAuthorization => {
    const { address, nonce, r, s, v } = given;
    const fault = (key: string, message: string) => context.addIssue({ code: 'custom', path: [key], message });
    const chain = given.chain_id ?? given.chainId;
    const parity = given.y_parity ?? given.yParity;
    if (chain === undefined) fault('chain_id', 'missing');
    if (parity === undefined) fault('y_parity', 'missing');
    if ((given.chainId ?? chain) !== chain) fault('chainId', 'chain_id is another one');
    if ((given.yParity ?? parity) !== parity) fault('yParity', 'y_parity is another one');
    if (v !== undefined && Number(v) !== 27 + Number(parity)) fault('v', 'expected 27 more than y_parity');
    return { chain_id: chain ?? 0, address, nonce, y_parity: Number(parity ?? 0), r, s };
  });

/**
 * An authorization list (EIP-7702) as clients send it. Numbers come as JSON numbers, or as decimal or hexadecimal
 * texts. Entries that the protocol would silently ignore are refused here, except for a signature that no key can have
 * made: that takes longer to find out, see {@link authorityOf}.
 */
export const authorizationListSchema = z
  .array(entrySchema)
  .min(1, 'expected at least one authorization')
  .max(MAX_AUTHORIZATIONS);

const amount = amountSchema(256);

const storedAuthorizationSchema = z.strictObject({
  chain_id: amount,
  address: z.string(),
  nonce: amount,
  y_parity: z.int(),
  /** `0x` and 32 bytes, as `s`. */
  r: z.string(),
  s: z.string(),
});

/** An authorization list as requests store it. */
export const storedAuthorizationListSchema = z.array(storedAuthorizationSchema);

export type StoredAuthorization = z.output<typeof storedAuthorizationSchema>;

/**
 * The account whose code an authorization sets: that of the key that signed it. Undefined when no key can have signed
 * it.
 */
export function authorityOf({ chain_id, address, nonce, y_parity, r, s }: StoredAuthorization): string | undefined {
  const content = encodeRlp([rlpInteger(amountOf(chain_id)), address, rlpInteger(amountOf(nonce))]);
  const digest = hash('keccak-256', Buffer.from(`05${content.slice(2)}`, 'hex'), 'buffer');
  const signature = Buffer.from(`${r.slice(2)}${s.slice(2)}0${y_parity}`, 'hex');
  const publicKey = recoverPublicKey(digest, signature);
  return publicKey === undefined ? undefined : addressOfPublicKey(publicKey);
}

/**
 * Why a transaction cannot carry a list, or why a chain would take the transaction and not apply the list. Undefined
 * when nothing is wrong.
 * @param chain undefined while it is unknown
 * @param pricing of the transaction: only one with the two fees of EIP-1559 can carry a list
 */
export function authorizationFault(
  list: readonly StoredAuthorization[],
  chain: bigint | undefined,
  pricing: 'legacy' | 'eip1559',
): string | undefined {
  if (list.length > 0 && pricing === 'legacy') return 'authorization_list requires EIP1559 parameters';
  if (chain === undefined) return undefined;
  const foreign = list.findIndex(({ chain_id }) => amountOf(chain_id) !== 0n && amountOf(chain_id) !== chain);
  if (foreign === -1) return undefined;
  return `authorization_list.${foreign} is for chain ${list[foreign]?.chain_id}, and the relayer sends on chain ${chain}`;
}

/** The list as a signed transaction has it. */
export function rlpAuthorizationList(list: readonly StoredAuthorization[]): RlpItem[] {
  return list.map(({ chain_id, address, nonce, y_parity, r, s }) => [
    rlpInteger(amountOf(chain_id)),
    address,
    rlpInteger(amountOf(nonce)),
    rlpInteger(BigInt(y_parity)),
    rlpInteger(BigInt(r)),
    rlpInteger(BigInt(s)),
  ]);
}

/** The list in JSON-RPC's form. */
export function rpcAuthorizationList(list: readonly StoredAuthorization[]): JsonObject[] {
  return list.map(({ chain_id, address, nonce, y_parity, r, s }) => ({
    chainId: toQuantity(amountOf(chain_id)),
    address,
    nonce: toQuantity(amountOf(nonce)),
    yParity: toQuantity(BigInt(y_parity)),
    r: toQuantity(BigInt(r)),
    s: toQuantity(BigInt(s)),
  }));
}

function hex32(value: bigint): string {
  return `0x${value.toString(16).padStart(64, '0')}`;
}
