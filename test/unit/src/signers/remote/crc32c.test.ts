import t from 'tap';
import { crc32c } from '../../../../../src/signers/remote/crc32c.ts';

t.test('it is that of the standard', (t) => {
  // The check value from the CRC catalogue, and the examples of RFC 3720, appendix B.4.
  t.equal(crc32c(Buffer.from('123456789')), 0xe306_9283);
  t.equal(crc32c(new Uint8Array(32)), 0x8a91_36aa);
  t.equal(crc32c(new Uint8Array(32).fill(0xff)), 0x62a8_ab43);
  t.equal(crc32c(Uint8Array.from({ length: 32 }, (_, index) => index)), 0x46dd_794e);
  t.end();
});
