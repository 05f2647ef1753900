import t from 'tap';
import { createCrypto } from '../../../../../sandbox/guest/globals/crypto.ts';
import { HostLink } from '../../../../../sandbox/guest/host-link.ts';
import { GuestHost } from '../../../../support/guest-host.ts';

const host = new GuestHost();
const { crypto: made, Crypto: Made } = createCrypto(
  (bytes) => new HostLink(host.call).random(bytes),
  () => 'subtle',
);
const crypto = made as unknown as Crypto;

t.test('fills integer arrays with the bytes of the host', (t) => {
  host.randomBytes = [1, 2, 255];
  const bytes = new Uint8Array(4);
  t.equal(crypto.getRandomValues(bytes), bytes);
  t.strictSame([...bytes], [1, 2, 255, 1]);
  t.equal(crypto.getRandomValues(new Uint32Array(1))[0], 0x01ff0201);
  t.equal(crypto.getRandomValues(new BigInt64Array(1)).length, 1);
  const whole = new Uint8Array(4);
  crypto.getRandomValues(whole.subarray(1, 3));
  t.strictSame([...whole], [0, 1, 2, 0], 'only the part that the view shows');
  t.end();
});

t.test('refuses other arrays and too many bytes', (t) => {
  for (const bad of [new Float64Array(1), new DataView(new ArrayBuffer(1))]) {
    t.throws(() => crypto.getRandomValues(bad as never), { name: 'TypeMismatchError' });
  }
  for (const bad of [[1], undefined, 5]) t.throws(() => crypto.getRandomValues(bad as never), TypeError);
  t.equal(crypto.getRandomValues(new Uint8Array(65_536)).length, 65_536);
  t.throws(() => crypto.getRandomValues(new Uint8Array(65_537)), { name: 'QuotaExceededError' });
  t.end();
});

t.test('makes version 4 UUIDs', (t) => {
  t.throws(() => new Made(), TypeError);
  t.equal(crypto.subtle, 'subtle');
  t.equal(String(crypto), '[object Crypto]');
  host.randomBytes = [0xff];
  t.equal(crypto.randomUUID(), 'ffffffff-ffff-4fff-bfff-ffffffffffff');
  host.randomBytes = [0];
  t.equal(crypto.randomUUID(), '00000000-0000-4000-8000-000000000000');
  t.end();
});
