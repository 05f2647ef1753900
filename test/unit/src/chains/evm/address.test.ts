import { hexlify, Wallet } from 'ethers';
import t from 'tap';
import { addressOf, isAddress, normalAddress } from '../../../../../src/chains/evm/address.ts';

/** The checksummed example of EIP-55. */
const CHECKSUMMED = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

t.test('an address is 20 bytes, and one in mixed case carries its checksum', async (t) => {
  const digits = CHECKSUMMED.slice(2);
  for (const good of [CHECKSUMMED, digits, `0x${digits.toLowerCase()}`, `0x${digits.toUpperCase()}`]) {
    t.ok(isAddress(good), good);
    t.equal(normalAddress(good), `0x${digits.toLowerCase()}`);
  }
  for (const bad of [
    '',
    '0x',
    CHECKSUMMED.slice(0, -1),
    `${CHECKSUMMED}0`,
    CHECKSUMMED.replace('5aA', '5Aa'),
    'vitalik.eth',
  ]) {
    t.notOk(isAddress(bad), bad);
  }
});

t.test('ethers agrees about the account of a key', async (t) => {
  for (let count = 0; count < 5; count += 1) {
    const wallet = Wallet.createRandom();
    const publicKey = Buffer.from(wallet.signingKey.publicKey.slice(2), 'hex');
    t.equal(addressOf(publicKey), wallet.address.toLowerCase(), hexlify(publicKey));
  }
});
