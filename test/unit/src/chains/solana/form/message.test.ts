// A signature over a text must never be one over a transaction: whoever may have texts signed could take the account's money.
import { VersionedMessage } from '@solana/web3.js';
import t from 'tap';
import { fromBase58 } from '../../../../../../src/chains/solana/base58.ts';
import { offChainMessage, signMessage } from '../../../../../../src/chains/solana/form/message.ts';
import { decodeMessage } from '../../../../../../src/chains/solana/message/message.ts';
import { isSignatureOf } from '../../../../../../src/chains/solana/message/transaction.ts';
import { fc, runsOf } from '../../../../../support/properties.ts';
import { keypair } from '../../../../../support/solana-messages.ts';
import { RELAYER, relayerAccount, signerOf } from '../../../../../support/solana-relayer.ts';

const account = relayerAccount();
const signer = signerOf(RELAYER);

t.test('the bytes are those of the specification', async (t) => {
  // Solana, "Off-Chain Message Signing": domain, version, application, format, one signer, length, text.
  const preamble = (format: number, length: number) =>
    Buffer.concat([
      Buffer.from('ff736f6c616e61206f6666636861696e', 'hex'),
      Buffer.from([0]),
      Buffer.alloc(32),
      Buffer.from([format, 1]),
      RELAYER.publicKey.toBuffer(),
      Buffer.from([length & 0xff, length >> 8]),
    ]);
  for (const [text, format] of [
    ['Hello ~', 0],
    ['a\nb', 1],
    ['tab\t', 1],
    ['\u007f', 1],
    ['ä€😀', 1],
    ['x'.repeat(1_212), 0],
  ] as const) {
    const bytes = Buffer.from(text);
    t.strictSame(offChainMessage(text, account.address), Buffer.concat([preamble(format, bytes.length), bytes]));
  }
});

t.test('a text is signed by the account, and is no message of a transaction', async (t) => {
  const property = fc.asyncProperty(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 }), async (message) => {
    const bytes = offChainMessage(message, account.address);
    const { signature, public_key: key } = await signMessage({ message }, account, signer);
    const signed = fromBase58(String(signature), 64) ?? Buffer.alloc(64);
    return key === account.address && isSignatureOf(account.address, signed, bytes) && isNoMessage(bytes);
  });
  await fc.assert(property, { numRuns: runsOf(100) });
  t.strictSame(Object.keys(await signMessage({ message: 'x' }, account, signer)), ['signature', 'public_key']);
});

/** Neither for us nor for the public client. */
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
