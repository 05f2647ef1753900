// A signature of a text must never be valid for a transaction. Otherwise a client that may only have texts signed could
// take the account's money.
import { VersionedMessage } from '@solana/web3.js';
import t from 'tap';
import { signMessage } from '../../../../../../src/chains/solana/form/message.ts';
import { decodeMessage } from '../../../../../../src/chains/solana/message/compiled-message.ts';
import { isSignatureOf } from '../../../../../../src/chains/solana/message/transaction.ts';
import { fromBase58 } from '../../../../../../src/domain/base58.ts';
import { fc, runsOf } from '../../../../../support/properties.ts';
import { keypair } from '../../../../../support/solana-messages.ts';
import { RELAYER, relayerAccount, signerOf } from '../../../../../support/solana-relayer.ts';

const account = relayerAccount();
const signer = signerOf(RELAYER);

/**
 * The format of Solana's "Off-Chain Message Signing": domain, version, application, format, one signer, length, text.
 */
function offChainMessage(text: string, format: number): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([
    Buffer.from('ff736f6c616e61206f6666636861696e', 'hex'),
    Buffer.from([0]),
    Buffer.alloc(32),
    Buffer.from([format, 1]),
    RELAYER.publicKey.toBuffer(),
    Buffer.from([bytes.length & 0xff, bytes.length >> 8]),
    bytes,
  ]);
}

/** Whether the relayer signs the text in that format, and the signed bytes are not a transaction message. */
async function isSignedAs(text: string, format: number): Promise<boolean> {
  const bytes = offChainMessage(text, format);
  const { signature, public_key: key } = await signMessage({ message: text }, account, signer);
  const signed = fromBase58(String(signature), 64) ?? Buffer.alloc(64);
  return key === account.address && isSignatureOf(account.address, signed, bytes) && isNoMessage(bytes);
}

t.test('the bytes are those of the specification', async (t) => {
  for (const [text, format] of [
    ['Hello ~', 0],
    ['a\nb', 1],
    ['tab\t', 1],
    ['\u007f', 1],
    ['ä€😀', 1],
    ['x'.repeat(1_212), 0],
  ] as const) {
    t.ok(await isSignedAs(text, format), JSON.stringify(text.slice(0, 20)));
  }
  t.strictSame(Object.keys(await signMessage({ message: 'x' }, account, signer)), ['signature', 'public_key']);
});

t.test('whatever the text is, what is signed is no message of a transaction', async (t) => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 });
  const isAscii = (message: string) => [...message].every((one) => one >= ' ' && one <= '~');
  const property = fc.asyncProperty(text, (message) => isSignedAs(message, isAscii(message) ? 0 : 1));
  await fc.assert(property, { numRuns: runsOf(100) });
  t.pass('100 texts');
});

/** Whether neither our decoder nor the public client can read the bytes as a transaction message. */
function isNoMessage(bytes: Buffer): boolean {
  const readers = [() => decodeMessage(bytes), () => VersionedMessage.deserialize(bytes)];
  return readers.every((read) => {
    try {
      read();
      return false;
    } catch {
      return true;
    }
  });
}

t.test('what is no text', async (t) => {
  for (const [body, said] of [
    [{}, 'missing field `message`'],
    [{ message: 5 }, 'invalid `message`: expected a string, not a number'],
    [{ message: '' }, 'invalid `message`: expected a text that is not empty'],
    [{ message: 'x'.repeat(1_213) }, 'invalid `message`: expected at most 1212 bytes'],
    [{ message: '€'.repeat(405) }, 'invalid `message`: expected at most 1212 bytes'],
    [{ message: '\ud800' }, 'invalid `message`: expected a text that UTF-8 can hold'],
    [{ message: 'x', massage: 'y' }, 'unknown field `massage`, did you mean `message`?'],
    [null, 'expected an object, not null'],
  ] as const) {
    await t.rejects(signMessage(body, account, signer), { code: 'INVALID_REQUEST', status: 400, message: said });
  }
});

t.test('another account’s signer signs nothing', async (t) => {
  const other = { ...account, address: keypair(3).publicKey.toBase58() };
  await t.rejects(signMessage({ message: 'x' }, other, signer), {
    code: 'SIGNER_FAILED',
    message: `Signer test failed: its key is that of ${account.address}, not of ${other.address}`,
  });
});
