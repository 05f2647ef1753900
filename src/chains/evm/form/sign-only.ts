import { z } from 'zod';
import { amountOf, amountSchema, amountUpTo, jsonAmount } from '../../../domain/amount.ts';
import { invalidRequest } from '../../../domain/errors.ts';
import type { JsonObject, WireObject } from '../../../domain/json/json.ts';
import { networkNotReached } from '../../../features/relayers/records/relayer.ts';
import type { Signer } from '../../../signers/signer.ts';
import type { RelayerAccount } from '../../chain-client.ts';
import { parseRequestForm } from '../../request-form.ts';
import { chainIdOf } from '../chain-identity.ts';
import { readPolicy } from '../configuration/policy.ts';
import { priceFields } from '../price/gas-price.ts';
import { assertAllowed, parseSendRequest, sendRequestSchema } from '../request.ts';
import { type EvmFields, readChainFields, readStoredRequest } from '../schema.ts';
import { signTransaction } from '../signing.ts';

/**
 * The fields of the body beyond a send request. They are checked before the others. EIP-2681 sets the highest nonce.
 */
const unsentSchema = z.looseObject({
  nonce: amountUpTo((1n << 64n) - 2n).meta({
    description: 'Nonce, chosen by the caller; at most 2^64 - 2 (EIP-2681)',
    anyOf: [
      { type: 'integer', format: 'uint64', minimum: 0 },
      { type: 'string', pattern: '^\\d{1,20}$' },
    ],
  }),
  gas_limit: amountSchema(64).meta({ description: 'In units of gas' }),
});

/** The whole form, for the description of the API. Fields without a meaning when there is no network are left out. */
export const signOnlyRequestSchema: z.ZodType = sendRequestSchema
  .omit({ speed: true, valid_until: true, abi: true })
  .extend(unsentSchema.shape);

/**
 * Signs a transaction that is not sent, under a nonce that the caller chooses. The body is a send request with `nonce`,
 * `gas_limit` and a price; the same policies apply. Asks no node and leaves the account's order of nonces alone.
 * @param declaredChainId for an account whose chain is not pinned yet
 * @throws AppError `INVALID_REQUEST`, `SIGNER_FAILED`; `RELAYER_DISABLED` while the chain is unknown
 */
export async function signOnlyTransaction(
  body: unknown,
  account: RelayerAccount,
  signer: Signer,
  declaredChainId: bigint | null,
): Promise<WireObject> {
  const policy = readPolicy(account.policies);
  assertAllowed(policy, { signature: body });
  refuseOtherFamilies(body);
  const { nonce, ...others } = parseRequestForm(unsentSchema, body);
  const { gas_limit } = others;
  const { request, validUntil } = parseSendRequest(others, account, 0);
  const { price, ...requested } = readStoredRequest(request);
  if (price.kind === 'speed') {
    throw invalidRequest('`speed` needs a network to ask for prices: give gas_price or EIP1559 parameters');
  }
  if (validUntil !== null) throw invalidRequest('`valid_until` cannot be kept: a signature does not expire');
  if (requested.abi.length > 0) throw invalidRequest('`abi` has no use: nobody looks what becomes of a signature');
  const chainId = account.identity === undefined ? declaredChainId : chainIdOf(account.identity);
  if (chainId === null) throw networkNotReached();

  const paid = policy.gasPriceCap.lower(price);
  const fields: EvmFields = {
    chain_id: jsonAmount(chainId),
    from: account.address,
    gas_limit,
    ...priceFields(paid),
  };
  const signed = await signTransaction({ request }, fields as JsonObject, amountOf(nonce), signer);
  return {
    hash: signed.hash,
    transaction: signed.raw,
    signature: readChainFields(signed.fields)?.signature,
    chain_id: chainId,
    nonce: amountOf(nonce),
    from: account.address,
    to: requested.to,
    value: requested.stored.value,
    data: requested.data,
    gas_limit: amountOf(gas_limit),
    gas_price: paid.kind === 'legacy' ? String(paid.gasPrice) : null,
    max_fee_per_gas: paid.kind === 'legacy' ? null : String(paid.maxFeePerGas),
    max_priority_fee_per_gas: paid.kind === 'legacy' ? null : String(paid.maxPriorityFeePerGas),
  };
}

/** Refuses bodies of other families with a text of its own. A list of unknown and missing keys would help nobody. */
function refuseOtherFamilies(body: unknown): void {
  if (typeof body !== 'object' || body === null || !('unsigned_xdr' in body || 'transaction' in body)) return;
  throw invalidRequest(
    'EVM relayers sign a send request with nonce, gas_limit and a price; unsigned_xdr and transaction are for other ' +
      'network types',
  );
}
