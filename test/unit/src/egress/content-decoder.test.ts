import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import t from 'tap';
import { codingsOf, createContentDecoder } from '../../../../src/egress/content-decoder.ts';

const inflate = async (header: string, body: Buffer) => {
  const { input, output } = createContentDecoder(codingsOf(header), body[0] ?? 0);
  input.end(body);
  return (await buffer(output)).toString();
};

t.test('each coding is taken off, the last one first', async (t) => {
  const text = Buffer.from('the body');
  t.equal(await inflate('gzip', gzipSync(text)), 'the body');
  t.equal(await inflate('X-GZip', gzipSync(text)), 'the body');
  t.equal(await inflate('br', brotliCompressSync(text)), 'the body');
  t.equal(await inflate('deflate', deflateSync(text)), 'the body');
  t.equal(await inflate('deflate', deflateRawSync(text)), 'the body', 'also as some servers send it');
  t.equal(await inflate('zstd', zstdCompressSync(text)), 'the body');
  t.equal(await inflate('gzip, br', brotliCompressSync(gzipSync(text))), 'the body');
});

t.test('what is not known is left as it is, what is absurd is refused', (t) => {
  t.strictSame(codingsOf(''), []);
  t.strictSame(codingsOf('identity'), []);
  t.strictSame(codingsOf('compress'), []);
  t.strictSame(codingsOf('gzip, unheard-of'), []);
  t.throws(() => codingsOf('gzip, gzip, gzip'), /3 times/);
  t.throws(() => createContentDecoder([], 0), /nothing/);
  t.end();
});

t.test('a broken body is an error of the output, also behind a second decoder', async (t) => {
  await t.rejects(inflate('gzip', Buffer.from('not gzip at all')));
  await t.rejects(inflate('gzip, br', brotliCompressSync(Buffer.from('not gzip at all'))));
  const decoder = createContentDecoder(['gzip'], 0);
  decoder.destroy();
  decoder.destroy();
  t.ok(decoder.output.destroyed);
});
