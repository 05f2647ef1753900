import { hash } from 'node:crypto';
import { z } from 'zod';
import type { WireObject } from '../../../domain/json/json.ts';
import type { Signer } from '../../../signers/signer.ts';
import type { Account } from '../../chain-client.ts';
import { readForm } from '../../request-form.ts';
import { shownSignature, signDigest } from '../signing.ts';
import { typedDataDigest } from './typed-data.ts';

const messageSchema = z.strictObject({
  // Half of a surrogate pair has no UTF-8. Other bytes would be signed than were sent.
  message: z.string().refine((text) => text.isWellFormed(), 'expected a text that UTF-8 can hold'),
});

/**
 * Signs the UTF-8 bytes of a text as a personal message (EIP-191, version `E`). `0x` at the start has no special
 * meaning.
 * @throws AppError `INVALID_REQUEST`, `SIGNER_FAILED`
 */
export async function signMessage(body: unknown, account: Account, signer: Signer): Promise<WireObject> {
  const message = Buffer.from(readForm(messageSchema, body).message, 'utf8');
  const prefix = Buffer.from(`\u0019Ethereum Signed Message:\n${message.length}`, 'utf8');
  return signed(hash('keccak-256', Buffer.concat([prefix, message]), 'buffer'), account, signer);
}

/**
 * Signs typed data (EIP-712), given as its two digests or as a whole.
 * @throws AppError `INVALID_REQUEST`, `SIGNER_FAILED`
 */
export async function signTypedData(body: unknown, account: Account, signer: Signer): Promise<WireObject> {
  return signed(typedDataDigest(body), account, signer);
}

async function signed(digest: Uint8Array, account: Account, signer: Signer): Promise<WireObject> {
  const { r, s, yParity } = await signDigest(digest, account.address, signer);
  return { ...shownSignature(r, s, 27 + yParity) };
}
