import t from 'tap';
import { PART_GLOBALS } from '../../../../../sandbox/guest/globals/lazy-parts.ts';
import { part as encodings } from '../../../../../sandbox/guest/parts/encodings.ts';
import { part } from '../../../../../sandbox/guest/parts/text.ts';
import { partWorld } from '../../../../support/guest-web.ts';

t.test('the part makes the names it stands for, and asks for the other encodings only where they are named', (t) => {
  const asked: string[] = [];
  const large = (name: string) => {
    asked.push(name);
    return encodings();
  };
  const made = part({ ...partWorld(), large });
  t.strictSame(Object.keys(made).sort(), [...PART_GLOBALS.text].sort());
  const Decoder = made['TextDecoder'] as typeof TextDecoder;
  t.equal(new Decoder('latin1').encoding, 'windows-1252');
  t.strictSame(asked, []);
  const decoder = new Decoder('Shift-JIS', { fatal: true });
  t.strictSame([decoder.encoding, decoder.fatal, asked], ['shift_jis', true, ['encodings']]);
  t.equal(decoder.decode(new Uint8Array([0x82]), { stream: true }) + decoder.decode(new Uint8Array([0xa0])), 'あ');
  t.throws(() => decoder.decode(new Uint8Array([0x82])), TypeError);
  t.throws(() => new Decoder('klingon'), RangeError);
  t.end();
});
