import t from 'tap';
import { addressOfPublicKey, isAccountAddress, isContractAddress } from '../../../../../src/chains/stellar/address.ts';

/** The public key of RFC 8032 section 7.1, test 1. */
const RFC_8032_KEY = Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex');

/** The example key of SEP-23, as an account and as a contract. */
const SEP_23_KEY = Buffer.from('3f0c34bf93ad0d9971d04ccc90f705511c838aad9734a4a2fb0d7a03fc7fe89a', 'hex');
const SEP_23_ACCOUNT = 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ';
const SEP_23_CONTRACT = 'CA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUWDA';

t.test('known keys have their known addresses', async (t) => {
  t.equal(addressOfPublicKey(SEP_23_KEY), SEP_23_ACCOUNT);
  t.equal(addressOfPublicKey(RFC_8032_KEY), 'GDLVVGABQKYQVN6VJP7NHSLEA45A5YLS6PNKMIZFV4BBU2HXA5IRVHUR');
  t.equal(addressOfPublicKey(new Uint8Array(32)), 'GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF');
});

t.test('an account and a contract are told apart, and both carry their checksum', async (t) => {
  t.ok(isAccountAddress(SEP_23_ACCOUNT));
  t.ok(isContractAddress(SEP_23_CONTRACT));
  t.ok(isContractAddress('CAS3J7GYLGXMF6TDJBBYYSE3HQ6BBSMLNUQ34T6TZMYMW2EVH34XOWMA'), 'the native asset’s contract');
  t.ok(isAccountAddress('GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN'), 'an issuer on the main network');
  t.notOk(isAccountAddress(SEP_23_CONTRACT));
  t.notOk(isContractAddress(SEP_23_ACCOUNT));
  for (const bad of [
    '',
    SEP_23_ACCOUNT.slice(0, -1),
    `${SEP_23_ACCOUNT}A`,
    SEP_23_ACCOUNT.toLowerCase(),
    SEP_23_ACCOUNT.replace('Y', 'Z'),
    SEP_23_ACCOUNT.replace(/Z$/, 'Y'),
    SEP_23_ACCOUNT.replace('7', '1'),
    `G${'0'.repeat(55)}`,
    // Another kind of key: the muxed account of SEP-23.
    'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ',
  ]) {
    t.notOk(isAccountAddress(bad), bad);
    t.notOk(isContractAddress(bad), bad);
  }
});
