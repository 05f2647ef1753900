import { PublicKey } from '@solana/web3.js';
import t from 'tap';
import { bytesOfBase58 } from '../../../../../src/signers/cdp/base58.ts';
import { fc, runsOf } from '../../../../support/properties.ts';

t.test('the addresses of accounts, as the public library writes them', (t) => {
  const bytes32 = fc.tuple(fc.integer({ min: 0, max: 32 }), fc.uint8Array({ minLength: 32, maxLength: 32 }));
  fc.assert(
    fc.property(bytes32, ([zeros, bytes]) => {
      bytes.fill(0, 0, zeros);
      return Buffer.from(bytes).equals(bytesOfBase58(new PublicKey(bytes).toBase58()) ?? Buffer.alloc(0));
    }),
    { numRuns: runsOf(200) },
  );
  for (const bad of [
    '',
    '1'.repeat(31),
    '1'.repeat(33),
    'z'.repeat(44),
    `${'1'.repeat(31)}0`,
    'l'.repeat(43),
    '2'.repeat(50),
  ]) {
    t.equal(bytesOfBase58(bad), undefined, bad);
  }
  t.end();
});
