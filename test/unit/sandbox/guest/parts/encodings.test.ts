import t from 'tap';
import { part } from '../../../../../sandbox/guest/parts/encodings.ts';

t.test('the part makes a decoder for other encodings', (t) => {
  const { LegacyDecoder } = part() as { LegacyDecoder: typeof TextDecoder };
  t.equal(new LegacyDecoder('koi8-r').decode(new Uint8Array([0xc1])), 'а');
  t.end();
});
