import t from 'tap';
import { create as encodings } from '../../../../../sandbox/guest/lazy/encodings.ts';
import { create } from '../../../../../sandbox/guest/lazy/text.ts';
import { LAZY_GLOBALS } from '../../../../../sandbox/guest/lazy-modules.ts';
import { runtimeServices } from '../../../../support/guest-web.ts';

t.test('the part makes the names it stands for, and asks for the other encodings only where they are named', (t) => {
  const asked: string[] = [];
  const large = (name: string) => {
    asked.push(name);
    return encodings();
  };
  const made = create({ ...runtimeServices(), large });
  t.strictSame(Object.keys(made).sort(), [...LAZY_GLOBALS.text].sort());
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
