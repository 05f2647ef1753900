import { z } from 'zod';
import { toBase58 } from '../../../domain/base58.ts';
import { AppError, invalidRequest } from '../../../domain/errors.ts';
import { strictForm } from '../../../domain/json/issue-text.ts';
import type { WireObject } from '../../../domain/json/json.ts';
import type { Signer } from '../../../signers/signer.ts';
import type { Account } from '../../chain-client.ts';
import { readForm } from '../../request-form.ts';
import { addressOf, keyOf } from '../address.ts';

/** The beginning of every signed text. No transaction begins with 0xff, so no signed text is a transaction. */
const SIGNING_DOMAIN = Buffer.from('\xffsolana offchain', 'latin1');
const VERSION = 0;
/** Zeros: no application in particular. */
const APPLICATION_DOMAIN = Buffer.alloc(32);
const FORMAT_ASCII = 0;
const FORMAT_UTF8 = 1;

/**
 * The longest text that a hardware wallet shows, in bytes: a packet without the header (Solana, "Off-Chain Message
 * Signing").
 */
const LONGEST = 1_212;

const schema = strictForm({
  // Half of a surrogate pair has no UTF-8 form: the signed text would differ from the sent one.
  message: z.string().refine((text) => text.isWellFormed(), 'expected a text that UTF-8 can hold'),
});

/**
 * Signs a text as an off-chain message of version 0, so that it can never be taken for a transaction. A service that
 * takes texts and no bytes signs the text as it is, where the text is no transaction of the account.
 * @throws AppError `INVALID_REQUEST`, `SIGNER_FAILED`
 */
export async function signMessage(body: unknown, { address }: Account, signer: Signer): Promise<WireObject> {
  const { message } = readForm(schema, body);
  const bytes = offChainMessage(message, address);
  const { signText } = signer;
  const own = addressOf(await signer.publicKey('ed25519'));
  if (own !== address) {
    throw new AppError('SIGNER_FAILED', { id: signer.id, reason: `its key is that of ${own}, not of ${address}` });
  }
  const signature = signText === undefined ? signer.sign('ed25519', bytes) : signText(message);
  return { signature: toBase58(await signature), public_key: address };
}

/** The bytes that are signed for a text. */
function offChainMessage(text: string, address: string): Buffer {
  const message = Buffer.from(text, 'utf8');
  if (message.length === 0) throw invalidRequest('invalid `message`: expected a text that is not empty');
  if (message.length > LONGEST) throw invalidRequest(`invalid \`message\`: expected at most ${LONGEST} bytes`);
  const length = Buffer.alloc(2);
  length.writeUInt16LE(message.length);
  const format = /^[\x20-\x7e]*$/.test(text) ? FORMAT_ASCII : FORMAT_UTF8;
  return Buffer.concat([
    SIGNING_DOMAIN,
    Buffer.from([VERSION]),
    APPLICATION_DOMAIN,
    Buffer.from([format, 1]),
    keyOf(address),
    length,
    message,
  ]);
}
