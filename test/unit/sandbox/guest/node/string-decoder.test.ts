import * as node from 'node:string_decoder';
import t from 'tap';
import { StringDecoder } from '../../../../../sandbox/guest/node/string-decoder.ts';
import { sameAsNode } from '../../../../support/same-as-node.ts';

type Module = { StringDecoder: new (encoding?: BufferEncoding) => node.StringDecoder & { encoding?: string } };
const TEXT = 'a€𝄞ü\ufeffz';

t.test('characters that come in pieces are put together as in Node', async (t) => {
  const attempts: Record<string, (module: Module) => unknown> = {};
  for (const encoding of [
    'utf8',
    'utf-8',
    'utf16le',
    'ucs2',
    'latin1',
    'binary',
    'base64',
    'base64url',
    'hex',
    'ascii',
  ]) {
    const bytes = Buffer.from(TEXT, encoding.startsWith('u') ? (encoding as BufferEncoding) : 'utf8');
    // By single bytes Node gives halves of pairs away.
    for (const size of /^(utf16|ucs2)/.test(encoding) ? [2, 3, 100] : [1, 2, 3, 5, 100]) {
      attempts[`${encoding} by ${size}`] = ({ StringDecoder: Decoder }) => {
        const decoder = new Decoder(encoding as BufferEncoding);
        const parts: string[] = [];
        for (let at = 0; at < bytes.length; at += size) parts.push(decoder.write(bytes.subarray(at, at + size)));
        return [...parts, decoder.end(), decoder.end()];
      };
    }
  }
  await sameAsNode<Module>(t, { StringDecoder: StringDecoder }, node, {
    ...attempts,
    'broken bytes': ({ StringDecoder: Decoder }) => {
      const decoder = new Decoder();
      return [decoder.write(Buffer.from('e282', 'hex')), decoder.end(Buffer.from('ff41', 'hex')), decoder.write('x')];
    },
    'half a pair': ({ StringDecoder: Decoder }) => new Decoder('utf16le').end(Buffer.from('3dd8', 'hex')).charCodeAt(0),
    'an unknown encoding': ({ StringDecoder: Decoder }) => new Decoder('nope' as never),
    'no bytes': ({ StringDecoder: Decoder }) => new Decoder().write(5 as never),
    'its encoding': ({ StringDecoder: Decoder }) =>
      [undefined, 'UCS-2', 'binary'].map((name) => new Decoder(name as BufferEncoding).encoding),
  });
});
