import { ComputeBudgetProgram, VersionedMessage, VersionedTransaction } from '@solana/web3.js';
import t from 'tap';
import { decodeMessage } from '../../../../../src/chains/solana/message/compiled-message.ts';
import { readComputeBudget } from '../../../../../src/chains/solana/message/compute-budget.ts';
import { decodeTransaction, isSignatureOf } from '../../../../../src/chains/solana/message/transaction.ts';
import type { SolanaFields } from '../../../../../src/chains/solana/schema.ts';
import {
  preparedCostOf,
  signMessage,
  signMessageAs,
  signTransaction,
  withDistinctBytes,
} from '../../../../../src/chains/solana/signing.ts';
import { fromBase58 } from '../../../../../src/domain/base58.ts';
import type { JsonObject } from '../../../../../src/domain/json/json.ts';
import { fc, runsOf } from '../../../../support/properties.ts';
import { keypair } from '../../../../support/solana-messages.ts';
import {
  type Built,
  built,
  fieldsOf,
  memo,
  RELAYER,
  relayerAccount,
  signerOf,
} from '../../../../support/solana-relayer.ts';

const { address } = relayerAccount();
const signer = signerOf(RELAYER);
const user = keypair(32);

/** The fields that preparation decided for a client's transaction. */
function prepared(transaction: string, over: Partial<SolanaFields> = {}): JsonObject {
  const { messageBytes, signatures } = decodeTransaction(transaction);
  return fieldsOf({
    message: messageBytes.toString('base64'),
    signatures: signatures.map((signature, place) => (place === 0 ? '' : signature.toString('base64'))),
    ...over,
  });
}

/** The transaction that the public client would send, and its first signature in hex. */
function theirs(instructions: Parameters<typeof built>[0], options: Built = {}) {
  const signed = built(instructions, { ...options, signers: [RELAYER, ...(options.signers ?? [])] });
  const { signatures } = VersionedTransaction.deserialize(Buffer.from(signed, 'base64'));
  return { raw: signed, first: Buffer.from(signatures[0] ?? []).toString('hex') };
}

t.test('the bytes are those that the public client would have sent', async (t) => {
  for (const [instructions, signers] of [
    [[memo('alone')], []],
    [[memo('both', user)], [user]],
    [[memo('many', user, keypair(33), RELAYER)], [user, keypair(33)]],
  ] as const) {
    const fields = prepared(built([...instructions], { signers }));
    const signed = await signTransaction(fields, signer);
    const { raw, first } = theirs([...instructions], { signers });
    t.equal(signed.raw, raw);
    t.strictSame(signed.fields, { ...fields, transaction: raw });
    const named = VersionedTransaction.deserialize(Buffer.from(signed.raw, 'base64')).signatures[0];
    t.equal(Buffer.from(named ?? []).toString('hex'), first);
    t.match(signed.hash, /^[1-9A-HJ-NP-Za-km-z]{80,90}$/);
  }
});

t.test('its own place is filled whatever stood there, and a place of others may stay empty', async (t) => {
  const { messageBytes, signatures } = decodeTransaction(built([memo('both', user)]));
  const { transaction } = await signMessageAs(
    address,
    messageBytes,
    [Buffer.alloc(64, 7), ...signatures.slice(1)],
    signer,
  );
  const { signatures: after } = decodeTransaction(transaction);
  t.notSame(after[0], Buffer.alloc(64, 7));
  t.strictSame(after[1], Buffer.alloc(64));
});

t.test('nothing is signed that was not prepared, or that another account pays for', async (t) => {
  await t.rejects(signTransaction({}, signer), TypeError);
  const foreign = prepared(built([memo('a')], { payer: user.publicKey }));
  await t.rejects(signTransaction(foreign, signer), {
    code: 'SIGNER_FAILED',
    message: `Signer test failed: its key is that of ${address}, not of ${user.publicKey.toBase58()}`,
  });
  await t.rejects(signTransaction(fieldsOf({ message: 'AQ==' }), signer), { name: 'Error', message: /^Malformed/ });
});

const limit = (units: number) => ComputeBudgetProgram.setComputeUnitLimit({ units });
const price = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000 });

t.test('equal payments differ by one unit, and go on to', async (t) => {
  const fields = prepared(built([limit(60_000), price, memo('a'), limit(60_000)]));
  const varied = withDistinctBytes(withDistinctBytes(fields));
  const { message, ...others } = varied;
  const { message: before, ...same } = fields;
  t.strictSame(others, same);
  t.not(message, before);
  const read = (text: unknown) => decodeMessage(Buffer.from(String(text), 'base64'));
  t.strictSame(readComputeBudget(read(message)), { limit: 60_002, price: 1_000n });
  const rest = (text: unknown) => read(text).instructions.slice(1, 3);
  t.strictSame(rest(message), rest(before));
  t.not((await signTransaction(varied, signer)).hash, (await signTransaction(fields, signer)).hash);
});

t.test('what others signed, and what names no limit or the highest, stays as it is', async (t) => {
  for (const fields of [
    prepared(built([limit(60_000), memo('a', user)], { signers: [user] })),
    prepared(built([price, memo('a')])),
    prepared(built([limit(1_400_000), memo('a')])),
    {},
  ]) {
    t.strictSame(withDistinctBytes(fields), fields);
  }
});

t.test('the cost is the fee and what it pays for accounts', async (t) => {
  t.equal(preparedCostOf(fieldsOf()), 5_000n);
  t.equal(preparedCostOf(fieldsOf({ fee: '18446744073709551615', rent: 2_039_280 })), 2n ** 64n - 1n + 2_039_280n);
  t.equal(preparedCostOf({}), 0n);
});

// A signature of a text must never be valid for a transaction. Otherwise a client that may only have texts signed could
// take the account's money.
t.test('message', async (t) => {
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
});
