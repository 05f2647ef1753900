import { encodeBase58 } from 'ethers';
import t from 'tap';
import { addressOf, isAddress, keyOf } from '../../../../../src/chains/solana/address.ts';
import { fc } from '../../../../support/properties.ts';

/** The public key of RFC 8032 section 7.1, test 1. */
const RFC_8032_KEY = Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex');

t.test('known keys have their known addresses', async (t) => {
  t.equal(addressOf(RFC_8032_KEY), 'FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z');
  t.equal(addressOf(new Uint8Array(32)), '1'.repeat(32), 'the System program');
  t.equal(addressOf(Buffer.from('0000287fb4cd', 'hex')), '11233QC4', 'the Base58 draft’s vector');
});

t.test('another implementation agrees, and each address is one', async (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (key) => {
      const zeros = key.findIndex((byte) => byte !== 0);
      const expected = zeros < 0 ? '1'.repeat(32) : encodeBase58(key);
      return addressOf(key) === expected && isAddress(expected);
    }),
  );
  t.ok(isAddress(addressOf(Buffer.alloc(32, 0xff))), 'the longest');
});

t.test('an address is 32 bytes, not just letters of the alphabet', async (t) => {
  for (const good of [
    'So11111111111111111111111111111111111111112',
    'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
    'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  ]) {
    t.ok(isAddress(good), good);
  }
  for (const bad of [
    '',
    '1'.repeat(31),
    '1'.repeat(33),
    'z'.repeat(44),
    'So1111111111111111111111111111111111111112',
    'So1111111111111111111111111111111111111111O',
    ' So11111111111111111111111111111111111111112',
    '0xd75a980182b10ab7d54bfed3c964073a0ee172f3',
    'z'.repeat(1_000_000),
  ]) {
    t.notOk(isAddress(bad), bad.slice(0, 50));
  }
});

t.test('an address is its key, and what is not an address has none', async (t) => {
  t.same(keyOf('FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z'), RFC_8032_KEY);
  t.throws(
    () => keyOf('So1111111111111111111111111111111111111111O'),
    new TypeError('not an address: "So1111111111111111111111111111111111111111O"'),
  );
  t.throws(() => keyOf('z'.repeat(1_000_000)), { name: 'TypeError', message: /^.{68}$/ });
});
