import { getAssociatedTokenAddressSync } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import t from 'tap';
import { associatedTokenAddress, isOnCurve } from '../../../../../../src/chains/solana/message/pda.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../../../../src/chains/solana/programs.ts';
import { ed25519Pair } from '../../../../../../src/signers/ed25519.ts';
import { fc, runsOf } from '../../../../../support/properties.ts';

const key = fc.uint8Array({ minLength: 32, maxLength: 32 });

t.test('the account of a wallet’s tokens is where the public client finds it', async (t) => {
  const program = fc.constantFrom(TOKEN_PROGRAM, TOKEN_2022_PROGRAM);
  const property = fc.property(key, key, program, (ownerKey, mintKey, tokenProgram) => {
    const [owner, mint] = [new PublicKey(ownerKey), new PublicKey(mintKey)];
    const expected = getAssociatedTokenAddressSync(mint, owner, true, new PublicKey(tokenProgram)).toBase58();
    t.equal(associatedTokenAddress(owner.toBase58(), mint.toBase58(), tokenProgram), expected);
  });
  fc.assert(property, { numRuns: runsOf(100) });
});

t.test('an account that is known: that of the public client’s own test', async (t) => {
  t.equal(
    associatedTokenAddress(
      'B8UwBUUnKwCyKuGMbFKWaG7exYdDk2ozZrPg72NyVbfj',
      '7o36UsWR1JQLpZ9PE2gn9L4SQ69CNNiWAXd4Jt7rqz9Z',
      TOKEN_PROGRAM,
    ),
    'DShWnroshVbeUp28oopA3Pu7oFPDBtC1DBmPECXXAQ9n',
  );
});

t.test('what is no address has no account', async (t) => {
  t.throws(() => associatedTokenAddress('x', TOKEN_PROGRAM, TOKEN_PROGRAM), TypeError);
});

t.test('a point of the curve is one to another implementation too', async (t) => {
  let points = 0;
  const property = fc.property(key, (bytes) => {
    t.equal(isOnCurve(bytes), PublicKey.isOnCurve(bytes));
    points += isOnCurve(bytes) ? 1 : 0;
  });
  fc.assert(property, { numRuns: runsOf(300) });
  t.ok(points > 50, 'about half of all bytes are points');
});

t.test('every public key is a point', async (t) => {
  const property = fc.property(key, (seed) => isOnCurve(ed25519Pair(seed).publicKey));
  t.doesNotThrow(() => fc.assert(property));
});

t.test('the edges of the field', async (t) => {
  const bytes = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse();
  const P = 2n ** 255n - 19n;
  // A y is on the curve if an x exists for it. A y from 0 to 18 can also be written as y + P, which is still below
  // 2^255.
  for (let y = 0n; y < 19n; y += 1n) {
    const expected = y === 1n || PublicKey.isOnCurve(bytes(y));
    t.equal(isOnCurve(bytes(y)), expected, `${y}`);
    t.equal(isOnCurve(bytes(y + P)), expected, `${y} + P`);
    t.equal(isOnCurve(bytes(P - y)), expected, `-${y}`);
  }
  const sign = 2n ** 255n;
  t.ok(isOnCurve(bytes(1n)) && isOnCurve(bytes(1n + sign)), 'x is zero, with a sign or without');
  t.ok(isOnCurve(bytes(P - 1n)) && isOnCurve(bytes(0n)) && isOnCurve(bytes(sign)));
  t.notOk(isOnCurve(bytes(2n)) || isOnCurve(bytes(2n + sign)));
});
